import numpy as np
import pandas as pd
import pytest

from partita import CRPMixture, StructureLearner
from partita.data import learn_schema
from partita.report.columns import column_facts, describe, facts_beside
from partita.report.summary import group_posteriors, summary
from partita.report.summary import learnt_facts as summary_facts
from partita.report.tables import align, percent


def test_align_pads_and_flushes_right():
    assert align(("a", "number"), [("long name", "1"), ("b", "22")], right=(1,)).splitlines() == [
        "a          number",
        "---------  ------",
        "long name       1",
        "b              22",
    ]


def test_a_small_share_is_not_zero():
    assert percent(0.0) == "0.0 %" and percent(1e-5) == "<0.1 %" and percent(0.1234) == "12.3 %"


def test_column_facts_tell_what_is_there(clusters):
    X, _ = clusters
    facts = {fact.name: fact for fact in column_facts(X)}
    assert facts["height"].missing == pytest.approx(X["height"].isna().mean())
    assert facts["visits"].kind == "count" and f"median {X['visits'].median():.4g}" in facts["visits"].values
    share = (X["colour"].dropna() == "green").mean()
    assert f"green {100 * share:.0f} %" in facts["colour"].values


def test_cells_are_told_as_they_were_given():
    """Not as they come back from centre and scale, where a zero may be 1e-17."""
    values = np.random.default_rng(0).random(99)
    values[:3] = 0.0
    (fact,) = column_facts(values[:, None] * 0.3)
    assert fact.values.startswith("0 to ")


def test_whole_levels_are_written_as_whole_numbers():
    facts = column_facts(pd.DataFrame({"smokes": [0.0, 1.0, 1.0, None]}))
    assert facts[0].values == "1 67 %, 0 33 %"


def test_columns_without_a_cell_are_described():
    with pytest.warns(UserWarning, match="no observed cell"):
        assert column_facts(np.array([[np.nan, 1.5], [np.nan, 2.5]]))[0].values == "none observed"


def test_describe_has_a_line_per_column(clusters):
    text = describe(clusters[0], {"visits": "real"})
    assert text.startswith("120 rows, 5 columns") and len(text.splitlines()) == 4 + 5
    assert [line.split()[1] for line in text.splitlines() if line.startswith("visits")] == ["real"]


def test_summary_of_a_mixture(mixture, clusters):
    text = summary(mixture, clusters[0])
    mode = mixture.n_components_
    assert f"{mode} ({percent(mixture.n_components_posterior_[mode])})" in text
    assert "120 rows" in text and "n_sweeps=10" in text and "R-hat" in text
    assert "levels" in summary(mixture) and "missing" not in summary(mixture)


def test_summary_of_a_classifier(classifier):
    text = summary(classifier)
    assert "left, right" in text and "groups of class left" in text and f"{classifier.temperature_:.4g}" in text
    for _, posterior in group_posteriors(classifier):
        assert sum(posterior.values()) == pytest.approx(1.0)


def test_summary_needs_a_fitted_model():
    from sklearn.exceptions import NotFittedError

    from partita import CRPMixture

    with pytest.raises(NotFittedError):
        summary(CRPMixture())


def test_summary_of_a_structure():
    import partita

    made = partita.datasets.make_diseases(60, 2, 3, random_state=0)
    sampled = partita.StructureLearner("ordered-block", exact=False, n_sweeps=30, n_chains=2, random_state=0)
    text = summary(sampled.fit(made.data), made.data)
    assert "number of classes" in text and "chains, ordered-block" in text and "expected number of edges" in text
    still = partita.StructureLearner("sparse", exact=False, n_sweeps=30, n_chains=2, random_state=0)
    text = summary(still.fit(made.data))  # its number of classes never moves
    assert "log joint R-hat" in text and "n classes" not in text and "above 10" not in text
    exact = summary(partita.StructureLearner("uniform").fit(made.data))
    assert "(exact)" in exact and "R-hat" not in exact
    assert "structure=" in summary(partita.BayesianNetwork([(0, 1)]).fit(made.data))


def test_too_few_sweeps_say_nothing_of_agreement():
    X = np.random.default_rng(0).normal(size=(40, 3))
    facts = dict(summary_facts(CRPMixture(n_sweeps=3, n_filters=2, random_state=0).fit(X)))
    assert facts["agreement of the chains"].startswith("not known")


def test_levels_a_model_has_not_seen_are_no_holes():
    frame = pd.DataFrame(
        {"day": [f"d{k}" for k in range(40)] + [None] * 10, "z": np.arange(50.0), "few": ["a\nb"] * 50}
    )
    schema = learn_schema(frame.iloc[:20], warn=False)
    facts = {fact.name: fact for fact in facts_beside(frame[["z", "few", "day"]], schema)}
    assert list(facts) == ["day", "z", "few"]
    assert facts["day"].missing == pytest.approx(0.2) and "36 more" in facts["day"].values
    assert facts["few"].values == "a b 100 %"  # lines of a table stay lines
    with pytest.raises(ValueError, match="now missing:\n- day"):
        facts_beside(frame[["z", "few"]], schema)


def test_a_structure_over_several_tables_is_told_table_by_table():
    rng = np.random.default_rng(0)
    model = StructureLearner("sparse").fit([rng.integers(0, 2, (40, 3)), rng.integers(0, 3, (30, 2))])
    text = summary(model)
    assert text.startswith("table 0\nStructureLearner") and "\n\ntable 1\nStructureLearner" in text
    assert "3 binary" in text and "2 categorical" in text


def test_a_bound_on_parents_is_told():
    """With missing cells ordered classes list sets of four parents at most."""
    X = np.random.default_rng(0).integers(0, 2, (40, 6)).astype(float)
    X[0, 0] = np.nan
    settings = {"n_sweeps": 30, "n_chains": 2, "random_state": 0}
    text = summary(StructureLearner("ordered-block", **settings).fit(X))
    assert "parents under ordered classes" in text and "at most 4 of a column" in text
    assert "parents under" not in summary(StructureLearner("block", **settings).fit(X))
