"""Bayesian networks: a given graph (`BayesianNetwork`), and what every learnt one becomes.

`network`, `graph`
    a graph with its tables: counts, estimates, interventions; orders, ancestors, cycles
`elimination`, `rows`
    variables summed out for many rows with one missing pattern; beliefs of families and joint draws on the way
    back; what a network says of rows
`em`, `discrete_law`
    tables from rows with holes; the joint law of a few variables by the names of levels
"""
