"""`python -m benchmarks`: everything; `python -m benchmarks speed`, `synthetic` or `tables`: one of them."""

import sys

from benchmarks import aclass_speed, aclass_synthetic, aclass_tables

ALL = {"speed": aclass_speed.main, "synthetic": aclass_synthetic.main, "tables": aclass_tables.main}

if __name__ == "__main__":
    for name in sys.argv[1:2] or ALL:
        print(f"==== {name}", flush=True)
        ALL[name](sys.argv[2:])
