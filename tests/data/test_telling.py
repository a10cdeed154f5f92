"""Warnings of the library point at the line that called it, however deep they come from."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import partita
from partita import AClass, CRPMixture, KikuchiBayesClassifier, MDLPDiscretizer, NaiveBayes, TANClassifier
from partita.data.telling import tell
from partita.data.validate import DataWarning


def doubtful(n=60):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return pd.DataFrame({"same": ["a"] * n, "b": rng.integers(0, 2, n).astype(str)}), y


def pointed_at(act, category=DataWarning):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        act()
    return [w.filename for w in told if issubclass(w.category, category)]


ESTIMATORS = [KikuchiBayesClassifier(), KikuchiBayesClassifier(estimate="paper"), NaiveBayes(), TANClassifier(),
              AClass(), MDLPDiscretizer()]  # fmt: skip


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_doubts_about_columns_point_here(model):
    X, y = doubtful()
    files = pointed_at(lambda: model.fit(X, y))
    assert files and set(files) == {__file__}


def test_through_pipelines_and_cross_validation():
    X, y = doubtful()
    piped = make_pipeline(FunctionTransformer(), NaiveBayes())
    assert set(pointed_at(lambda: piped.fit(X, y))) == {__file__}
    assert set(pointed_at(lambda: cross_val_score(NaiveBayes(), X, y, cv=2))) == {__file__}
    assert set(pointed_at(lambda: CRPMixture().fit_predict(X))) == {__file__}


def test_a_limit_on_the_search_points_here():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 20))
    y = X[:, 0] ^ (rng.random(200) < 0.1)
    for estimate in ("evidence", "paper"):
        model = KikuchiBayesClassifier(estimate=estimate, max_candidates=20)
        assert set(pointed_at(lambda model=model: model.fit(X, y))) == {__file__}


def test_the_line_is_that_of_the_call():
    X, y = doubtful()
    with pytest.warns(DataWarning) as told:
        NaiveBayes().fit(X, y)  # this line
    lines = Path(__file__).read_text().splitlines()
    assert all("# this line" in lines[w.lineno - 1] for w in told)


def test_once_for_each_line_as_filters_say():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            tell("one line", DataWarning)
    assert len(told) == 1


def test_no_depth_is_counted_by_hand():
    """But for the one warning that is given while the package is imported."""
    package = Path(partita.__file__).parent
    by_hand = [p for p in package.rglob("*.py") if re.search(r"warnings\.warn\(|stacklevel", p.read_text())]
    assert [p.relative_to(package).as_posix() for p in by_hand] == ["kernels/__init__.py"]
