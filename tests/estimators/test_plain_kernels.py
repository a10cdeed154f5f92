"""Without a compiler all estimators work and say the same."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

CHILD = Path(__file__).with_name("plain_child.py")


def test_plain_kernels_give_the_answers_of_the_native_ones(tmp_path):
    found = {}
    for backend in ("native", "reference"):
        path = tmp_path / f"{backend}.npz"
        words = [sys.executable, "-W", "ignore", str(CHILD), str(path)]
        environment = os.environ | {"PARTITA_BACKEND": backend}
        child = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=1800)
        assert child.stdout.split() == [backend], child.stderr
        found[backend] = dict(np.load(path))
    for name, answer in found["native"].items():
        np.testing.assert_allclose(found["reference"][name], answer, rtol=1e-6, atol=1e-6, err_msg=name)
