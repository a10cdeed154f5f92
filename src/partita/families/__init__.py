"""Conjugate pairs: evidence is added, and the posterior is a prior. `protocol` says what each of them can do."""

from .beta_bernoulli import BetaBernoulli
from .dirichlet_categorical import DirichletCategorical
from .gamma_poisson import GammaPoisson
from .normal_inverse_gamma import NormalInverseChiSquared
from .normal_inverse_wishart import NormalInverseWishart
from .product import Product
from .protocol import Family

__all__ = [
    "BetaBernoulli",
    "DirichletCategorical",
    "Family",
    "GammaPoisson",
    "NormalInverseChiSquared",
    "NormalInverseWishart",
    "Product",
]
