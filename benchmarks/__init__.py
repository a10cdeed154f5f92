"""Benchmarks: accuracy and speed against peers, as ratios within one run. One thread unless a benchmark says
otherwise.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
