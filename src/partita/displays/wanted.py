"""Which estimator a display can be drawn of, said before anything is asked of it."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from ..estimators.base import TableEstimator


def need(display: type, wanted: str, estimator: Any, holds: bool) -> None:
    """Raise a ValueError that says which estimator the display wants, unless this is one."""
    if isinstance(estimator, type):
        got, holds = f"the class {estimator.__name__} itself", False
    else:
        got = type(estimator).__name__
    if not holds:
        raise ValueError(f"{display.__name__}.from_estimator: estimator must be {wanted}, got {got}. Pass such a one.")


def need_method(display: type, wanted: str, estimator: Any, *methods: str) -> None:
    """An estimator of partita with these methods."""
    able = isinstance(estimator, TableEstimator) and all(hasattr(estimator, name) for name in methods)
    need(display, wanted, estimator, able)


def need_probabilities(display: type, estimator: Any, *methods: str) -> None:
    """A classifier, of any library, with `predict_proba` and these methods."""
    able = all(hasattr(estimator, name) for name in ("predict_proba", *methods)) and not isinstance(estimator, type)
    able = able and (hasattr(estimator, "classes_") or is_classifier(estimator))
    named = " and ".join(("predict_proba", *methods))
    need(display, f"a fitted classifier with {named}, such as AClass", estimator, able)
