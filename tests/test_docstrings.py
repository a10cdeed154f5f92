"""The examples in the docstrings of everything public run and print what they say."""

import doctest
import importlib

import pytest

import partita

MODULES = sorted({where for where in partita._WHERE.values() if where.startswith("estimators.")})


@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
@pytest.mark.parametrize("where", MODULES)
def test_examples_run(where):
    module = importlib.import_module(f"partita.{where}")
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0 and outcome.failed == 0
