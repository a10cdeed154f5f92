"""`partita structure`: edges from a file, knowledge put in, files written, mistakes told in one line."""

import pandas as pd
import pytest

import partita
from partita.cli import main


@pytest.fixture
def table(tmp_path):
    made = partita.datasets.make_diseases(150, 2, 4, random_state=0)
    path = tmp_path / "patients.csv"
    made.data.astype(int).to_csv(path, index=False)
    return path


def test_edges_roles_and_files(table, tmp_path, capsys):
    names = ("edges.csv", "best.bif", "net.png", "model.partita", "page.html")
    out, bif, picture, model, page = (tmp_path / name for name in names)
    code = main(
        ["structure", str(table), "--prior", "block", "--sweeps", "200", "--chains", "2", "--quiet",
         "--output", str(out), "--bif", str(bif), "--picture", str(picture), "--save", str(model),
         "--report", str(page)]
    )  # fmt: skip
    assert code == 0
    said = capsys.readouterr().out
    assert "6 columns" in said and "class 0:" in said and f"written: {out}" in said
    edges = pd.read_csv(out)
    assert list(edges.columns) == ["parent", "child", "probability", "error"] and len(edges) == 30
    assert edges.probability.is_monotonic_decreasing
    assert len(partita.BayesianNetwork.read_bif(bif).parents_) == 6
    assert picture.stat().st_size > 5000
    html = page.read_text(encoding="utf-8")
    assert html.count("data:image/png") == 4 and "Have the chains settled?" in html and "R-hat" in html
    assert "chains, block: log joint R-hat" in said
    loaded = partita.load(model)
    top = edges.iloc[0]
    i, j = (loaded.schema_.names.index(name) for name in (top.parent, top.child))
    assert loaded.edge_probabilities_[i, j] == pytest.approx(top.probability)


def test_knowledge_is_kept(table, tmp_path, capsys):
    out = tmp_path / "edges.csv"
    base = ["structure", str(table), "--prior", "uniform", "--quiet", "--output", str(out)]
    assert main([*base, "--require", "disease 1->symptom 1", "--forbid", "disease 1 -> symptom 2"]) == 0
    edges = pd.read_csv(out).set_index(["parent", "child"]).probability
    assert edges["disease 1", "symptom 1"] == pytest.approx(1.0)
    assert edges["disease 1", "symptom 2"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--require", "disease 1"], "expected PARENT->CHILD"),
        (["--require", "disease 1->nothing"], "'nothing'"),
        (["--output", "absent/edges.csv"], "absent"),
        (["--kind", "disease 1=real"], "disease 1"),
    ],
)
def test_mistakes_are_told_in_one_line(table, capsys, more, said):
    assert main(["structure", str(table), "--quiet", *more]) == 2
    error = capsys.readouterr().err
    assert said in error and len(error.strip().splitlines()) == 1
