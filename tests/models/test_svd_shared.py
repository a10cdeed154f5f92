"""Cells, features, states and draws of matrices with holes."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from partita.models.matrices.draw import Draw
from partita.models.matrices.effects import coefficients_of, feature_columns, n_effects
from partita.models.matrices.entries import Entries
from partita.models.matrices.features import Features, decompose
from partita.models.matrices.problem import Problem
from partita.models.matrices.state import Regression, State


def some_entries(trials: bool = False) -> Entries:
    rows, columns = np.array([2, 0, 2, 1, 0]), np.array([1, 3, 0, 1, 0])
    return Entries.of(rows, columns, np.arange(5.0), 4, 5, np.arange(5.0) + 5 if trials else None)


def some_state(rng: np.random.Generator, n: int, m: int, k: int, paper: bool = False) -> State:
    return State(
        U=rng.normal(size=(n, k)), V=rng.normal(size=(m, k)), theta=rng.random(k), row_offset=rng.normal(size=n),
        column_offset=rng.normal(size=m), row_noise=rng.random(n), column_noise=rng.random(m),
        row_mean=np.zeros((n, k + 1)), column_mean=np.zeros((m, k + 1)), mean=2.5,
        row_regression=Regression([rng.normal(size=(2, k + 1))], [np.ones(2)]),
        s=rng.random(k) if paper else None, z=np.arange(k) % 2 if paper else None,
    )  # fmt: skip


def test_both_orders_hold_the_same_cells():
    entries = some_entries(trials=True)
    found = {(i, j): v for i, j, v in zip(entries.row, entries.column, entries.values)}
    assert found == {(2, 1): 0.0, (0, 3): 1.0, (2, 0): 2.0, (1, 1): 3.0, (0, 0): 4.0}
    assert entries.first_in_row.tolist() == [0, 2, 3, 5, 5]
    assert entries.first_in_column.tolist() == [0, 2, 4, 4, 5, 5]
    for j in range(5):
        part = slice(entries.first_in_column[j], entries.first_in_column[j + 1])
        assert (entries.column[entries.place[part]] == j).all()
        assert (entries.row[entries.place[part]] == entries.row_by_column[part]).all()
        assert (np.diff(entries.row_by_column[part]) > 0).all()
    assert (entries.values_by_column == entries.by_column(entries.values.copy())).all()
    assert (entries.trials - entries.values == 5).all()


def test_entries_come_back_from_a_tree():
    entries = some_entries()
    again = Entries.from_tree(entries.to_tree())
    for name, value in vars(entries).items():
        assert np.array_equal(getattr(again, name), value), name


@pytest.mark.parametrize("sparse", [False, True])
def test_a_block_is_a_thin_decomposition(sparse):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 3)) @ rng.normal(size=(3, 6))
    block = decompose(csr_matrix(matrix) if sparse else matrix, 3 if sparse else None)
    assert len(block) == 3
    assert np.allclose(block.rows @ block.axes.T, matrix)
    assert np.allclose(matrix @ block.axes, block.rows)  # features of an unseen row


def test_features_of_no_block_and_of_several():
    rng = np.random.default_rng(1)
    none = Features.of(7, [])
    assert none.n_coefficients == 0
    two = Features.of(7, [rng.normal(size=(7, 2)), np.zeros((7, 3)), rng.normal(size=(7, 4))], [None, None, 2])
    assert [len(block) for block in two.blocks] == [2, 2]
    coefficients = [rng.normal(size=(2, 5)), rng.normal(size=(2, 5))]
    expected = two.blocks[0].rows @ coefficients[0] + two.blocks[1].rows @ coefficients[1]
    assert np.allclose(two.mean(coefficients), expected)
    again = Features.from_tree(two.to_tree())
    assert np.array_equal(again.mean(coefficients), two.mean(coefficients))


def test_features_with_effects_are_those_given_but_constants():
    rng = np.random.default_rng(2)
    given, cut = rng.normal(size=(9, 2)), rng.normal(size=(9, 5))
    features = Features.of(9, [np.column_stack([np.ones(9), given, np.zeros(9)]), cut], [None, 2])
    columns = feature_columns(features, 9)
    assert columns.shape == (9, n_effects(features)) == (9, 4)
    np.testing.assert_allclose(columns[:, :2], given, atol=1e-12)
    np.testing.assert_allclose((columns[:, 2:] ** 2).mean(axis=0), 1.0)
    np.testing.assert_allclose(columns[:, 2:], 3.0 * features.blocks[1].left)
    # lines of unseen rows come out alike
    maps = coefficients_of(features)
    new = np.column_stack([np.ones(9), given, np.zeros(9)]) @ features.blocks[0].axes @ maps[0]
    np.testing.assert_allclose(new + cut @ features.blocks[1].axes @ maps[1], columns, atol=1e-12)


def test_units_come_from_the_values():
    problem = Problem.of(some_entries())
    assert problem.centre == 2.0 and np.isclose(problem.spread, np.sqrt(2.0))
    assert Problem.of(some_entries(), offsets=False).centre == 0.0
    assert Problem.of(some_entries(), link="ordinal", n_levels=5).spread == 1.0


@pytest.mark.parametrize("paper", [False, True])
def test_a_draw_says_what_the_state_says(paper):
    rng = np.random.default_rng(2)
    state = some_state(rng, 4, 5, 3, paper)
    problem = Problem.of(some_entries(), prior="paper" if paper else "ard")
    draw = Draw.of(problem, state)
    rows, columns = np.array([0, 3]), np.array([4, 1])
    product = ((state.U * state.gain) @ state.V.T)[rows, columns]
    expected = 2.5 + state.row_offset[rows] + state.column_offset[columns] + product
    assert np.allclose(draw.fitted(rows, columns), expected, atol=1e-5)
    assert draw.U.shape[1] == (1 if paper else 3)
    assert draw.row_coefficients[0].shape == (2, draw.U.shape[1] + 1)
    again = Draw.from_tree(draw.to_tree())
    assert np.array_equal(again.fitted(rows, columns), draw.fitted(rows, columns))


def test_a_state_comes_back_from_a_tree():
    state = some_state(np.random.default_rng(3), 4, 5, 2)
    again = State.from_tree(state.to_tree())
    assert np.array_equal(again.U, state.U) and again.s is None
    assert np.array_equal(again.row_regression.coefficients[0], state.row_regression.coefficients[0])
