"""Every display says which estimator it wants, and DensityDisplay looks between whole numbers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KernelDensity

import partita

HOLED = np.array([[0.0, 1.0], [1.0, np.nan]])


def displays(X, y):
    """Name -> how it is made of an estimator."""
    return {
        "AnomalyDisplay": lambda model: partita.AnomalyDisplay.from_estimator(model, X),
        "ClassTemplateDisplay": lambda model: partita.ClassTemplateDisplay.from_estimator(model),
        "ClusterProfileDisplay": lambda model: partita.ClusterProfileDisplay.from_estimator(model, X),
        "CoassignmentDisplay": lambda model: partita.CoassignmentDisplay.from_estimator(model),
        "CompletionDisplay": lambda model: partita.CompletionDisplay.from_estimator(model),
        "ComponentsPosteriorDisplay": lambda model: partita.ComponentsPosteriorDisplay.from_estimator(model),
        "ContributionsDisplay": lambda model: partita.ContributionsDisplay.from_estimator(model, X),
        "DensityDisplay": lambda model: partita.DensityDisplay.from_estimator(model, X, 0),
        "EdgeAgreementDisplay": lambda model: partita.EdgeAgreementDisplay.from_estimator(model),
        "EdgeProbabilitiesDisplay": lambda model: partita.EdgeProbabilitiesDisplay.from_estimator(model),
        "FactorDisplay": lambda model: partita.FactorDisplay.from_estimator(model),
        "FilledCellsDisplay": lambda model: partita.FilledCellsDisplay.from_estimator(model, X, X),
        "GatesDisplay": lambda model: partita.GatesDisplay.from_estimator(model, X, y),
        "ImputationDisplay": lambda model: partita.ImputationDisplay.from_estimator(model, X, X),
        "InteractionMatrixDisplay": lambda model: partita.InteractionMatrixDisplay.from_estimator(model),
        "IntervalCalibrationDisplay": lambda model: partita.IntervalCalibrationDisplay.from_estimator(
            model, [0], [0], [1.0]
        ),
        "LearningCurveDisplay": lambda model: partita.LearningCurveDisplay.from_estimator(
            model, [(X, y)], X, y, classes=[0, 1]
        ),
        "LowerBoundDisplay": lambda model: partita.LowerBoundDisplay.from_estimator(model),
        "NetworkDisplay": lambda model: partita.NetworkDisplay.from_estimator(model),
        "ProbabilitiesDisplay": lambda model: partita.ProbabilitiesDisplay.from_estimator(model, X, y),
        "RankPosteriorDisplay": lambda model: partita.RankPosteriorDisplay.from_estimator(model),
        "RegionGraphDisplay": lambda model: partita.RegionGraphDisplay.from_estimator(model),
        "RegionPathDisplay": lambda model: partita.RegionPathDisplay.from_estimator(model),
        "ReliabilityDisplay": lambda model: partita.ReliabilityDisplay.from_estimator(model, X, y),
        "SimilarityDisplay": lambda model: partita.SimilarityDisplay.from_estimator(model, X),
        "TraceDisplay": lambda model: partita.TraceDisplay.from_estimator(model),
    }


WRONG = {
    "AnomalyDisplay": [partita.HybridClassifier(), KernelDensity(), partita.CRPMixture],
    "ClassTemplateDisplay": [partita.BayesianNetwork(), partita.StructureLearner, None],
    "ClusterProfileDisplay": [LogisticRegression(), "model"],
    "CoassignmentDisplay": [partita.BayesianNetwork(), partita.StructureLearner, None],
    "CompletionDisplay": [partita.AClass(), partita.BayesianSVD, None],
    "ComponentsPosteriorDisplay": [partita.HybridClassifier(), LogisticRegression()],
    "ContributionsDisplay": [partita.AClass(), LogisticRegression()],
    "DensityDisplay": [partita.HybridClassifier(), KernelDensity()],
    "EdgeAgreementDisplay": [partita.BayesianNetwork(), partita.StructureLearner, None],
    "EdgeProbabilitiesDisplay": [partita.BayesianNetwork(), partita.StructureLearner, None],
    "FactorDisplay": [partita.CRPMixture(), "model"],
    "FilledCellsDisplay": [LogisticRegression(), None],
    "GatesDisplay": [partita.AClass(), partita.IQGMEClassifier, None],
    "ImputationDisplay": [partita.CRPMixture(), LogisticRegression(), partita.IQGMEClassifier],
    "InteractionMatrixDisplay": [partita.TANClassifier(), partita.KikuchiBayesClassifier],
    "IntervalCalibrationDisplay": [partita.AClass(), partita.BayesianSVD(link="ordinal")],
    "LearningCurveDisplay": [partita.CRPMixture(), partita.HybridClassifier(), LogisticRegression()],
    "LowerBoundDisplay": [partita.AClass(), partita.IQGMEClassifier, "model"],
    "NetworkDisplay": [partita.BayesianNetwork(), partita.StructureLearner, None],
    "ProbabilitiesDisplay": [partita.CRPMixture(), Perceptron(), partita.AClass],
    "RankPosteriorDisplay": [partita.CRPMixture(), LogisticRegression()],
    "RegionGraphDisplay": [partita.NaiveBayes(), None],
    "RegionPathDisplay": [partita.CRPMixture(), "model"],
    "ReliabilityDisplay": [partita.CRPMixture(), Perceptron(), 3],
    "SimilarityDisplay": [partita.AClass(), partita.HybridClassifier()],
    "TraceDisplay": [partita.HybridClassifier(), LogisticRegression()],
}


def test_every_display_is_here():
    assert set(WRONG) == {name for name in partita.__all__ if name.endswith("Display")}


@pytest.mark.parametrize("name", WRONG)
def test_another_estimator_is_an_error_that_says_which_is_wanted(name):
    for model in WRONG[name]:
        got = model.__name__ if isinstance(model, type) else type(model).__name__
        with pytest.raises(ValueError, match=rf"{name}\.from_estimator: estimator must be .*, got .*{got}"):
            displays(HOLED, np.array([0, 1]))[name](model)


def test_fitted_models_of_other_classes_too(mixture, mixed, coins):
    X, y, classifier = coins
    with pytest.raises(ValueError, match="must be a fitted CRPMixture, got AClass"):
        partita.SimilarityDisplay.from_estimator(classifier)
    with pytest.raises(ValueError, match="a fitted classifier with predict_proba, such as AClass, got CRPMixture"):
        partita.ReliabilityDisplay.from_estimator(mixture, mixed[0], mixed[2])
    partita.ReliabilityDisplay.from_estimator(LogisticRegression().fit(np.nan_to_num(X), y), np.nan_to_num(X), y)


def test_the_density_of_integers_is_seen_between_them():
    frame = pd.DataFrame({"year": np.random.default_rng(0).integers(2000, 2004, 80)})
    model = partita.CRPMixture(n_filters=2, n_sweeps=4, random_state=0).fit(frame)
    assert model.schema_.kinds == ("real",)
    display = partita.DensityDisplay.from_estimator(model, frame, "year", n_points=60)
    assert len(np.unique(display.density)) == 60
