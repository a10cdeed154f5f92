import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import run

from partita.datasets import make_mixed_clusters

FAST = ["--quiet", "--sweeps", "3"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    X, cluster = make_mixed_clusters(90, 2, missing=0.15, random_state=0)
    X.to_csv(folder / "plain.csv", index=False)
    X.assign(who=np.where(cluster, "left", "right")).to_csv(folder / "classes.csv", index=False)
    return folder


def test_describe(capsys, tables):
    code, out, _ = run(capsys, "describe", tables / "plain.csv", "--drop", "member", "--kind", "visits=real")
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert code == 0 and lines["visits"][1] == "real" and "member" not in lines and lines["colour"][1] == "categorical"


def test_fit_predict_with_a_target(capsys, tables, tmp_path):
    model, out = tmp_path / "m.partita", tmp_path / "p.csv"
    code, said, _ = run(capsys, "fit", tables / "classes.csv", "--target", "who", "--output", model, *FAST)
    assert code == 0 and "left, right" in said and model.exists()
    code, said, err = run(capsys, "predict", model, tables / "classes.csv", "--output", out)
    assert code == 0 and "who" in err  # the column that the model does not know is named
    answer, truth = pd.read_csv(out), pd.read_csv(tables / "classes.csv")
    assert list(answer.columns) == ["prediction", "probability of left", "probability of right"]
    assert np.allclose(answer.iloc[:, 1:].sum(axis=1), 1) and (answer["prediction"] == truth["who"]).mean() > 0.8


def test_predict_append_keeps_the_table(capsys, tables, tmp_path):
    model, out = tmp_path / "m.partita", tmp_path / "p.parquet"
    assert run(capsys, "fit", tables / "plain.csv", "--output", model, *FAST)[0] == 0
    assert run(capsys, "predict", model, tables / "plain.csv", "--append", "--output", out)[0] == 0
    answer = pd.read_parquet(out)
    assert list(answer.columns)[-2:] == ["group", "log_density"] and len(answer.columns) == 7
    assert np.isfinite(answer["log_density"]).all()


@pytest.mark.parametrize("with_model", [False, True])
def test_impute_fills_holes_and_nothing_else(capsys, tables, tmp_path, with_model):
    out, inputs = tmp_path / "filled.csv", [tables / "plain.csv"]
    if with_model:
        run(capsys, "fit", tables / "plain.csv", "--output", tmp_path / "m.partita", *FAST)
        inputs.insert(0, tmp_path / "m.partita")
    code, _, err = run(capsys, "impute", *inputs, "--output", out, *([] if with_model else FAST))
    before, after = (pd.read_csv(path) for path in (tables / "plain.csv", out))
    assert code == 0, err
    assert not after.isna().any().any() and list(after.columns) == list(before.columns)
    for name in before:
        seen = before[name].notna()
        given, kept = before.loc[seen, name], after.loc[seen, name]
        if pd.api.types.is_float_dtype(given):  # reading a number from text may be off in the last bit
            np.testing.assert_allclose(kept, given, rtol=1e-14)
        else:
            assert (kept.astype(str) == given.astype(kept.dtype).astype(str)).all()


def test_impute_keeps_the_target_column_in_its_place(capsys, tables, tmp_path):
    out = tmp_path / "filled.csv"
    assert run(capsys, "impute", tables / "classes.csv", "--target", "who", "--output", out, *FAST)[0] == 0
    before, after = pd.read_csv(tables / "classes.csv"), pd.read_csv(out)
    assert list(after.columns) == list(before.columns) and after["who"].equals(before["who"])


def test_report_writes_a_page(capsys, tables, tmp_path):
    page = tmp_path / "r.html"
    assert run(capsys, "report", tables / "classes.csv", "--target", "who", "--output", page, *FAST)[0] == 0
    assert "classes.csv" in page.read_text() and "calibration error" in page.read_text()


def test_report_of_a_saved_model(capsys, tables, tmp_path):
    model, page = tmp_path / "m.partita", tmp_path / "r.html"
    assert run(capsys, "fit", tables / "classes.csv", "--target", "who", "--output", model, *FAST)[0] == 0
    code, _, err = run(capsys, "report", model, "--output", page)
    assert code == 2 and "holds a saved model" in err and "FILE" in err and not page.exists()
    code, _, err = run(capsys, "report", model, tables / "plain.csv", "--output", page)
    assert code == 0 and "plain.csv" in page.read_text() and "calibration error" not in page.read_text(), err
    assert run(capsys, "report", model, tables / "classes.csv", "--target", "who", "--output", page)[0] == 0
    assert "On 90 rows of this table" in page.read_text() and "not seen" not in page.read_text()
    code, _, err = run(capsys, "report", model, tables / "classes.csv", "--model", "tan", "--output", page)
    assert code == 2 and "--model" in err
    code, _, err = run(capsys, "report", model, tables / "classes.csv", "--target", "colour", "--output", page)
    assert code == 2 and "'left', 'right'" in err
    code, _, err = run(capsys, "report", model, tables / "plain.csv", "--output", model)
    assert code == 2 and ".html" in err


def test_same_seed_same_file_for_any_number_of_jobs(capsys, tables, tmp_path):
    for jobs in (1, 2):
        run(capsys, "impute", tables / "plain.csv", "--jobs", jobs, "--output", tmp_path / f"{jobs}.csv", *FAST)
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["describe", "nowhere.csv"], "nowhere.csv"),
        (["describe", "TABLE", "--drop", "agee"], "--drop agee"),
        (["describe", "TABLE", "--kind", "visits"], "COL=KIND"),
        (["describe", "TABLE", "--kind", "visits=integer"], "'integer'"),
        (["fit", "TABLE", "--target", "nobody", "--output", "m"], "--target nobody"),
        (["fit", "TABLE", "--model", "aclass", "--output", "m"], "--target"),
        (["fit", "TABLE", "--model", "tan", "--output", "m"], "--model tan needs --target"),
        (["fit", "TABLE", "--model", "kikuchi", "--target", "colour", "--sweeps", "3", "--output", "m"], "--sweeps"),
        (["impute", "TABLE", "--model", "kikuchi", "--target", "colour", "--output", "o.csv"], "cannot fill cells"),
        (["fit", "TABLE", "--model", "crp", "--target", "colour", "--output", "m"], "crp takes no target"),
        (["fit", "TABLE", "--sweeps", "-1", "--output", "m"], "n_sweeps"),
        (["predict", "TABLE", "TABLE", "--output", "p.csv"], "partita file"),
        (["reproduce", "no-such-figure"], "no-such-figure"),
    ],
)
def test_errors_are_one_clear_line(capsys, tables, tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *[tables / "plain.csv" if word == "TABLE" else word for word in words], "--quiet")
    assert code == 2 and err.startswith("partita: error: ") and expected in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "output", "expected"),
    [
        (["fit", "TABLE"], "nowhere/m.partita", "nowhere"),
        (["fit", "TABLE"], ".", "folder"),
        (["impute", "TABLE"], "o.xlsx", ".xlsx"),
        (["impute", "TABLE"], "nowhere/o.csv", "nowhere"),
        (["predict", "MODEL", "TABLE"], "o.xlsx", ".xlsx"),
        (["report", "TABLE"], "nowhere/r.html", "nowhere"),
        (["report", "TABLE"], "r.pdf", ".html"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_before_the_work(
    capsys, tables, tmp_path, monkeypatch, words, output, expected
):
    def work(*args, **kwargs):
        raise AssertionError("the table was read before the output was looked at")

    for command in ("fit", "impute", "predict", "report"):
        monkeypatch.setattr(f"partita.cli.{command}.open_frame", work)
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *[tables / "plain.csv" if word == "TABLE" else word for word in words], "--output",
                       output, "--quiet")  # fmt: skip
    assert code == 2 and expected in err and output in err and len(err.splitlines()) == 1


def test_a_column_of_text_may_be_numbers_in_the_next_file(capsys, tmp_path):
    rng = np.random.default_rng(0)
    code_of_row = rng.choice(["1", "2", "3", "x"], 120)
    frame = pd.DataFrame({"code": code_of_row, "who": np.where(np.isin(code_of_row, ["1", "x"]), "left", "right")})
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame[frame["code"] != "x"].to_csv(tmp_path / "later.csv", index=False)
    model, out = tmp_path / "m.partita", tmp_path / "p.csv"
    assert run(capsys, "fit", tmp_path / "train.csv", "--target", "who", "--output", model, *FAST)[0] == 0
    assert run(capsys, "predict", model, tmp_path / "later.csv", "--append", "--output", out)[0] == 0
    answer = pd.read_csv(out)
    assert (answer["prediction"] == answer["who"]).all()


def test_debug_shows_the_traceback(capsys):
    code, _, err = run(capsys, "describe", "nowhere.csv", "--debug")
    assert code == 2 and "Traceback" in err


def test_reproduce_lists_and_runs(capsys, tmp_path, monkeypatch):
    from partita.cli import reproduce

    (tmp_path / "papers").mkdir()
    (tmp_path / "pyproject.toml").write_text('name = "partita"\n')
    (tmp_path / "papers" / "shared_part.py").write_text("VALUE = 3\n")
    (tmp_path / "papers" / "some_fig1.py").write_text(
        '"""Figure 1 of some paper."""\nfrom shared_part import VALUE\n\n\ndef main(quick, output):\n'
        '    (output / "fig1.txt").write_text(f"{quick} {VALUE}")\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproduce.partita, "__file__", str(tmp_path / "a" / "b" / "c" / "__init__.py"))
    code, out, _ = run(capsys, "reproduce")
    assert code == 0 and "some-fig1" in out and "Figure 1 of some paper." in out and "shared" not in out
    assert run(capsys, "reproduce", "some-fig1", "--quick", "--output", tmp_path / "out")[0] == 0
    assert (tmp_path / "out" / "fig1.txt").read_text() == "True 3"


def test_demo_writes_picture_and_page(capsys, tmp_path):
    code, out, err = run(capsys, "demo", "--quiet", "--output", tmp_path / "demo")
    assert code == 0 and err == "" and (tmp_path / "demo" / "demo.png").read_bytes().startswith(b"\x89PNG")
    rows = {line[:26].strip(): line[26:].split() for line in out.splitlines()}
    assert float(rows["Partita AClass"][0]) < float(rows["naive Bayes + mean"][0])
    page = (tmp_path / "demo" / "demo.html").read_text()
    assert str(tmp_path / "demo" / "demo.html") in out and "Held-out" in page and "Points on the dashed line" in page


def test_module_and_help_run_without_loading_the_models():
    code = (
        "import sys; sys.argv = ['partita', '--help']\n"
        "try:\n    import runpy; runpy.run_module('partita', run_name='__main__')\n"
        "except SystemExit as end:\n    assert end.code == 0\n"
        "assert 'sklearn' not in sys.modules and 'pandas' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "reproduce" in done.stdout, done.stderr


def test_nothing_that_is_read_is_written_over(capsys, tables, tmp_path):
    table = tmp_path / "t.csv"
    text = (tables / "classes.csv").read_text()
    table.write_text(text)
    (tmp_path / "thesis.txt").write_text("years of work")
    assert run(capsys, "fit", table, "--target", "who", "--output", tmp_path / "m.partita", *FAST)[0] == 0
    for words in (
        ["fit", table, "--target", "who", "--output", table, *FAST],
        ["predict", tmp_path / "m.partita", table, "--output", table],
        ["impute", table, "--output", table, *FAST],
    ):
        code, _, err = run(capsys, *words)
        assert code != 0 and "it is read here" in err
    code, _, err = run(capsys, "fit", table, "--target", "who", "--output", tmp_path / "thesis.txt", *FAST)
    assert code != 0 and "no model" in err
    assert table.read_text() == text and (tmp_path / "thesis.txt").read_text() == "years of work"
    assert run(capsys, "fit", table, "--target", "who", "--output", tmp_path / "m.partita", *FAST)[0] == 0


def test_codes_stay_as_they_are_written(capsys, tmp_path):
    table, model, out = tmp_path / "z.csv", tmp_path / "m.partita", tmp_path / "f.csv"
    lines = [f"{line},{age}\n" for age, line in enumerate(["01234,3", ",4", "00501,"] * 9)]
    table.write_text("".join(["zip,code,age\n", *lines]))
    kind = ["--kind", "code=categorical"]
    assert run(capsys, "fit", table, "--output", model, *kind, *FAST)[0] == 0
    for words in ([table, *kind, *FAST], [model, table, "--quiet"]):
        assert run(capsys, "impute", *words, "--output", out)[0] == 0
        filled = pd.read_csv(out, dtype=str)
        assert set(filled["zip"]) == {"01234", "00501"} and set(filled["code"]) == {"3", "4"}
    code, said, _ = run(capsys, "impute", table, "--target", "zip", "--output", out, *kind, *FAST)
    assert code == 0 and "9 left in the target 'zip'" in said
