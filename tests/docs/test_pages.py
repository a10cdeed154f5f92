"""Pages run, their stored outputs keep their words, and the examples draw."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")


def load_module(path: Path):
    spec = importlib.util.spec_from_file_location(f"partita_{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def draw_to_files():
    import matplotlib

    matplotlib.use("Agg")


pages = load_module(ROOT / "docs" / "pages.py")


@pytest.mark.parametrize("name", pages.PAGES)
def test_page_runs_and_its_outputs_keep_their_words(name, tmp_path):
    stored = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert pages.skeleton(pages.run_page(ROOT / "docs" / name, tmp_path, tmp_path)) == pages.skeleton(stored), (
        "the page prints something else now: read it, then run `make docs`"
    )
    assert all(f"images/{picture.name}" in stored for picture in tmp_path.glob("*.png"))


def test_every_page_is_listed():
    assert sorted(pages.PAGES) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("name", [*(f"docs/{page}" for page in pages.PAGES), "README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(name):
    import re

    path = ROOT / name
    for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
        if "://" not in target and target != "reference.html":  # made by `make docs`
            assert (path.parent / target).exists(), f"{name} links to {target}"


def test_a_failing_block_is_named(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\nx / 0\n```\n", encoding="utf-8")
    with pytest.raises(pages.PageError, match=r"page\.md, line 4: ZeroDivisionError"):
        pages.run_page(page, tmp_path, tmp_path)


def test_changed_words_are_seen_and_changed_numbers_are_not(tmp_path):
    page = tmp_path / "page.md"
    text = "```python\nprint('loss', 0.25)\n```\n\n```output\nloss 0.31\n```\n"
    page.write_text(text, encoding="utf-8")
    ran = pages.run_page(page, tmp_path, tmp_path)
    assert "loss 0.25" in ran
    assert pages.skeleton(ran) == pages.skeleton(text) != pages.skeleton(text.replace("loss 0", "gain 0"))


def test_reference_holds_every_public_name():
    import partita

    reference = load_module(ROOT / "docs" / "reference.py").make_reference()
    for name in partita.__all__:
        if not name.startswith("_") and name not in ("datasets", "kernels"):
            assert f'id="{name}"' in reference
    assert "predict_proba" in reference and "from_estimator" in reference and "load_breast_cancer_holed" in reference
    assert "get_params" not in reference


def test_examples_draw(tmp_path):
    clusters = load_module(ROOT / "examples" / "mixed_clusters.py")
    late = load_module(ROOT / "examples" / "online_labels_late.py")
    board = load_module(ROOT / "examples" / "tic_tac_toe_interactions.py")
    experts = load_module(ROOT / "examples" / "gated_experts.py")
    asking = load_module(ROOT / "examples" / "ask_next.py")
    drawn = clusters.main(tmp_path, n_rows=80, n_sweeps=10), late.main(tmp_path, n_stream=160, size=40)
    drawn = *drawn, board.main(tmp_path, n_boards=600), experts.main(tmp_path, n_rows=90, max_iter=10)
    layers = load_module(ROOT / "examples" / "layered_network.py")
    drawn = *drawn, asking.main(tmp_path, n=16, p=12, n_batches=2, sweeps=10), layers.main(tmp_path, n_sweeps=30)
    for path in drawn:
        assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 10_000
