"""Gated experts with factor analysers, for wide tables: no matrix of all columns (docs/factor_experts.md derives the
updates).

`problem`, `state`, `start`
    the rows and every prior; the posterior as arrays; where a fit begins
`rows`, `beside`, `sums`
    one pass over the rows; levels and counts beside the real columns; sums that updates need
`updates`, `scale`, `rotation`
    one coordinate at a time; the scale of a factor; factors turned so that components can do without some of them
`experts`, `bound`
    the whole algorithm in one place; its bound with all constants
`answer`, `model`, `refits`
    what a fit says of rows, as the other models do; short fits without some rows, for the widths of cells' laws
"""
