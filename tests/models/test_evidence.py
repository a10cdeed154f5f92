"""The evidence estimator as a whole: invariances, what its parts sum to, cells integrated out, odd tables."""

import json
from dataclasses import replace

import numpy as np
import pytest
from evidence_tables import table

from partita.models.evidence import holes as evidence_holes
from partita.models.evidence import rows as evidence_rows
from partita.models.evidence.learn import Evidence, fit_evidence
from partita.models.evidence.numerics import learn_numerics, weighted_quantiles
from partita.models.evidence.omitted import Omitted
from partita.models.evidence.pool import log_softmax
from partita.models.evidence.rows import merged
from partita.models.evidence.search import Gains
from partita.models.evidence.settings import Settings
from partita.models.evidence.soundness import check_evidence

CLOSE = {"atol": 0.01}  # of a probability: variances and modes are found to such a tolerance, in single precision


def fitted(seed=0, regions=((0, 1, 2, 3),), binned=(2,), **kwargs):
    data = table(seed, **kwargs)
    return fit_evidence(*data, int(data[3].max()) + 1, regions=regions, binned=binned), data


def probabilities(model, data):
    return np.exp(model.log_proba(data[0], data[2]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_sum_to_the_logits_of_every_stage_and_to_the_answer(n_classes):
    model, (codes, _, reals, _) = fitted(n_classes=n_classes)
    codes = codes.copy()
    codes[::3, 1] = -1
    codes[::5, 3] = -1
    whole = np.maximum(codes, 0)
    logits = model.stage_logits(whole, reals)
    assert {"linear", "numerics", "quadratic", "naive", "class", "path"} <= {stage.name for stage in model.stages}
    for stage, z in zip(model.stages, logits, strict=True):
        why = replace(model, stages=[stage], stage_weight=np.ones(1), temperature=1.0).explain(whole, reals)
        assert why.keys == stage.keys
        total = why.contributions.sum(axis=1) + why.intercept
        np.testing.assert_allclose(total, z - z.mean(axis=1, keepdims=True), atol=1e-12)
    why = model.explain(codes, reals)
    answer = model.log_proba(codes, reals)
    total = why.contributions.sum(axis=1) + why.intercept + why.pooling
    np.testing.assert_allclose(total, answer - answer.mean(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(np.exp(answer).sum(axis=1), 1.0)


def test_the_pair_that_acts_together_is_found():
    model, _ = fitted(n=800, n_classes=2)
    pairs = next(stage for stage in model.stages if stage.name == "pairs")
    assert (1, 3) in pairs.keys
    assert model.stage_weight.sum() == pytest.approx(1.0)


def test_pairs_that_show_only_together_are_used():
    """Exactly two of six attributes at their first level (monk2): no pair has much gain alone, all have together."""
    rng = np.random.default_rng(0)
    levels = np.array([3, 3, 2, 3, 4, 2], np.int32)
    codes = np.stack([rng.integers(0, k, 900) for k in levels], axis=1).astype(np.int32)
    label = ((codes == 0).sum(axis=1) == 2).astype(np.int32)
    x = np.zeros((900, 0))
    model = fit_evidence(codes[:450], levels, x[:450], label[:450], 2)
    assert model.stages[int(model.stage_weight.argmax())].name == "all pairs"
    assert -model.log_proba(codes[450:], x[450:])[np.arange(450), label[450:]].mean() < 0.1


@pytest.mark.parametrize("conditional", [True, False])
def test_unknown_cells_are_averaged_over_what_could_stand_there(conditional):
    data = table(missing=0.0)
    codes, levels, reals, label = data
    settings = Settings(conditional_holes=conditional)
    model = fit_evidence(*data, 3, settings=settings)
    rows, x = codes[:20].copy(), reals[:20]
    rows[:, [1, 3]] = -1
    n = np.bincount(label, minlength=3) + 1 / 3
    law = [
        (np.array([[((codes[:, j] == v) & (label == y)).sum() for y in range(3)] for v in range(levels[j])])
        + 1 / 3 / levels[j]) / n
        for j in range(4)
    ]  # fmt: skip
    got = np.exp(model.log_proba(rows, x))
    truth, total = np.zeros_like(got), np.zeros((20, 1))
    seen = n / n.sum() * (law[0][rows[:, 0]] * law[2][rows[:, 2]] if conditional else 1.0)
    for a in range(levels[1]):
        for b in range(levels[3]):
            full = rows.copy()
            full[:, 1], full[:, 3] = a, b
            weight = (seen * law[1][a] * law[3][b]).sum(axis=-1, keepdims=True) * np.ones((20, 1))
            if not conditional:
                weight = np.full((20, 1), float((n / n.sum()) @ law[1][a]) * float((n / n.sum()) @ law[3][b]))
            truth += weight * np.exp(model.log_proba(full, x))
            total += weight
    np.testing.assert_allclose(got, truth / total, atol=1e-10)


def test_drawn_completions_come_near_all_of_them(monkeypatch):
    data = table(n=600)
    model = fit_evidence(*data, 3)
    rows = data[0][:100].copy()
    rows[:, :3] = -1
    whole = np.exp(model.log_proba(rows, data[2][:100]))
    monkeypatch.setattr(evidence_holes, "MOST", 23)  # of 24 completions
    drawn = np.exp(model.log_proba(rows, data[2][:100]))
    assert 0 < np.abs(drawn - whole).mean() < 0.05
    np.testing.assert_allclose(np.exp(model.log_proba(rows[7:9], data[2][7:9])), drawn[7:9], atol=1e-12)


def test_a_missing_number_is_completed_by_its_bins():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 1))
    codes = np.stack([(x[:, 0] > 0).astype(np.int32), rng.integers(0, 2, 400).astype(np.int32)], axis=1)
    label = (x[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(np.int32)
    model = fit_evidence(codes, np.array([2, 2], np.int32), x, label, 2, binned=(0,))
    row, hole = np.array([[-1, 0]], np.int32), np.array([[np.nan]])
    bins = [[[x[codes[:, 0] == v, 0].mean()]] for v in (0, 1)]
    each = [np.exp(model.log_proba(np.array([[v, 0]], np.int32), np.array(bins[v]))) for v in (0, 1)]
    low, high = np.minimum(*each), np.maximum(*each)
    got = np.exp(model.log_proba(row, hole))
    assert (low < got).all() and (got < high).all() and abs(got[0, 0] - 0.5) < 0.1


def test_a_number_unknown_where_training_was_complete_is_averaged():
    codes, levels, reals, label = table(missing=0.0)
    model = fit_evidence(codes, levels, reals, label, 3)
    row = reals[:1].copy()
    row[0, 0] = np.nan
    every = np.repeat(row, len(reals), axis=0)
    every[:, 0] = reals[:, 0]
    numerics = model.numerics
    np.testing.assert_allclose(numerics.slopes(row)[0], numerics.slopes(every).mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(numerics.raw_products(row)[0], numerics.raw_products(every).mean(axis=0), atol=1e-12)
    steps = numerics.step_map(0)
    np.testing.assert_allclose(
        steps[numerics.step_cells(row, 0)][0], steps[numerics.step_cells(every, 0)].mean(0), atol=1e-12
    )


@pytest.mark.parametrize("n_reals", [0, 2])
@pytest.mark.parametrize("hyper_rows", [4000, 200])  # all rows; fewer than those of the table written out, or of both
@pytest.mark.parametrize("n", [150, 900])
def test_weights_are_repeated_rows(n, hyper_rows, n_reals):
    codes, levels, reals, label = table(n=n, levels=(3, 2, 4, 3, 5, 6), n_reals=n_reals)
    weight = np.random.default_rng(0).integers(0, 4, n).astype(float)
    index = np.repeat(np.arange(n), weight.astype(int))
    settings = Settings(hyper_rows=hyper_rows)
    once = fit_evidence(codes, levels, reals, label, 3, weight, settings)
    repeated = fit_evidence(codes[index], levels, reals[index], label[index], 3, None, settings)
    assert [stage.keys for stage in once.stages] == [stage.keys for stage in repeated.stages]
    np.testing.assert_allclose(
        np.exp(once.log_proba(codes, reals)), np.exp(repeated.log_proba(codes, reals)), atol=1e-5
    )


def test_equal_rows_become_one_in_the_order_of_the_first():
    codes = np.array([[1, 0], [0, 0], [1, 0], [1, 0], [0, 0]], np.int32)
    reals = np.array([[np.nan], [0.0], [np.nan], [2.0], [-0.0]])
    label = np.array([1, 0, 1, 1, 0], np.int32)
    weight = np.array([1.0, 2.0, 3.0, 4.0, 0.5])
    c, x, y, w = merged(codes, reals, label, weight)
    assert c.tolist() == [[1, 0], [0, 0], [1, 0]] and y.tolist() == [1, 0, 1] and w.tolist() == [4.0, 2.5, 4.0]
    np.testing.assert_array_equal(x, [[np.nan], [0.0], [2.0]])
    label = np.array([1, 0, 0, 1, 1], np.int32)
    assert merged(codes, reals, label, weight)[3] is weight  # all differ now


def test_rows_that_share_a_hash_by_accident_are_not_merged(monkeypatch):
    monkeypatch.setattr(evidence_rows, "_hashes", lambda columns: np.zeros(len(columns[0]), np.uint64))
    codes, _, reals, label = table(n=20)
    assert merged(codes, reals, label, np.ones(20))[0] is codes


def test_order_of_rows_columns_and_levels_does_not_matter():
    model, data = fitted(regions=(), binned=())
    codes, levels, reals, label = data
    rng = np.random.default_rng(1)
    p = probabilities(model, data)
    rows = rng.permutation(len(label))
    other = fit_evidence(codes[rows], levels, reals[rows], label[rows], 3)
    np.testing.assert_allclose(np.exp(other.log_proba(codes, reals)), p, **CLOSE)
    columns = rng.permutation(len(levels))
    turned = np.ascontiguousarray(codes[:, columns])
    other = fit_evidence(turned, levels[columns], reals[:, ::-1].copy(), label, 3)
    np.testing.assert_allclose(np.exp(other.log_proba(turned, reals[:, ::-1].copy())), p, **CLOSE)
    renamed = np.stack([rng.permutation(k)[codes[:, j]] for j, k in enumerate(levels)], axis=1).astype(np.int32)
    other = fit_evidence(renamed, levels, reals, label, 3)
    np.testing.assert_allclose(np.exp(other.log_proba(renamed, reals)), p, **CLOSE)


def test_tree_round_trip_and_threads_change_no_byte():
    data = table(n=400, levels=(3, 2, 4, 3, 2, 2, 3))
    models = [fit_evidence(*data, 3, n_jobs=k, regions=[(0, 1)]) for k in (1, 1, 2)]
    p = [model.log_proba(data[0], data[2]).tobytes() for model in models]
    assert p[0] == p[1] == p[2]
    again = Evidence.from_tree(models[0].to_tree())
    assert again.log_proba(data[0], data[2]).tobytes() == p[0]
    plain = json.dumps(models[0].to_tree(), default=lambda a: a.tolist())  # arrays and plain values, nothing else
    assert "linear" in plain


def test_many_rows_use_a_sample_for_variances_only():
    data, (codes, _, reals, label) = table(n=3000, n_classes=2), table(1, n=3000, n_classes=2)
    small = Settings(hyper_rows=600)
    sampled = [fit_evidence(*data, 2, settings=small, rng=np.random.default_rng(s)) for s in (0, 0, 1)]
    p = [model.log_proba(codes, reals) for model in [*sampled, fit_evidence(*data, 2)]]
    np.testing.assert_array_equal(p[0], p[1])
    assert not np.array_equal(p[0], p[2])
    loss = [-q[np.arange(3000), label].mean() for q in p]
    assert max(loss) < loss[3] + 0.01


def test_a_wide_table_of_noise_is_left_to_single_attributes():
    rng = np.random.default_rng(0)
    codes, test = rng.integers(0, 2, (400, 60)).astype(np.int32), rng.integers(0, 2, (2000, 60)).astype(np.int32)
    label, truth = ((rng.random(len(c)) < 0.2 + 0.6 * (c[:, 0] == 1)).astype(np.int32) for c in (codes, test))
    levels = np.full(60, 2, np.int32)
    losses = []
    for order in (1, 3):
        settings = Settings(max_attributes=order)
        model = fit_evidence(codes, levels, np.zeros((400, 0)), label, 2, settings=settings)
        losses.append(-model.log_proba(test, np.zeros((2000, 0)))[np.arange(2000), truth].mean())
    assert losses[1] < losses[0] + 0.01


def test_gains_by_chance_raise_the_threshold():
    rng = np.random.default_rng(0)
    gain = np.log(0.1 / rng.random(2000))  # of noise, a share 0.1 exp(-t) is above t
    gains = Gains(np.zeros((2000, 2), np.int32), gain, np.ones(2000, np.int32), np.ones(2000), 2000)
    assert (gain > gains.worth_having(2.0)).sum() <= 3
    gain[:100] = 6.0
    found = gain > gains.worth_having(2.0)
    assert found[:100].all() and found[100:].sum() <= 100
    assert gains.worth_having(7.0) >= 7.0


def test_weighted_quantiles_equal_numpy_on_repeated_values():
    rng = np.random.default_rng(0)
    x, k = np.sort(rng.normal(size=30)), rng.integers(1, 5, 30)
    shares = np.arange(1, 8) / 8
    np.testing.assert_allclose(weighted_quantiles(x, k.astype(float), shares), np.quantile(np.repeat(x, k), shares))


def test_complete_columns_of_weight_one_are_learnt_as_any_other():
    rng = np.random.default_rng(1)
    reals = np.column_stack([rng.normal(size=90), rng.integers(0, 3, 90), np.full(90, 7.0), 1e300 * rng.normal(size=90),
                             np.append(np.zeros(89), 1.0)])  # fmt: skip
    whole = learn_numerics(reals, np.ones(90), 8, 600)
    each = learn_numerics(np.column_stack([reals, np.append(np.nan, reals[1:, 0])]), np.ones(90), 8, 0)  # a hole
    assert whole.column.tolist() == each.column.tolist()[:-1]
    for name in ("middle", "mean", "spread", "average"):
        np.testing.assert_allclose(getattr(whole, name), getattr(each, name)[:-1], rtol=1e-9, atol=1e-12, err_msg=name)
    n = whole.cut_first[-1]
    assert each.cut_first[: len(whole) + 1].tolist() == whole.cut_first.tolist()
    np.testing.assert_allclose(whole.cuts, each.cuts[:n], rtol=1e-12)
    np.testing.assert_allclose(whole.above, each.above[:n], rtol=1e-12, atol=1e-15)


def test_constant_and_empty_numeric_columns_are_left_out():
    reals = np.array([[1.0, np.nan, 3.0], [1.0, np.nan, 4.0], [1.0, np.nan, np.nan]])
    numerics = learn_numerics(reals, np.ones(3), 8, 600)
    assert numerics.column.tolist() == [2]
    assert np.isfinite(numerics.products(reals)).all()


ODD = {
    "one class seen": lambda c, lv, x, y: (c, lv, x, np.zeros_like(y), 2),
    "one class": lambda c, lv, x, y: (c, lv, x, np.zeros_like(y), 1),
    "five rows": lambda c, lv, x, y: (c[:5], lv, x[:5], y[:5], 3),
    "one row": lambda c, lv, x, y: (c[:1], lv, x[:1], y[:1], 3),
    "constant columns": lambda c, lv, x, y: (np.zeros_like(c), lv, np.ones_like(x), y, 3),
    "one column": lambda c, lv, x, y: (c[:, :1].copy(), lv[:1], x[:, :0], y, 3),
    "no columns": lambda c, lv, x, y: (c[:, :0].copy(), lv[:0], x[:, :0], y, 3),
    "separable": lambda c, lv, x, y: (np.repeat(y[:, None], 4, axis=1), 0 * lv + 3, y[:, None] * [1.0, 1e6], y, 3),
    "thirty classes": lambda c, lv, x, y: (c[:90], lv, x[:90], (np.arange(90) % 30).astype(np.int32), 30),
    "huge numbers": lambda c, lv, x, y: (c, lv, 1e300 * x, y, 3),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ODD)
def test_odd_tables_have_finite_answers(name):
    codes, levels, reals, label, n_classes = ODD[name](*table())
    model = fit_evidence(np.ascontiguousarray(codes), levels, reals, label, n_classes, regions=())
    check_evidence(model, levels, reals.shape[1], n_classes)
    p = np.exp(model.log_proba(codes, reals))
    assert p.shape == (len(codes), n_classes)
    assert np.isfinite(model.log_proba(codes, reals)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    if name == "separable":
        assert p[np.arange(len(label)), label].min() > 0.9
    empty = np.full_like(codes[:2], -1)
    assert np.isfinite(model.log_proba(empty, np.full((len(empty), reals.shape[1]), np.nan))).all()


def test_thousands_of_levels_and_weights_of_zero():
    rng = np.random.default_rng(0)
    n = 1500
    levels = np.array([10_000, 3, 10_000], np.int32)
    codes = np.stack([rng.integers(0, k, n) for k in levels], axis=1).astype(np.int32)
    label = ((codes[:, 1] == 1) ^ (rng.random(n) < 0.1)).astype(np.int32)
    weight = (rng.random(n) < 0.8).astype(float)
    model = fit_evidence(codes, levels, np.zeros((n, 0)), label, 2, weight)
    p = np.exp(model.log_proba(codes, np.zeros((n, 0))))
    assert -np.log(p[np.arange(n), label][weight == 0]).mean() < 0.5
    with pytest.raises(ValueError, match="weight 0"):
        fit_evidence(codes, levels, np.zeros((n, 0)), label, 2, np.zeros(n))


def test_without_averaging_the_best_stage_is_the_model():
    data, fresh = table(n=800, n_classes=2), table(1, n=2000, n_classes=2)
    pool, one = (fit_evidence(*data, 2, regions=[(1, 3)], settings=Settings(averaging=a)) for a in (True, False))
    assert len(pool.stages) > 2 and len(one.stages) == 1 and one.stage_weight.tolist() == [1.0]
    mine = next(stage for stage in pool.stages if stage.name == one.stages[0].name)
    assert mine.w.tobytes() == one.stages[0].w.tobytes()
    assert set(one.cells) == {key for key in one.stages[0].keys if not isinstance(key[0], str)}
    losses = [
        -log_softmax(z)[np.arange(2000), fresh[3]].mean() for z in pool.stage_logits(fresh[0], fresh[2])
    ]
    own = -log_softmax(one.stage_logits(fresh[0], fresh[2])[0])[np.arange(2000), fresh[3]].mean()
    assert own < min(losses) + 0.01 < max(losses)
    why = one.explain(fresh[0], fresh[2])
    np.testing.assert_allclose(why.pooling, 0.0, atol=1e-5)


def test_a_search_that_is_cut_short_says_so():
    data = table(n=300, levels=(2,) * 12)
    assert fit_evidence(*data, 3).omitted == Omitted()
    few_pairs = fit_evidence(*data, 3, settings=Settings(max_candidates=20)).omitted
    # with 300 rows, 30 pairs can be looked at in 200 of them: those of eight columns, 28
    assert len(few_pairs.columns) == 12 - 8 and len(few_pairs.pairs) == 28 - 20 and few_pairs.n_rows == 214
    assert few_pairs.n_regions == 66 - 20
    few_triples = fit_evidence(*data, 3, settings=Settings(max_triples=20)).omitted
    assert len(few_triples.triples_over) > 0 and not few_triples.columns and not len(few_triples.pairs)
    assert few_triples.n_regions == 12 * len(few_triples.triples_over)


def test_a_stop_leaves_out_stages_but_not_the_regions_already_found():
    data = table(n=300, levels=(2,) * 12)
    stopped = fit_evidence(*data, 3, regions=[(1, 3)], stop=lambda: True)
    assert [stage.name for stage in stopped.stages] == ["linear", "path"]
    left = ["numerics", "quadratic", "naive", "class", "pairs", "triples", "beyond", "all pairs"]
    assert stopped.omitted.stages == left
    assert (1, 3) in stopped.stages[1].keys
    whole = [stage.name for stage in fit_evidence(*data, 3, regions=[(1, 3)]).stages]
    assert "path" not in whole  # regions that the search can find itself are for a stop
    for asked in range(12):  # also between the parts of a search
        calls = iter(range(asked))
        part = fit_evidence(*data, 3, regions=[(1, 3)], stop=lambda calls=calls: next(calls, None) is None)
        names = [stage.name for stage in part.stages]
        assert names[0] == "linear" and (names[-1] == "path") == bool(part.omitted.stages)
        assert set(whole) <= {*names, *part.omitted.stages} and not set(names) & set(part.omitted.stages)
