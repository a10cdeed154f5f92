"""The tree against all trees, holes against enumeration, the prior's consistency, invariances, files and bad input."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from coded_tables import coded
from estimator_tables import mixed_frame
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

from partita import MDLPDiscretizer, NaiveBayes, TANClassifier, load, save
from partita.data.validate import DataWarning
from partita.models.coded import pair_information
from partita.models.coded.pair_information import conditional_information
from partita.models.coded.tan import log_joint


def counts_of(columns, y):
    """Counts of every combination of levels and class."""
    table = np.zeros([int(c.max()) + 1 for c in columns] + [int(y.max()) + 1])
    np.add.at(table, (*columns, y), 1)
    return table


def plain_information(a, b, y):
    """I(a; b | y) from its definition."""
    joint = counts_of([a, b], y) / len(y)
    total = 0.0
    for i, j, k in np.argwhere(joint > 0):
        p = joint[i, j, k]
        total += p * np.log(p * joint[:, :, k].sum() / (joint[i, :, k].sum() * joint[:, j, k].sum()))
    return total


def is_tree(d, edges):
    reached, grown = {0}, True
    while grown:
        more = {b for a, b in edges if a in reached} | {a for a, b in edges if b in reached}
        grown, reached = not more <= reached, reached | more
    return len(reached) == d


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_the_best_of_all(seed):
    X, y = coded(50, levels=(2, 3, 2, 4, 2), seed=seed)
    model = TANClassifier().fit(X, y)
    codes, label = MDLPDiscretizer().fit_transform(X, y).to_numpy(), (y == "yes").astype(int)
    d = codes.shape[1]
    gain = {pair: plain_information(*codes[:, list(pair)].T, label) for pair in combinations(range(d), 2)}
    trees = [edges for edges in combinations(gain, d - 1) if is_tree(d, edges)]
    assert len(trees) == 125  # Cayley: d^(d - 2)
    best = max(trees, key=lambda edges: sum(gain[e] for e in edges))
    assert {tuple(sorted(edge)) for edge in model.tree_} == set(best)
    for edge, information in zip(model.tree_, model.edge_information_):
        assert information == pytest.approx(gain[tuple(sorted(edge))], abs=1e-9)


def test_ties_go_to_the_earlier_pair():
    X = np.array(list(product([0, 1], repeat=4)) * 3)
    assert TANClassifier().fit(X, X[:, 0]).tree_ == [(0, 1), (0, 2), (0, 3)]


def full_table(model):
    """log P(y, x) of every combination of levels of a fitted model."""
    cells = np.array(list(product(*(range(k) for k in model._tree.levels))), np.int32)
    return cells, log_joint(model._tree, cells)


@pytest.mark.parametrize("theta", [1e-4, 1.0, 20.0])
def test_probabilities_are_those_of_the_consistent_prior(theta):
    """Everything sums to one, and the marginals of pairs on the tree and of columns are eq. 4 of their own counts."""
    X, y = coded(n_classes=3)
    model = TANClassifier(theta=theta).fit(X, y)
    codes, label = model._coder.codes(model._encode(X)), np.searchsorted(model.classes_, y)
    cells, logs = full_table(model)
    assert logsumexp(logs) == pytest.approx(0, abs=1e-10)
    for i, j in model.tree_:
        counts = counts_of([codes[:, i], codes[:, j]], label)
        expected = (counts + theta / counts.size) / (len(y) + theta)
        found = np.zeros_like(expected)
        np.add.at(found, (cells[:, i], cells[:, j]), np.exp(logs))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        np.testing.assert_allclose(found.sum(axis=(0, 1)), np.exp(model._tree.log_class), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_holes_are_summed_over_exactly(seed):
    X, y = coded(80, levels=(2, 3, 2, 4, 3, 2), n_classes=3, seed=seed)
    model = TANClassifier().fit(X, y)
    cells, logs = full_table(model)
    rng = np.random.default_rng(seed)
    asked = cells[rng.integers(0, len(cells), 60)].copy()
    asked[rng.random(asked.shape) < 0.5] = -1
    asked[0] = -1
    found = log_joint(model._tree, asked)
    for row, logs_of_row in zip(asked, found):
        fits = ((cells == row) | (row < 0)).all(axis=1)
        np.testing.assert_allclose(logs_of_row, logsumexp(logs[fits], axis=0), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[0], model._tree.log_class, rtol=1e-12)


def test_a_hole_is_a_level_where_training_had_holes_and_summed_out_elsewhere():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"told": rng.normal(size=400), "plain": rng.normal(3 * y, 1)})
    X.loc[(y == 1) & (rng.random(400) < 0.8), "told"] = np.nan  # missing says it all
    model = TANClassifier().fit(X, y)
    hole = pd.DataFrame({"told": [np.nan, 0.0], "plain": [1.5, 1.5]})
    assert model.predict_proba(hole)[0, 1] > 0.9 > 0.5 > model.predict_proba(hole)[1, 1]
    none = pd.DataFrame({"told": [0.0], "plain": [np.nan]})
    levels = model._tree.levels[1]
    codes = model._coder.codes(model._encode(none))
    assert codes[0, 1] == -1
    each = [log_joint(model._tree, np.array([[codes[0, 0], k]], np.int32)) for k in range(levels)]
    expected = logsumexp(each, axis=0)
    np.testing.assert_allclose(
        model.predict_log_proba(none), expected - logsumexp(expected, axis=1, keepdims=True), rtol=1e-10
    )


def test_unseen_levels_are_as_missing_cells():
    X, y = coded()
    model = TANClassifier().fit(X, y)
    strange, hole = X.assign(c1="never"), X.assign(c1=pd.array([None] * len(X), object))
    np.testing.assert_array_equal(model.predict_proba(strange), model.predict_proba(hole))


def test_one_column_is_naive_bayes():
    """One column has no tree: with theta spread over the cells both have the same pseudo-counts."""
    X, y = coded(levels=(3,))
    mine = TANClassifier(theta=3.0).fit(X, y)
    assert mine.tree_ == []
    other = NaiveBayes(level_rows=0.5, class_rows=1.5).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), other.predict_proba(X), rtol=1e-10)


def test_the_order_of_rows_columns_levels_and_classes_does_not_matter():
    X, y = coded(120, levels=(2, 3, 2, 4, 3), n_classes=3)
    model = TANClassifier().fit(X, y)
    rows = np.random.default_rng(0).permutation(len(y))
    columns = [3, 0, 4, 2, 1]
    again = TANClassifier().fit(X.iloc[rows, columns], y[rows])
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-10)
    mine = {frozenset(edge) for edge in model.tree_}
    assert {frozenset(columns[k] for k in edge) for edge in again.tree_} == mine
    renamed = X.map(lambda v: {"v0": "z", "v1": "b", "v2": "y", "v3": "a"}[v])
    other = TANClassifier().fit(renamed, np.array([{"no": "3", "yes": "1", "maybe": "2"}[v] for v in y]))
    assert {frozenset(edge) for edge in other.tree_} == mine
    np.testing.assert_array_equal(np.sort(other.edge_information_), np.sort(model.edge_information_))
    np.testing.assert_allclose(other.predict_proba(renamed)[:, [1, 2, 0]], model.predict_proba(X), rtol=1e-10)


def test_a_weight_is_a_number_of_rows():
    X, y = mixed_frame()
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    one, other = TANClassifier().fit(X, y, sample_weight=weight), TANClassifier().fit(X.iloc[rows], y[rows])
    assert one.tree_ == other.tree_
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-12)


def test_mixed_tables_and_rows_apart():
    X, y = mixed_frame()
    model = TANClassifier(force_first_cut=True).fit(X, y)
    assert len(model.tree_) == X.shape[1] - 1 and len(model.cut_points_) == X.shape[1]
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(model.predict_proba(X.iloc[order]), proba[order])
    cells = X.astype(object).where(X.notna(), None).to_numpy()
    np.testing.assert_allclose(TANClassifier(force_first_cut=True).fit(cells, y).predict_proba(cells), proba)


def test_a_holed_row_is_answered_alike_in_any_company():
    X, y = coded(300, levels=(3, 4, 2, 3, 2), n_classes=3)
    model = TANClassifier().fit(X, y)
    holed = X.mask(np.random.default_rng(0).random(X.shape) < 0.5)
    whole = model.predict_proba(holed)
    for rows in ([5], [9, 5], range(100, 220)):
        np.testing.assert_array_equal(model.predict_proba(holed.iloc[list(rows)]), whole[list(rows)])


def test_beyond_naive_bayes():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 5))
    y = X[:, 1] ^ X[:, 3]
    assert TANClassifier().fit(X, y).score(X, y) == 1.0
    assert NaiveBayes().fit(X, y).score(X, y) < 0.7


def test_the_tree_as_a_graph():
    networkx = pytest.importorskip("networkx")
    X, y = coded()
    model = TANClassifier().fit(X, y)
    graph = model.to_networkx()
    assert list(graph.nodes) == list(X.columns) and networkx.is_arborescence(graph)
    assert {(f"c{a}", f"c{b}") for a, b in model.tree_} == set(graph.edges)
    assert [graph.edges[f"c{a}", f"c{b}"]["information"] for a, b in model.tree_] == model.edge_information_.tolist()


def test_pairs_too_large_to_count_are_told(monkeypatch):
    monkeypatch.setattr("partita.models.coded.tan.MOST_CELLS", 20)
    X, y = coded(levels=(2, 3, 4, 4))
    with pytest.warns(DataWarning, match=r"never joined: 'c1' with 'c2', 'c1' with 'c3', 'c2' with 'c3'"):
        model = TANClassifier().fit(X, y)
    assert model.tree_ == [(0, 1), (0, 2), (0, 3)]
    monkeypatch.setattr("partita.models.coded.tan.MOST_CELLS", 12)
    with pytest.warns(DataWarning, match="never joined"):
        forest = TANClassifier().fit(X, y)
    assert forest.tree_ == [(0, 1)]
    cells, logs = full_table(forest)
    assert logsumexp(logs) == pytest.approx(0, abs=1e-10) and len(cells) == 96


def test_counting_in_many_calls_changes_nothing(monkeypatch):
    X, y = coded(200, levels=(2, 3, 2, 4, 3), n_classes=3)
    whole = TANClassifier().fit(X, y)
    monkeypatch.setattr(pair_information, "CELLS_AT_A_TIME", 30)
    monkeypatch.setattr(pair_information, "ADDITIONS_AT_A_TIME", 64)
    parted = TANClassifier().fit(X, y)
    assert parted.tree_ == whole.tree_
    np.testing.assert_array_equal(parted.predict_proba(X), whole.predict_proba(X))


def test_information_of_nothing_is_nothing():
    assert conditional_information(np.zeros((2, 3, 2))) == 0
    assert conditional_information(np.ones((2, 3, 2)) * 7) == 0
    table = np.zeros((2, 2, 1))
    table[0, 0] = table[1, 1] = 1e9
    assert conditional_information(table) == pytest.approx(np.log(2), rel=1e-9)


def test_it_survives_a_file(tmp_path):
    X, y = mixed_frame()
    model = TANClassifier(theta=2.0).fit(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.tree_ == model.tree_ and again.get_params() == model.get_params()
    save(again, tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
def test_small_tables():
    one = TANClassifier().fit([[1.5, 0.0]], ["a"])
    np.testing.assert_array_equal(one.predict_proba([[np.nan, 1.0], [2.0, 0.0]]), [[1.0], [1.0]])
    empty = TANClassifier().fit(np.array([[np.nan, 1.0], [np.nan, 2.0]]), ["a", "b"])
    np.testing.assert_allclose(empty.predict_proba([[5.0, 1.5]]).sum(axis=1), 1.0)


def test_bad_input_is_named():
    X, y = coded()
    with pytest.raises(ValueError, match="TANClassifier: theta must be a finite number > 0, got 0"):
        TANClassifier(theta=0).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight has 3 entries"):
        TANClassifier().fit(X, y, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="requires y"):
        TANClassifier().fit(X, None)


def test_a_tree_is_asked_for_after_the_fit():
    with pytest.raises(NotFittedError):
        TANClassifier().to_networkx()
