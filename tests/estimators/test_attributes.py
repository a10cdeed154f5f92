"""What a model has not learnt is an AttributeError: `hasattr` is safe to ask, as reports and scikit-learn do."""

import numpy as np
import pytest

import partita
from partita import AClass, CRPMixture, HybridClassifier, NaiveBayes

QUICK = {"n_filters": 2, "n_sweeps": 2, "random_state": 0}
RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 3, (40, 3)).astype(float), np.arange(40) % 2
FITTED = {
    "AClass": lambda: AClass(**QUICK).fit(X, Y),
    "AClass, stream": lambda: AClass(**QUICK).partial_fit(X, Y),
    "AClass, filter": lambda: AClass(inference="smc", n_sweeps=0, random_state=0).fit(X, Y),
    "CRPMixture": lambda: CRPMixture(**QUICK).fit(X),
    "CRPMixture, stream": lambda: CRPMixture(**QUICK).partial_fit(X),
    "HybridClassifier": lambda: HybridClassifier(AClass(**QUICK)).fit(X, Y),
    "NaiveBayes": lambda: NaiveBayes().fit(X, Y),
    "NaiveBayes, parts": lambda: NaiveBayes().partial_fit(X, Y),
    "TANClassifier": lambda: partita.TANClassifier().fit(X, Y),
    "KikuchiBayesClassifier": lambda: partita.KikuchiBayesClassifier().fit(X, Y),
}


def learnt(model) -> list[str]:
    """Names of the learnt attributes that are computed when they are asked for."""
    names = [name for name in dir(type(model)) if name.endswith("_") and not name.startswith("_")]
    return [name for name in names if isinstance(vars_of(model, name), property)]


def vars_of(model, name):
    return next((vars(cls)[name] for cls in type(model).__mro__ if name in vars(cls)), None)


@pytest.mark.parametrize("name", FITTED)
def test_asking_is_safe(name):
    model = FITTED[name]()
    new = type(model)()
    for attribute in learnt(model):
        hasattr(model, attribute)
        assert not hasattr(new, attribute), f"unfitted, and has {attribute}"


def test_only_mixtures_count_groups():
    assert hasattr(FITTED["AClass"](), "n_components_posterior_")
    assert not hasattr(FITTED["NaiveBayes"](), "n_components_posterior_")
    assert not hasattr(FITTED["NaiveBayes"](), "log_evidence_")
    with pytest.raises(ValueError, match="a fitted CRPMixture or AClass"):
        partita.ComponentsPosteriorDisplay.from_estimator(FITTED["NaiveBayes"]())
