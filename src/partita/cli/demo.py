"""`partita demo`: a table with a quarter of its cells missing, Partita against usual choices, a picture and a page."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partita
from partita.data.sets import load_breast_cancer_holed
from partita.displays.picture import draw_png
from partita.displays.probabilities import ProbabilitiesDisplay
from partita.displays.reliability import ReliabilityDisplay
from partita.report.html import render_demo
from partita.report.scores import compare, scores_text

OURS = "Partita AClass"


def run(args: argparse.Namespace) -> None:
    args.output.mkdir(parents=True, exist_ok=True)
    table = load_breast_cancer_holed(fraction=0.25, random_state=0)
    y = table.target_names[table.target]
    X_train, X_test, y_train, y_test = train_test_split(table.data, y, test_size=0.5, stratify=y, random_state=0)
    about = (
        f"Breast-cancer table of scikit-learn, a quarter of its cells removed: {len(X_train)} rows to learn from, "
        f"{len(X_test)} held out."
    )
    print(about + "\n")
    models = {OURS: partita.AClass(random_state=0, n_jobs=-1, progress=not args.quiet), **usual_choices()}
    tell = (lambda name: None) if args.quiet else (lambda name: print(f"fitting {name}", file=sys.stderr))
    scores, probabilities = compare(models, (X_train, y_train), (X_test, y_test), tell)
    print(scores_text(scores))

    classes = models[OURS].classes_
    picture = draw_png(
        ReliabilityDisplay.from_predictions(y_test, probabilities[OURS], classes, name=OURS),
        ProbabilitiesDisplay.from_predictions(y_test, probabilities[OURS], classes),
    )
    (args.output / "demo.png").write_bytes(picture)
    page = render_demo(scores, picture, about, models[OURS], table.data)
    (args.output / "demo.html").write_text(page, encoding="utf-8")
    print(f"\npicture  {args.output / 'demo.png'}\npage     {args.output / 'demo.html'}")


def usual_choices() -> dict[str, Any]:
    """What one would try first on such a table."""
    return {
        "logistic regression + mean": make_pipeline(
            SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1000)
        ),
        "random forest + mean": make_pipeline(SimpleImputer(), RandomForestClassifier(random_state=0)),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
        "naive Bayes + mean": make_pipeline(SimpleImputer(), GaussianNB()),
    }
