"""Data sets: `load_*` come with scikit-learn, `fetch_*` are published (PARTITA_DATA, else an official download)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partita.data import shelf
from partita.data.files import need_pandas
from partita.data.synthetic import remove_cells

_KINDS = {"numeric": "real", "categorical": "categorical"}


def load_breast_cancer_holed(
    fraction: float = 0.25, random_state: Any = 0, as_frame: bool = True, return_X_y: bool = False
) -> Any:
    """scikit-learn's breast-cancer table (569 rows, 30 real columns, two classes) with a share of its cells removed.

    Returns a Bunch with data, target (0 malignant, 1 benign), target_names, feature_names, description; or (data,
    target).
    """
    from sklearn.datasets import load_breast_cancer

    if as_frame:
        need_pandas("load_breast_cancer_holed(as_frame=True)")
    table = load_breast_cancer(as_frame=as_frame)
    data = remove_cells(table.data, fraction, random_state)
    bunch = Bunch(
        data=data,
        target=table.target,
        target_names=table.target_names,
        feature_names=list(table.feature_names),
        description=f"Breast cancer (Wisconsin diagnostic) with {fraction:.0%} of the cells removed at random.",
    )
    return _given(bunch, return_X_y)


def load_digits_odd_even(
    n_components: int | None = 30, fraction: float = 0.0, random_state: Any = 0, return_X_y: bool = False
) -> Any:
    """scikit-learn's digits (1,797 images of 8 x 8) as odd against even, on the signs of their principal components.

    n_components    number of components, each 1.0 where positive and 0.0 elsewhere; None: the 64 pixels themselves.
    fraction        share of the cells to remove.

    Returns a Bunch with data, target (1 odd, 0 even), digit, target_names, description; or (data, target).
    """
    from sklearn.datasets import load_digits

    pixels, digit = load_digits(return_X_y=True)
    data = pixels if n_components is None else binarised_components(pixels, n_components)[0]
    bunch = Bunch(
        data=remove_cells(data, fraction, random_state),
        target=digit % 2,
        digit=digit,
        target_names=np.array(["even", "odd"]),
        description=f"Odd against even digits, 8 x 8 pixels, {fraction:.0%} of the cells removed at random.",
    )
    return _given(bunch, return_X_y)


def binarised_components(train: np.ndarray, n_components: int, *others: np.ndarray) -> list[np.ndarray]:
    """Signs of the principal components of complete tables as 0.0 and 1.0; the components come from `train` only."""
    from sklearn.decomposition import PCA

    pca = PCA(n_components, random_state=0).fit(train)
    return [(pca.transform(part) > 0).astype(np.float64) for part in (train, *others)]


def list_uci() -> list[str]:
    """Names that `fetch_uci` knows, in the order of the index: the tables in the data folder PARTITA_DATA."""
    names = [name for name, line in shelf.index().items() if line["file"].startswith("uci/")]
    if not names:
        raise shelf.absent("The collection of UCI tables")
    return names


def fetch_uci(name: str, return_X_y: bool = False) -> Any:
    """One of the UCI tables, from the data folder PARTITA_DATA.

    Returns a Bunch with data (pandas frame, missing cells NaN), target (pandas series), column_kinds (dict: "real" or
    "categorical"; many categorical columns are coded 1, 2, 3, so hand it to the estimator), target_names, description;
    or (data, target).
    """
    if name not in list_uci():
        raise ValueError(f"name={name!r} is no UCI table of the data folder. Known: {', '.join(list_uci())}.")
    frame = read_packed_csv(shelf.require_file(name, f"The UCI table {name!r}"))
    line = shelf.index()[name]
    target = frame.pop(line["target"] or "class")
    kinds = {entry["column"]: _KINDS[entry["kind"]] for entry in shelf.columns(name) if entry["role"] == "feature"}
    assert set(kinds) == set(frame.columns), f"columns.csv and the table {name} disagree"
    bunch = Bunch(
        data=frame,
        target=target,
        column_kinds=kinds,
        target_names=np.unique(target.dropna()),
        description=describe_line(line),
    )
    return _given(bunch, return_X_y)


def read_packed_csv(path: Any) -> Any:
    return need_pandas("Reading a published table").read_csv(path)


def describe_line(line: dict[str, str]) -> str:
    """What the index says of a data set, in a few lines."""
    facts = [f"{line['name']}: {line['rows']} rows, {line['features']} columns."]
    facts += [
        f"{word}: {line[key]}"
        for word, key in (("Source", "source"), ("Licence", "licence"), ("Note", "note"))
        if line[key]
    ]
    return "\n".join(facts)


def _given(bunch: Bunch, return_X_y: bool) -> Any:
    return (bunch.data, bunch.target) if return_X_y else bunch
