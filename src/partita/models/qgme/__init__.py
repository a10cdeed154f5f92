"""Finitely many gated experts by EM: the same rows and sums as in `gated`, at point parameters.

`state`, `start`, `em`
    point parameters; where EM begins; the E-step of the variational form at them, and the M-step
`cells`, `model`
    columns beside the Gaussian block; how a fit answers
`fits`, `choice`
    every number of experts that is tried, by BIC; their number by rows set aside
`widths`
    widths of the laws of missing cells
"""
