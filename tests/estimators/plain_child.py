"""Every estimator on a small table, its answers written to a file: run once by each kind of kernels."""

import sys

import numpy as np

import partita
from partita import (
    AClass,
    BayesianNetwork,
    BayesianSVD,
    CRPMixture,
    HybridClassifier,
    IQGMEClassifier,
    KikuchiBayesClassifier,
    MDLPDiscretizer,
    NaiveBayes,
    QGMEClassifier,
    StructureLearner,
    TANClassifier,
)

RNG = np.random.default_rng(0)
N = 14
X = np.column_stack([RNG.integers(0, 2, N), RNG.integers(0, 3, N), RNG.normal(size=N), RNG.poisson(2, N)]).astype(float)
Y = (X[:, 0] + (X[:, 2] > 0) >= 1).astype(int)
X[RNG.random(X.shape) < 0.15] = np.nan
LEVELS = RNG.integers(0, 2, (20, 3)).astype(float)
LEVELS[0, 0] = np.nan
MATRIX = np.outer(RNG.normal(size=7), RNG.normal(size=5))
MATRIX[RNG.random(MATRIX.shape) < 0.3] = np.nan
PAPER = {"inference": "smc", "n_filters": 1, "n_particles": 3, "n_sweeps": 0, "alpha": 1.0, "column_prior": 0.5}
FEW, SVD = {"n_filters": 2, "n_sweeps": 3}, {"max_rank": 3, "n_samples": 4, "burn_in": 4}
STRUCTURE = {"n_sweeps": 8, "n_chains": 1}
CLASSIFIERS = {
    "chains": AClass(**FEW),
    "correlated": AClass(correlated=True, n_filters=1, n_sweeps=2),
    "stream": AClass(inference="smc", n_filters=2, n_particles=2, n_sweeps=1),
    "paper's filter": AClass(**PAPER),
    "hybrid": HybridClassifier(AClass(n_filters=1, n_sweeps=2)),
    "evidence": KikuchiBayesClassifier(),
    "closed form": KikuchiBayesClassifier(estimate="paper"),
    "tree": TANClassifier(),
    "naive Bayes": NaiveBayes(),
    "finite experts": QGMEClassifier(n_experts=2, max_iter=5),
    "experts": IQGMEClassifier(max_iter=2, cell_folds=0),
    "factors": IQGMEClassifier(n_factors=1, n_restarts=1, max_iter=2, cell_folds=0),
    "batches": IQGMEClassifier(batch_size=7, max_iter=2, cell_folds=0),
    "sampled experts": IQGMEClassifier(inference="gibbs", n_restarts=1, max_iter=2, cell_folds=0),
}


def answers() -> dict[str, np.ndarray]:
    found = {name: model.set_params(random_state=0).fit(X, Y).predict_proba(X) for name, model in CLASSIFIERS.items()}
    groups = CRPMixture(**FEW, random_state=0).fit(X)
    found |= {"density": groups.score_samples(X), "filled": groups.impute(X), "similarity": groups.similarity()}
    found["bins"] = MDLPDiscretizer().fit(X, Y).transform(X)
    for prior in ("uniform", "sparse", "block", "ordered-block", "auto"):
        found[prior] = StructureLearner(prior, **STRUCTURE, random_state=0).fit(LEVELS).edge_probabilities_
    found["network"] = BayesianNetwork([(0, 1)]).fit(LEVELS).score_samples(LEVELS)
    ones = np.where(np.isnan(MATRIX), np.nan, MATRIX > 0)
    for link, cells in (("gaussian", MATRIX), ("ordinal", np.clip(np.rint(MATRIX), -1, 1)), ("binomial", ones)):
        found[link] = BayesianSVD(link=link, **SVD, random_state=0).fit(cells).complete()
    thesis = BayesianSVD(prior="paper", sampler="coordinate", **SVD, random_state=0)
    return found | {"thesis's sampler": thesis.fit(MATRIX).complete()}


if __name__ == "__main__":
    np.savez(sys.argv[1], **answers())
    print(partita.kernels.BACKEND)
