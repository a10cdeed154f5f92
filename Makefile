# Set-up is done once: the stamp in .venv is older than what the build depends on only after a change to it.
# With an up-to-date environment no target touches the network.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.partita-ready
BENCH_READY := $(VENV)/.partita-bench-ready
BUILT_FROM := pyproject.toml CMakeLists.txt $(wildcard native/*.cpp native/*.hpp)

.PHONY: demo test test-slow bench lint docs clean
.DELETE_ON_ERROR:

# One thread for BLAS and OpenMP: the small matrices of the tests only lose by more, and chains have threads of their own.
test test-slow bench docs: export OMP_NUM_THREADS := 1
test test-slow bench docs: export OPENBLAS_NUM_THREADS := 1
# Waiting OpenMP threads that spin made a peer's time in the demo ten times its real one on a busy machine.
demo: export OMP_WAIT_POLICY := passive
# Pictures are drawn to files, also where a desktop is running.
test test-slow bench docs demo: export MPLBACKEND := Agg

demo: $(READY)
	$(BIN)/partita demo

# Two processes, a file of tests in one of them: fixtures of a module are made once.
test: $(READY)
	@$(NEED_NATIVE)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

test-slow: $(READY)
	@$(NEED_NATIVE)
	$(BIN)/python -m pytest -m slow $(ARGS)

lint: $(READY)
	$(BIN)/ruff check src tests docs examples papers benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY)
	$(BIN)/python docs/build.py

# Speed and memory by default; another script of benchmarks/ by its name: make bench BENCH=aclass_synthetic
BENCH ?= aclass_speed
bench: $(BENCH_READY)
	$(BIN)/python -m benchmarks.$(BENCH) $(ARGS)

clean:
	rm -rf build dist docs/_build demo-output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

# Where the native kernels cannot be built pip installs the plain ones without a word: then we say so, and the next make tries again.
IS_NATIVE = $(BIN)/python -W ignore -c 'import partita.kernels._native' 2>/dev/null
$(READY): $(BUILT_FROM) | $(BIN)/pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@if $(IS_NATIVE); then touch $@; else \
	  echo "NOTE: the native kernels were not built, so Partita runs on plain Python, hundreds of times slower." >&2; \
	  echo "A C++17 compiler is needed (on Debian: apt-get install g++); install one and run make again. If there is one," >&2; \
	  echo "this shows what went wrong: $(BIN)/python -m pip install --verbose --no-deps --editable ." >&2; fi

# What takes minutes on the native kernels would take hours on their plain twins, unless somebody wants just that.
NEED_NATIVE = [ "$$PARTITA_BACKEND" = reference ] || $(IS_NATIVE) || { \
  echo "The tests need the native kernels, which were not built (see above). To run them for hours on the plain ones:" >&2; \
  echo "PARTITA_BACKEND=reference make $@" >&2; exit 1; }

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,bench]"
	@touch $@

# Debian splits ensurepip off its Python: then pip is borrowed from the system, and where there is none, we say what to do.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Partita needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 \
	  || { rm -rf $(VENV) && $(PYTHON) -m venv --without-pip $(VENV) >/dev/null 2>&1 \
	       && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; } \
	  || { rm -rf $(VENV); \
	       echo "Python cannot make a virtual environment here: its venv module or pip is missing." >&2; \
	       echo "On Debian or Ubuntu: apt-get install python3-venv, then run make again." >&2; exit 1; }
