"""Self-contained HTML pages: styles and figures are inside the file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from partita.displays.picture import draw_png
from partita.displays.probabilities import ProbabilitiesDisplay
from partita.displays.reliability import ReliabilityDisplay
from partita.report.columns import column_facts, facts_beside, size_of
from partita.report.experts import expert_picture, gate_facts
from partita.report.interactions import interaction_picture
from partita.report.matrices import matrix_facts, matrix_pictures
from partita.report.scores import Scores, score
from partita.report.structures import structure_facts, structure_pictures
from partita.report.summary import group_posteriors, learnt_facts, set_parameters
from partita.report.tables import percent

_SIZES_SHOWN = 20


def render_report(
    model: Any, X: Any, title: str = "Report", labelled: tuple[Any, Any] | None = None, unseen: bool = True
) -> str:
    """The page about a fitted model and its table: overview, holes, groups, experts, interactions, and calibration.

    labelled    rows and their labels; without it there is no part on calibration.
    unseen      whether the classifier is known not to have learnt from them.
    """
    columns = facts_beside(X, model.schema_)
    together, experts = interaction_picture(model), expert_picture(model, X)
    share = float(np.mean([column.missing for column in columns]))
    return _render(
        "report.html",
        title=title,
        model=type(model).__name__,
        size=size_of(len(X), len(columns), share),
        facts=learnt_facts(model),
        columns=columns,
        posteriors=[(of, _bars(sizes)) for of, sizes in group_posteriors(model)],
        together=None if together is None else _embedded(together),
        gates=gate_facts(model, X),
        experts=None if experts is None else _embedded(experts),
        calibration=None if labelled is None else _calibration(model, *labelled),
        unseen=unseen,
    )


def render_matrix_report(model: Any, title: str = "Report") -> str:
    """The page about a fitted `BayesianSVD`: what it learnt, the completed matrix, the rank, the factors."""
    facts = matrix_facts(model)
    return _render(
        "matrix.html",
        title=title,
        model=type(model).__name__,
        size=facts[0][1],
        facts=[*facts[1:], ("parameters", set_parameters(model) or "all at their defaults")],
        pictures=[(question, _embedded(png), note) for question, png, note in matrix_pictures(model)],
    )


def render_structure_report(model: Any, title: str = "Report") -> str:
    """The page about a fitted `StructureLearner`: edges, classes, and what the chains did."""
    return _render(
        "matrix.html",
        title=title,
        model=type(model).__name__,
        size=f"{len(model.schema_.names):,} columns",
        facts=[*structure_facts(model), ("parameters", set_parameters(model) or "all at their defaults")],
        pictures=[(question, _embedded(png), note) for question, png, note in structure_pictures(model)],
    )


def fit_and_report(model: Any, X: Any, y: Any = None, title: str = "Report", random_state: Any = 0) -> str:
    """Fit the model and render its page; with labels, a quarter of the labelled rows is held out to check calibration.

    X, y        a pandas frame and a pandas series (or None).
    """
    if y is None:
        return render_report(model.fit(X), X, title)
    test = _held_out_rows(y.isna().to_numpy(), random_state)
    if not test.any():
        return render_report(model.fit(X, y), X, title)
    model.fit(X[~test], y[~test])
    known = test & y.isin(list(model.classes_)).to_numpy()
    held_out = (X[known], y[known].to_numpy(dtype=model.classes_.dtype)) if known.any() else None
    return render_report(model, X, title, held_out)


def report_saved(model: Any, X: Any, y: Any = None, title: str = "Report") -> str:
    """The page of a model as it is and a table of its columns; with labels, how it does on the rows that have one.

    X, y        a pandas frame and a pandas series (or None); the model may or may not have been learnt from them.
    """
    if y is None:
        return render_report(model, X, title)
    known = y.isin(list(model.classes_)).to_numpy()
    if not known.any():
        classes = ", ".join(map(repr, model.classes_[:20].tolist()))
        raise ValueError(f"No row has a label that is one of the model's classes ({classes}). Check the target column.")
    return render_report(model, X, title, (X[known], y[known].to_numpy(dtype=model.classes_.dtype)), unseen=False)


def render_demo(scores: list[Scores], picture: bytes, about: str, model: Any, X: Any) -> str:
    """The page of `partita demo`: the comparison, the picture, the table."""
    columns = column_facts(X, model.schema_)
    return _render(
        "demo.html", title="Partita demo", about=about, scores=scores, model=scores[0].name,
        picture=_embedded(picture), columns=columns,
    )  # fmt: skip


def _held_out_rows(unlabelled: np.ndarray, random_state: Any) -> np.ndarray:
    """(n,) bool: a random quarter of the labelled rows; none where that would be under ten."""
    labelled = np.flatnonzero(~unlabelled)
    test = np.zeros(len(unlabelled), dtype=bool)
    if len(labelled) >= 40:
        test[np.random.default_rng(random_state).permutation(labelled)[: len(labelled) // 4]] = True
    return test


def _calibration(model: Any, X: Any, y: np.ndarray) -> dict[str, Any]:
    probability = model.predict_proba(X)
    picture = draw_png(
        ReliabilityDisplay.from_predictions(y, probability, model.classes_),
        ProbabilitiesDisplay.from_predictions(y, probability, model.classes_),
    )
    return {
        "n_rows": len(y),
        "scores": score(type(model).__name__, y, probability, model.classes_),
        "picture": _embedded(picture),
    }


def _bars(posterior: dict[int, float]) -> list[tuple[int, float]]:
    """The most probable sizes, in the order of size."""
    likely = sorted(posterior.items(), key=lambda pair: -pair[1])[:_SIZES_SHOWN]
    return sorted(likely)


def _embedded(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _render(template: str, **values: Any) -> str:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError('HTML reports need Jinja. Install it: pip install "partita[report]".') from error
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["percent"] = percent
    return environment.get_template(template).render(**values)
