"""Members of the vote: temperatures and weights from leave-one-out densities."""

import numpy as np
import pytest

from partita.models.mixtures import vote
from partita.models.mixtures.vote import DENSITIES, POSTERIORS, Member

EVEN = np.log(np.full(2, 0.5))


def densities(rng, n, sharpness, error):
    """Log densities of two classes, `sharpness` apart, on the wrong side for a share `error` of the rows."""
    y = rng.integers(0, 2, n)
    wrong = rng.random(n) < error
    side = np.where(wrong, 1 - y, y)
    logp = np.zeros((3, n, 2))
    logp[:, np.arange(n), side] = sharpness
    return logp + 0.01 * rng.normal(size=logp.shape), y


def test_probabilities_and_the_two_rules():
    logp, _ = densities(np.random.default_rng(0), 50, 2.0, 0.1)
    for rule in (POSTERIORS, DENSITIES):
        p = vote.answer(Member(0, rule), logp, EVEN)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    one = vote.answer(Member(0, POSTERIORS), logp[:1], EVEN)
    np.testing.assert_allclose(one, vote.answer(Member(0, DENSITIES), logp[:1], EVEN), rtol=1e-12)


def test_overconfidence_is_taken_back():
    rng = np.random.default_rng(1)
    logp, y = densities(rng, 400, 12.0, 0.2)
    members = vote.choose_members(logp, y, EVEN, np.zeros(3, int))
    assert all(m.temperature < 0.3 for m in members)
    p = vote.combine(members, logp, np.zeros(3, int), EVEN)
    loss = -np.log(p[np.arange(400), y]).mean()
    assert loss < 0.55 < -np.log(vote.answer(Member(0, DENSITIES), logp, EVEN)[np.arange(400), y] + 1e-12).mean()


def test_too_little_confidence_is_believed_of_posteriors_and_in_part_of_densities():
    rng = np.random.default_rng(4)
    logp, y = densities(rng, 2000, 0.7, 0.1)  # 90 % are right, and the densities say 67 %
    by_rule = {m.rule: m.temperature for m in vote.choose_members(logp, y, EVEN, np.zeros(3, int))}
    right = np.log(9.0) / 0.7  # what makes odds of 9 to 1 of them; beyond the highest temperature considered
    assert 1.5 < by_rule[POSTERIORS] < right
    share = np.log(by_rule[DENSITIES]) / np.log(by_rule[POSTERIORS])
    assert share == pytest.approx(vote.BELIEVED[DENSITIES] / vote.BELIEVED[POSTERIORS], abs=0.05)


def test_a_hopeless_kind_is_left_out_and_weights_sum_to_one():
    rng = np.random.default_rng(2)
    good, y = densities(rng, 400, 3.0, 0.05)
    bad = rng.normal(size=good.shape)
    kind = np.repeat([0, 1], 3)
    members = vote.choose_members(np.concatenate([good, bad]), y, EVEN, kind)
    assert {m.kind for m in members} == {0}
    assert sum(m.weight for m in members) == pytest.approx(1.0)


def test_kinds_that_are_alike_share_the_vote():
    rng = np.random.default_rng(3)
    a, y = densities(rng, 200, 2.0, 0.15)
    members = vote.choose_members(np.concatenate([a, a]), y, EVEN, np.repeat([0, 1], 3))
    weight = {k: sum(m.weight for m in members if m.kind == k) for k in (0, 1)}
    assert weight[0] == pytest.approx(weight[1], abs=0.02)


def test_nothing_to_choose_from_gives_the_plain_density():
    members = vote.choose_members(np.zeros((2, 0, 2)), np.zeros(0, int), EVEN, np.zeros(2, int))
    assert [(m.rule, m.temperature, m.weight) for m in members] == [(DENSITIES, 1.0, 1.0)]
