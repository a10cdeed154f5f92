"""Prior variances that leave-one-out makes larger where a stage nearly separates the classes."""

from __future__ import annotations

import itertools

import numpy as np

from partita.models import evidence_sharpen
from partita.models.evidence import fit_evidence
from partita.models.evidence_map import Target
from partita.models.evidence_sharpen import left_out_loss, worth_sharpening


def rule(n=400, seed=0):
    """A class that a sum of levels decides, without exceptions."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, 4)).astype(np.int32)
    return codes, np.full(4, 4, np.int32), np.zeros((n, 0)), (codes.sum(axis=1) > 5).astype(np.int32)


def loss(model, fresh):
    return -model.log_proba(fresh[0], fresh[2])[np.arange(len(fresh[3])), fresh[3]].mean()


def off(monkeypatch):
    monkeypatch.setattr(evidence_sharpen, "WANTED", np.inf)


def test_a_rule_is_told_more_surely(monkeypatch):
    data, fresh = rule(), rule(3000, 1)
    sharp = fit_evidence(*data, 2)
    off(monkeypatch)
    plain = fit_evidence(*data, 2)
    assert loss(sharp, fresh) < 0.6 * loss(plain, fresh)
    singles = [next(s for s in model.stages if s.name == "singles") for model in (sharp, plain)]
    assert [s.keys for s in singles] == [singles[1].keys] * 2
    times = singles[0].variance / singles[1].variance
    assert np.allclose(times, times[0]) and times[0] >= evidence_sharpen.FACTOR - 1e-9


def test_noise_is_left_as_it_is(monkeypatch):
    codes, levels, reals, y = rule()
    y = (y ^ (np.random.default_rng(2).random(len(y)) < 0.3)).astype(np.int32)
    sharp = fit_evidence(codes, levels, reals, y, 2)
    off(monkeypatch)
    plain = fit_evidence(codes, levels, reals, y, 2)
    for a, b in zip(sharp.stages, plain.stages, strict=True):
        assert a.w.tobytes() == b.w.tobytes()


def test_left_out_logits_stay_near_those_of_refits(monkeypatch):
    """The factor is chosen by them: at the sharpened variances they must still tell what a row without itself gets."""
    codes, levels, reals, y = rule(150)
    kept = {}
    plain = evidence_sharpen.sharpened

    def noted(fit, left_out, target, refit, learn, prior):
        found = plain(fit, left_out, target, refit, learn, prior)
        kept["found"], kept["refit"], kept["target"] = found, refit, target
        return found

    monkeypatch.setattr("partita.models.evidence_stages.sharpened", noted)
    fit_evidence(codes, levels, reals, y, 2)
    fit, answer = kept["found"]
    n = len(answer.left_out)
    assert left_out_loss(answer.left_out, kept["target"]) < left_out_loss(fit.mode.logits, kept["target"]) + 0.2 * n
    own = Target(kept["target"].label, kept["target"].weight, 1)
    assert left_out_loss(answer.left_out, own) >= left_out_loss(fit.mode.logits, own)  # a row helps its own answer


def test_only_stages_that_carry_an_unsure_pool_are_tried():
    share = np.array([0.05, 0.6, 0.35])
    assert worth_sharpening(share, 1.1).tolist() == [] and worth_sharpening(share, 2.0).tolist() == [1, 2]


def test_all_rows_of_a_rule_with_two_attributes():
    cells = np.array(list(itertools.product(range(3), range(3))) * 12, np.int32)
    y = (cells[:, 0] == cells[:, 1]).astype(np.int32)
    model = fit_evidence(cells, np.full(2, 3, np.int32), np.zeros((len(cells), 0)), y, 2)
    assert loss(model, (cells, None, np.zeros((len(cells), 0)), y)) < 0.01
