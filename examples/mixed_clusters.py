"""Clusters in a mixed table with holes: how many there are, who belongs together, and what makes each what it is.

Three hidden clusters of people, described by two real columns, a count, a word and a yes or no; a fifth of the cells is
missing. Nobody tells the model how many clusters there are: it gives a posterior over their number. The chains get 200
sweeps, since the number of groups settles more slowly than the density does; where R-hat, which is printed, is above
1.1, take the posterior's width as rough.

A Chinese-restaurant mixture always leaves room for small groups, so of groups that overlap it counts too many rather
than too few: over five seeds of this table the most probable number was between 3 and 5 for three clusters, and 5 to 7
for four, which overlap more; seed 0, drawn here, is one of the better ones. Look at the sizes of the groups before you
believe in a number. Groups that lie far apart can also stay merged, which splits and merges that follow their number
undo (`split_merge="auto"`, the default).

    python examples/mixed_clusters.py [folder for the picture]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.metrics import adjusted_rand_score

import partita


def main(folder: Path, n_rows: int = 400, n_sweeps: int = 200) -> Path:
    """Draw the picture and say where it is."""
    people, hidden = partita.datasets.make_mixed_clusters(n_rows, 3, missing=0.2, random_state=0)
    model = partita.CRPMixture(n_sweeps=n_sweeps, random_state=0, n_jobs=-1).fit(people)
    print(
        f"posterior over the number of groups: { {k: round(p, 2) for k, p in model.n_components_posterior_.items()} }"
    )
    print(f"R-hat of the number of groups: {model.diagnostics_['n_groups']['r_hat']:.2f}")
    print(f"agreement with the hidden clusters (adjusted Rand index): {adjusted_rand_score(hidden, model.labels_):.2f}")

    figure, axes = plt.subplots(2, 2, figsize=(11, 8.6), layout="constrained")
    partita.DensityDisplay.from_estimator(model, people, ("height", "income")).plot(axes[0, 0])
    partita.ComponentsPosteriorDisplay.from_estimator(model).plot(axes[0, 1], truth=3)
    partita.SimilarityDisplay.from_estimator(model).plot(axes[1, 0])
    partita.ClusterProfileDisplay.from_estimator(model, people, model.labels_, min_rows=10).plot(axes[1, 1])
    axes[0, 0].set_title("two of the five columns, and the density learnt", fontsize="medium")
    axes[0, 1].set_title("how many groups?", fontsize="medium")
    axes[1, 0].set_title("which rows belong together?", fontsize="medium")
    axes[1, 1].set_title("what makes a group what it is?", fontsize="medium")
    path = folder / "mixed_clusters.png"
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    print(main(chosen))
