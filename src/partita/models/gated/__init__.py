"""Gated experts: Dirichlet-process mixtures of Gaussians (the gates) with a probit expert in each, missing cells
integrated out.

`count_buckets`, `cells`, `rows`
    values that a missing count may hold; columns beside the Gaussian block, what gates and experts make of them;
    rows in blocks
`forms`, `truncated_normal`
    quadratic forms as the kernels want them (components last); normal variables cut by a label, two classes or many
`state`
    priors, and what a fit knows; sticks (`priors/sticks`), gates and experts apart, each with sums of its own, so
    that an HDP can sit above them
`expectations`, `expect`, `guess`, `sums`, `update`
    rows given parameters; missing cells beside the block; sums over rows, which add up; parameters given sums, and
    the divergences of the bound
`start`, `fit`, `members`, `warm`
    where a fit begins; `init` and `step`; several fits at once in the one loop; fits that begin in the components
    of another
`predict`, `answer`
    what a fit says of rows: Student's t gates, experts with every doubt integrated, one rule with and without holes
`average`, `votes`, `tempering`, `pool`
    the recommended average and one model of the thesis; how the fits of the average are weighed, by rows set aside,
    and made sure and fair; models together
`widths`, `aside`, `hidden`, `held`, `row_marks`, `refits`
    how wide the laws of missing cells are, as cells of rows set aside want them; cells hidden from the fits without
    some rows, for the holes of training rows; levels turned into those whose intervals held them; training rows
    known again; short fits without some rows that begin in the components of a fit of all
`fill`, `explain`
    laws, quantiles and draws of missing cells; responsibilities and local weights of a row
`stochastic`
    steps over batches of rows, for tables too large to pass over every time
`gibbs*`, `chains`
    blocked Gibbs sampling of the same model: state, rows and how likely they are, parameters, reseating, split and
    merge with cells as they are drawn (`gibbs_moves`) and integrated out (`gibbs_jumps`, by `gibbs_evidence`), the size
    of the experts' weights (`gibbs_stretch`); chains together, kept states as models at point parameters
`soundness`
    whether loaded arrays fit together

The bound is taken just after the rows are updated, where it is exact with all its constants. Whatever answers is a
`Speaker` (`answer`): log densities in every component and log probabilities of the classes there, laws of missing
cells, and gates that draw; `displays/gate_ellipses.py` draws gates from no more than that. A `Pool` of them is what
estimators keep. `factor` (factor analysers) and `qgme` (finitely many experts by EM) are the same rows with other
gates, and speak alike.
"""
