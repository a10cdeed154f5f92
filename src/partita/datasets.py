"""Data sets: made up with known truth (`make_*`), from scikit-learn (`load_*`), published (`fetch_*`)."""

from partita.data.fetches import (
    fetch_baseball,
    fetch_landmine,
    fetch_letters,
    fetch_mnist,
    fetch_movielens,
    fetch_network,
    fetch_newsgroups,
)
from partita.data.sets import (
    binarised_components,
    fetch_uci,
    list_uci,
    load_breast_cancer_holed,
    load_digits_odd_even,
)
from partita.data.synthetic import (
    coin_mixture_log_density,
    make_coin_classes,
    make_coin_mixture,
    make_mixed_clusters,
    remove_cells,
)

__all__ = [
    "binarised_components",
    "coin_mixture_log_density",
    "fetch_baseball",
    "fetch_landmine",
    "fetch_letters",
    "fetch_mnist",
    "fetch_movielens",
    "fetch_network",
    "fetch_newsgroups",
    "fetch_uci",
    "list_uci",
    "load_breast_cancer_holed",
    "load_digits_odd_even",
    "make_coin_classes",
    "make_coin_mixture",
    "make_mixed_clusters",
    "remove_cells",
]
