"""Benchmarks: accuracy and speed against peers, as ratios within one run. One thread unless a benchmark says
otherwise.
"""

import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Splits and simulated matrices of the published experiments lie beside their scripts.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "papers"))
