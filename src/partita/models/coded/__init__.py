"""Coded tables and the baselines on them.

`cut_points`, `coding`
    where to cut a numeric column; any table as levels, missing a level where training had one, else -1 = integrated
    out
`pair_information`, `tan`
    counts of pairs and what they tell given the class; the tree, its tables, rows with holes by messages
`class_statistics`, `naive_bayes`
    sums per class that add up over parts of a table; the same as one mixture whose groups are the classes

Cut points are exact: counts and k log k are integers of a small unit, whose sums have no order.
"""
