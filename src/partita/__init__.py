"""Probabilistic models learnt from incomplete tables; the complexity of the model is inferred."""

from __future__ import annotations

import importlib
import sys
from typing import Any

__version__ = "0.1.0"

# public name -> module that defines it; imported when first asked for
_WHERE = {
    "AClass": "estimators.aclass",
    "BayesianNetwork": "estimators.bayesian_network",
    "BayesianSVD": "estimators.bayesian_svd",
    "CRPMixture": "estimators.crp_mixture",
    "HybridClassifier": "estimators.hybrid_classifier",
    "IQGMEClassifier": "estimators.iqgme",
    "KikuchiBayesClassifier": "estimators.kikuchi_bayes",
    "MDLPDiscretizer": "estimators.mdlp_discretizer",
    "NaiveBayes": "estimators.naive_bayes",
    "QGMEClassifier": "estimators.qgme",
    "StructureLearner": "estimators.structure_learner",
    "TANClassifier": "estimators.tan",
    "load": "estimators.persistence",
    "save": "estimators.persistence",
    "AnomalyDisplay": "displays.anomaly",
    "ClassTemplateDisplay": "displays.class_template",
    "ClusterProfileDisplay": "displays.cluster_profile",
    "CoassignmentDisplay": "displays.coassignment",
    "CompletionDisplay": "displays.completion",
    "ComponentsPosteriorDisplay": "displays.components_posterior",
    "ContributionsDisplay": "displays.contributions",
    "DensityDisplay": "displays.density",
    "EdgeAgreementDisplay": "displays.edge_agreement",
    "EdgeProbabilitiesDisplay": "displays.edge_probabilities",
    "FactorDisplay": "displays.factor",
    "FilledCellsDisplay": "displays.filled_cells",
    "GatesDisplay": "displays.gates",
    "ImputationDisplay": "displays.imputation",
    "InteractionMatrixDisplay": "displays.interaction_matrix",
    "IntervalCalibrationDisplay": "displays.interval_calibration",
    "LearningCurveDisplay": "displays.learning_curve",
    "LowerBoundDisplay": "displays.lower_bound",
    "NetworkDisplay": "displays.network",
    "ProbabilitiesDisplay": "displays.probabilities",
    "RankPosteriorDisplay": "displays.rank_posterior",
    "RegionGraphDisplay": "displays.region_graph",
    "RegionPathDisplay": "displays.region_path",
    "ReliabilityDisplay": "displays.reliability",
    "SimilarityDisplay": "displays.similarity",
    "TraceDisplay": "displays.trace",
    "datasets": "datasets",
    "kernels": "kernels",
}

# public names of models that are to come
_PLANNED = (
    "GaussianMixture",
    "HiddenMarkovModel",
    "KernelDensity",
    "LinearGaussian",
    "MultiTaskIQGMEClassifier",
    "NearestNeighborDensity",
)

__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        planned = f": it is planned, and not in version {__version__}" if name in _PLANNED else ""
        said = f"module 'partita' has no attribute {name!r}{planned}"
        raise AttributeError(said, name=name, obj=sys.modules[__name__])  # so that Python asks "Did you mean ...?"
    module = importlib.import_module(f"partita.{_WHERE[name]}")
    value = module if _WHERE[name] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
