"""Log-linear models by evidence, `KikuchiBayesClassifier(estimate="evidence")`: arrays in, a model of arrays out.

`learn`, `model`, `settings`
    from arrays to a model; the model
`rows`, `design`, `numerics`
    equal rows as one with their weight; regions and numeric columns as blocks of columns, dense or by look-up
`map`, `curvature`, `scales`
    the mode; one single-precision factor per logit; prior variances by evidence, leave-one-out
`search`, `screen`
    evidence gains of candidate regions; a first look at all pairs in some rows where they are too many
`stages`, `path`
    the path of nested stages
`sharpen`
    larger variances where leave-one-out says that a stage is too mild
`omitted`
    stages and candidates that a stop or a limit left out, and their warnings
`naive`, `recut`
    naive Bayes as one of the stages, in closed form with one exponent; in wide tables of numbers judged by rows its
    bins were cut without
`products`
    products of numeric columns that promise most, where all are too many
`pool`, `terms`
    stages as one answer; terms of new rows
`holes`
    rows with unknown cells: what could stand there, and how likely it is given the cells that are seen

Most tables are small, so what a fit costs is calls: a mode on a dense design is one call of `dense_mode`
(`native/modes`), the leverages are computed once a stage, and a curvature reads the design in place
(`informed_rows`). Larger designs, and all rows by look-up, take the same steps in Python around BLAS, so that
Ctrl-C answers.
"""
