"""Kikuchi-Bayes in closed form: regions found greedily, averaged along the path.

`regions`
    families of regions: closure, counting numbers (Moebius form, Algorithm 1 as its slow twin), degrees of freedom,
    prior
`tables`
    submodels with predictive consistency, their potentials, interaction information
`problem`, `freedom`
    what a search is given, its readings of the paper; degrees of freedom of all or of observed cells
`moments`
    tables of sums for many regions: by matrix products where levels are few, else one pass per region
`candidates`
    what each candidate would add, with the two bounds that prune and their proof
`search`, `work`, `path`
    one step; threads and stops; the whole path with progress, checkpoint, Ctrl-C
`learnt`, `missing`
    the learnt path as factors: predictions, contributions; missing cells summed out by elimination

A greedy path has no fixed number of steps and a step can be long, so it does not run in `inference.loop`; it uses
the same brake, monitor and checkpoint. The evidence stages that may follow share its clock and the brake, between
stages and parts of a search; they are neither watched nor in the checkpoint. They do not need the search, so by
default it is put off until one of its outputs is asked for (`estimators/closed_form.py`), and run before the model
is saved.
"""
