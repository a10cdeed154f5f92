"""Priors over structure: partitions of rows, their concentration, and grids of hyper-parameters."""
