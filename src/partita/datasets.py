"""Data sets: made up with known truth (`make_*`), at hand without a file (`load_*`), published (`fetch_*`)."""

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
from partita.data.synthetic_networks import make_diseases, make_layers
from partita.data.synthetic_ratings import make_ratings
from partita.data.tic_tac_toe import load_tic_tac_toe

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
    "load_tic_tac_toe",
    "make_coin_classes",
    "make_coin_mixture",
    "make_diseases",
    "make_layers",
    "make_mixed_clusters",
    "make_ratings",
    "remove_cells",
]
