"""Which states of a run are kept, and which of these are judged by leaving rows out."""

import numpy as np
import pytest

from partita import AClass
from partita.models.mixtures import classifier
from partita.models.mixtures.chains import JUDGE_EVERY, KEEP_EVERY, place_among_kept


@pytest.mark.parametrize("n_sweeps", [1, 2, 3, 7, 20, 21, 22, 23, 30])
def test_every_second_state_of_the_second_half_the_last_among_them(n_sweeps):
    places = {step: place_among_kept(step, n_sweeps) for step in range(n_sweeps)}
    kept = [step for step, place in places.items() if place is not None]
    assert kept[-1] == n_sweeps - 1 and kept[0] >= n_sweeps // 2
    assert set(np.diff(kept)) <= {KEEP_EVERY}
    assert [places[step] for step in kept] == list(range(len(kept)))  # so that the first one is judged


def test_some_states_of_every_chain_are_judged_and_all_of_them_answer(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    x = (rng.random((60, 8)) < 0.2 + 0.6 * y[:, None]).astype(float)
    seen = []
    gather = classifier._Crew.gather
    monkeypatch.setattr(classifier._Crew, "gather", lambda self, kept: seen.extend(kept) or gather(self, kept))
    model = AClass(n_sweeps=20, n_filters=3, random_state=0).fit(x, y)
    assert len(model._ensemble.states) == len(seen)
    for chain in {one.chain for one in seen}:
        judged = [one.judged for one in seen if one.chain == chain]
        assert judged == [k % JUDGE_EVERY == 0 for k in range(len(judged))]
