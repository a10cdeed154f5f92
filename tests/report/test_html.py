import base64
import re
import sys

import numpy as np
import pandas as pd
import pytest

from partita import AClass
from partita.report.html import fit_and_report, render_report


def outside_references(page):
    """Addresses that a browser would fetch."""
    found = re.findall(r"""(?:src|href)=["']([^"']*)""", page) + re.findall(r"url\(([^)]*)\)", page)
    return [address for address in found if not address.startswith("data:")]


def test_report_of_a_mixture_is_whole_and_self_contained(mixture, clusters):
    page = render_report(mixture, clusters[0], "my <table>")
    assert "my &lt;table&gt;" in page and outside_references(page) == []
    assert all(name in page for name in clusters[0].columns) and "How many groups?" in page
    assert "Can the probabilities be believed?" not in page


def test_report_of_a_classifier_has_calibration_on_rows_not_seen(clusters):
    X, cluster = clusters
    y = pd.Series(np.where(cluster, "left", "right"))
    model = AClass(n_filters=2, n_sweeps=5, random_state=0)
    page = fit_and_report(model, X, y, "t")
    assert model.n_rows_seen_ == 90 and "On 30 rows that the model has not seen" in page
    png = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", page)[1])
    assert png.startswith(b"\x89PNG") and outside_references(page) == []


def test_few_or_missing_labels_are_not_held_out(clusters):
    X, cluster = clusters
    y = pd.Series(np.where(cluster, "left", "right"), dtype=object)
    y[30:] = None
    model = AClass(n_filters=2, n_sweeps=5, random_state=0)
    page = fit_and_report(model, X, y)
    assert model.n_rows_seen_ == 120 and "not seen" not in page


def test_the_missing_extra_is_named(mixture, clusters, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"partita\[report\]"):
        render_report(mixture, clusters[0])
