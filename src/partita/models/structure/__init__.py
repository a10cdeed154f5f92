"""Networks that are learnt, and the classes of their nodes, under the priors of `priors/graph`.

`knowledge`
    what is known beforehand: edges, parents, classes, a template; tables of scores with what is not allowed struck
    out
`exact`
    sums over all acyclic graphs in 3^n steps; one class by an exact rule in its edge probability; classes listed,
    up to six columns
`state`, `chains`
    what a chain holds and keeps; ordered classes with graphs summed out, classes with a graph at several
    temperatures
`rows`, `seats`, `large`, `listed`
    tables side by side, holes drawn in the chain; classes as seats of a restaurant or a franchise
    (`priors/franchise`); a graph by edges, reversals, sets, splits and merges, and by nodes that change their class
    together with their edges; ordered classes with lists of small sets
`walk`, `tempered`, `candidates`, `pilots`
    graphs redrawn by orders of their nodes, whatever sets the walks know; graphs at growing temperatures beside a
    chain; which sets, found by short chains
`evidence`, `normaliser`
    priors against each other where targets are closed forms; how probable acyclic graphs are beforehand, by drawing
`bridge`, `weigh`
    elsewhere: chains on rungs between two priors (`priors/ladder`), bridged by Bennett's ratio; posteriors weighed
    by that
`several`, `template`, `hyper`
    several tables: side by side where nothing is shared, one density, parts of a posterior; how classes act on each
    other; hyper-parameters drawn from grids
`anneal`, `selective`
    the best network by annealing; averages over the best states only
`learn`, `learn_small`, `learn_large`, `learnt`
    which way a table goes, and what comes of it; short runs that say which priors are worth long ones
`posterior`, `predict`, `fill`
    probabilities with errors, networks drawn, best states; densities, missing cells and rows averaged over networks

Up to 16 columns the scores of all sets of parents are one table. Kernels (`native/net_*`,
`kernels/net_contract.py`) count by AND and popcount over bit planes, and change to one number a row where
configurations are many. Sums over graphs are scaled by the best order of every set, so that no number of rows
under- or overflows them; where doubles hold the scores as they are (`ScoreWeights`), sweeps need no logarithms and
are several times as fast. Caches of scores and class sums lie in arrays of bounded size, are no part of a state,
and hold values that do not depend on how a chain came to them. Walks over orders sum over sets of a few candidates
by tables, each sum with an exponent of its own (`native/net_set_sums`); what a table does not know is kept or
accepted by Metropolis, so no cap enters the posterior. Exchanges with the ladder are not tied to its fixed law.
"""
