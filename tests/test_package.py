"""The package as installed: what its import costs, which kernels it runs on, and that the checkers are content."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import partita

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("pandas", "polars", "matplotlib", "tqdm", "jinja2", "duckdb")


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess:
    inherited = {name: value for name, value in os.environ.items() if name not in ("PARTITA_BACKEND", "PYTHONWARNINGS")}
    # a child writes no byte code, so that its import is timed alike on every run
    return subprocess.run(
        [sys.executable, "-B", "-c", code], env=inherited | environment, capture_output=True, text=True, timeout=900
    )


def test_import_brings_nothing_heavy():
    child = run_python(f"import sys, partita; print([name for name in {HEAVY} if name in sys.modules])")
    assert child.stdout.strip() == "[]", child.stdout + child.stderr


def test_import_is_quick_beyond_what_it_stands_on():
    code = (
        "import numpy, scipy.special, scipy.stats, scipy.optimize, sklearn.base, sklearn.utils.validation, time\n"
        "start = time.process_time()\nimport partita\npartita.AClass, partita.CRPMixture\n"
        "print(time.process_time() - start)"  # of the processor: other work on the machine does not count
    )
    assert any(float(run_python(code).stdout) < 0.5 for _ in range(3))  # ends with the first that is


def test_estimators_bring_no_frames_and_no_pictures():
    code = (
        "import sys, sklearn.base, sklearn.utils.validation\n"  # scikit-learn itself looks for pandas
        "before = set(sys.modules)\nimport partita\npartita.AClass, partita.CRPMixture\n"
        "print(sorted(set(sys.modules) - before))"
    )
    child = run_python(code)
    loaded = set(ast.literal_eval(child.stdout))
    assert "partita.estimators.aclass" in loaded
    assert not loaded & {"pandas", "polars", "matplotlib", "jinja2", "duckdb"}


@pytest.mark.parametrize("name", partita.__all__)
def test_every_exported_name_is_there(name):
    assert getattr(partita, name) is not None
    assert name in dir(partita)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Nonsense"):
        _ = partita.Nonsense


def test_a_misspelt_name_is_guessed():
    said = run_python("import partita; partita.AClas").stderr
    assert "Did you mean: 'AClass'?" in said, said


@pytest.mark.parametrize("name", partita._PLANNED)
def test_a_planned_name_is_told_as_such(name):
    with pytest.raises(AttributeError, match=f"{name}': it is planned, and not in version"):
        getattr(partita, name)
    assert not hasattr(partita, name) and name not in dir(partita)


def test_backend_is_native():
    child = run_python("import partita; print(partita.kernels.BACKEND)")
    assert child.stdout.strip() == "native", child.stderr


def test_backend_can_be_chosen():
    child = run_python("import partita; print(partita.kernels.BACKEND)", PARTITA_BACKEND="reference")
    assert child.stdout.strip() == "reference", child.stderr
    assert "RuntimeWarning" not in child.stderr


def test_an_unknown_backend_is_an_error_that_says_what_is_allowed():
    child = run_python("import partita; partita.kernels", PARTITA_BACKEND="foo")
    assert child.returncode != 0 and "must be 'native' or 'reference', got 'foo'" in child.stderr
    child = run_python("import partita; print(partita.kernels.BACKEND)", PARTITA_BACKEND="")
    assert child.stdout.strip() == "native", child.stderr


def test_a_native_module_that_was_not_built_is_named():
    code = (
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'partita.kernels._native':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hide())\n"
        "import partita\n"
        "partita.kernels\n"
    )
    said = run_python(code).stderr
    assert "No module named 'partita.kernels._native'" in said and "partially initialized" not in said, said


def test_a_missing_native_module_is_told_once():
    code = (
        "import sys, warnings\n"
        "sys.modules['partita.kernels._native'] = None\n"  # None makes the import fail, as where nothing was built
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import partita\n"
        "    import numpy as np\n"
        "    backend = partita.kernels.BACKEND\n"
        "    partita.CRPMixture(n_filters=1, n_sweeps=1, random_state=0).fit(np.eye(4))\n"
        "    from partita import kernels\n"
        "told = [w for w in caught if 'plain Python kernels' in str(w.message)]\n"
        "print(backend, len(told), told[0].category.__name__, 'compiler' in str(told[0].message))"
    )
    child = run_python(code)
    assert child.stdout.split() == ["reference", "1", "RuntimeWarning", "True"], child.stderr


def test_version_is_that_of_the_build():
    from importlib.metadata import version

    assert version("partita") == partita.__version__


@pytest.mark.parametrize("command", [["ruff", "check", "src", "tests", "docs", "examples"], ["mypy"]])
def test_checkers_are_content(command):
    pytest.importorskip(command[0])
    checked = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert checked.returncode == 0, checked.stdout[-4000:] + checked.stderr[-2000:]
