"""A model written to a file and read back is the same model, bit for bit."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import partita
from partita import AClass, CRPMixture, HybridClassifier, load, save
from partita.data.archive import read_archive
from partita.data.schema import Schema

FRAME, Y = mixed_frame()
MODELS = {
    "AClass": AClass(**QUICK),
    "AClass smc": AClass(**QUICK, inference="smc"),
    "AClass paper": AClass(
        inference="smc", n_filters=1, n_particles=4, n_sweeps=0, alpha=1.0, column_prior=0.5, random_state=0
    ),
    "CRPMixture": CRPMixture(**QUICK),
    "CRPMixture smc": CRPMixture(**QUICK, inference="smc"),
    "HybridClassifier": HybridClassifier(AClass(**QUICK), random_state=0),
    "HybridClassifier draws": HybridClassifier(CRPMixture(**QUICK), LogisticRegression(), n_draws=2, random_state=0),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.partita"


def there_and_back(model, path):
    save(model, path)
    return load(path)


def same(a, b, where="model"):
    """Whether two models, or two values in them, are equal in every bit; a NumPy float may have become Python's."""
    assert type(a) is type(b) or (isinstance(a, float) and isinstance(b, float)), where
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, where
        np.testing.assert_array_equal(a, b, err_msg=where)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for k, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{where}[{k}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, np.random.Generator):
        assert a.bit_generator.state == b.bit_generator.state, where
    elif isinstance(a, Schema | float):
        assert a == b or (a != a and b != b), where
    elif hasattr(a, "__dict__"):
        same(vars(a), vars(b), where)
    else:
        assert a == b, where


@pytest.mark.parametrize("name", MODELS)
def test_everything_comes_back(name, path):
    model = MODELS[name].fit(FRAME, Y)
    again = there_and_back(model, path)
    assert again.get_params().keys() == model.get_params().keys() and repr(again) == repr(model)
    same(again, model)
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    assert again.impute(FRAME).equals(model.impute(FRAME))
    assert again.impute(FRAME, n_draws=2)[1].equals(model.impute(FRAME, n_draws=2)[1])


@pytest.mark.parametrize("settings", [{}, {"n_particles": 3}, {"n_sweeps": 0, "n_particles": 3}], ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_loaded_stream_goes_on_as_if_never_saved(cls, settings, path):
    y = np.where(np.arange(len(Y)) % 4 == 1, None, Y)
    kept = cls(**{**QUICK, **settings})
    again = cls(**{**QUICK, **settings})
    for start in range(0, 150, 30):
        rows = slice(start, start + 30)
        for model in (kept, again):
            model.partial_fit(FRAME.iloc[rows], y[rows]) if cls is AClass else model.partial_fit(FRAME.iloc[rows])
        again = there_and_back(again, path)
    same(again, kept)
    np.testing.assert_array_equal(again.score_samples(FRAME), kept.score_samples(FRAME))


def test_a_stream_keeps_the_rule_it_began_with(path):
    X, y = holed_binary()
    model = AClass(**QUICK).partial_fit(X, y).set_params(n_particles=7, n_jobs=2)
    again = there_and_back(model, path)
    assert again.n_particles == 7 and again._ensemble.n_jobs == 2
    same(again.partial_fit(X, y)._online, model.partial_fit(X, y)._online)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1]),
        np.array([False, True]),
        np.array([2.0, 4.0]),
        np.array(["a", "é"]),
        np.array(["a", "b"], object),
    ],
)
def test_classes_of_any_type_come_back(labels, path):
    X, y = holed_binary()
    model = AClass(**QUICK).fit(X, labels[y])
    again = there_and_back(model, path)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    same(again.n_components_posterior_, model.n_components_posterior_)
    same(again.n_components_by_class_, model.n_components_by_class_)


@pytest.mark.parametrize(
    "seed",
    [None, 7, np.int64(7), np.random.default_rng(3), np.random.SeedSequence(5).spawn(2)[1], np.random.RandomState(2)],
    ids=str,
)
def test_seeds_of_any_type_come_back(seed, path):
    X, y = holed_binary()
    model = AClass(**{**QUICK, "random_state": seed}).fit(X, y)
    again = there_and_back(model, path)
    if seed is not None:
        for _ in range(2):
            np.testing.assert_array_equal(again.sample(5)[0], model.sample(5)[0])
        np.testing.assert_array_equal(again.fit(X, y).predict_proba(X), model.fit(X, y).predict_proba(X))


def test_an_unfitted_model_and_its_parameters_come_back(path):
    model = AClass(column_kinds={"a": "count"}, missing_label="?", checkpoint=Path("some/where"), time_budget=2.5)
    again = there_and_back(model, path)
    assert again.get_params() == {**model.get_params(), "checkpoint": str(Path("some/where"))}
    assert not hasattr(again, "schema_")


def test_the_file_says_what_it_is_and_equal_models_give_equal_bytes(path, tmp_path):
    X, y = holed_binary()
    save(AClass(**QUICK).fit(X, y), path)
    save(AClass(**QUICK).fit(X, y), tmp_path / "other")
    assert path.read_bytes() == (tmp_path / "other").read_bytes()
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
        assert not [name for name in archive.namelist() if not name.endswith((".json", ".npy"))]
    assert header["kind"] == "model" and header["library_version"] == partita.__version__
    assert read_archive(path)["class"] == "AClass"
    assert b"sklearn" not in path.read_bytes() and b"pickle" not in path.read_bytes()


def test_a_classifier_that_only_pickle_could_store_is_refused(path):
    X, y = holed_binary()
    model = HybridClassifier(AClass(**QUICK), RandomForestClassifier(3)).fit(X, y)
    with pytest.raises(
        ValueError, match=r"HybridClassifier.discriminative is a sklearn.*RandomForestClassifier.*generative_"
    ):
        save(model, path)
    assert not path.exists()
    save(model.generative_, path)
    np.testing.assert_array_equal(load(path).predict_proba(X), model.generative_.predict_proba(X))


@pytest.mark.parametrize(
    "thing", [5, AClass, RandomForestClassifier(), type("Mine", (AClass,), {"__init__": AClass.__init__})()]
)
def test_only_models_are_saved(thing, path):
    with pytest.raises(ValueError, match=r"model must be one of partita's estimators \(AClass"):
        save(thing, path)
    assert not path.exists()


def test_a_parameter_no_file_can_hold_is_named(path):
    with pytest.raises(ValueError, match=r"AClass.missing_label is a builtins.object, which a file cannot hold"):
        save(AClass(missing_label=object()), path)
