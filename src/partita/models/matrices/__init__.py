"""Matrices with holes, sampled by rows: y_ij = mean + b_i + c_j + u_i'v_j + noise.

What is learnt are draws, and every answer is a mixture over them.

`entries`, `features`, `missingness`, `problem`, `state`, `sides`
    cells in row and column order; features as thin decompositions; those of the mask; what a chain is given and
    holds; rows and columns by one name
`blocked` and what it calls, `coordinate*`, `chains`, `walkers`, `settling`, `growth`
    one sweep, rows whole or the thesis's number by number; chains through the one loop; what they decide together;
    when burn-in ends; a chain that goes on with a larger matrix
`rows`, `noise`, `scales`, `gauge`, `bounds`, `pieces`
    rows whole, whose Gram matrices leave behind what noise and scales need; precisions of cells; scales together
    with their factors; rotations; how large scales may be; rows cut into pieces of equal work
`regression`, `offsets`, `truncation`, `rank`, `weights`
    coefficients of features; the mean and the offsets; births and deaths in burn-in; which components stand above
    the noise
`ordinal`, `levels`, `row_cuts`, `binomial`, `binomial_gains`, `gains`, `effects`
    latents and cut points of levels; where a row's levels begin, cut points of its own; rows of successes and
    trials; the paper's s and z; features as extra columns
`draw`, `posterior`, `laws`, `predict`, `quantiles`, `scores`
    what is kept of a state; all draws, and rows that were not seen; the laws of cells under all draws; answers from
    them; quantiles by inverting mixtures; densities
`fold_in`, `fold_in_levels`, `acquire`, `factors`, `soundness`
    new rows given their cells, in every draw; what to ask next; factors to look at; files checked

`data/ids`, `data/entries`, `data/entry_checks` and `data/side_features` bring in ids of any type and cells in every
form;
`estimators/matrix_*` answers by ids. Births and truncation of components act in the first two thirds of burn-in
only; then the chains meet (`loop.run(meet=)`) and agree on one number of components, and every sweep after that is
a sweep of the stated model. At its end they meet again, and go through as much burn-in once more where the
likelihood of one still rises or falls. Within a sweep every piece of rows draws its normal numbers from a stream of
its own, so that threads share the whole of the work and the bytes stay the same. A row that training did not see is
normal under its prior within each draw, so its cells have a doubt of their own (`Laws.doubt`) instead of being
sampled.
"""
