"""Networks in BIF files: read, written without loss, and damaged ones named with their line."""

import gzip

import numpy as np
import pytest

from partita.data.bif import BifNetwork, bif_text, read_bif, write_bif

TEXT = """
network "holiday trip" { property author x; }
variable rain { type discrete [ 2 ] { no, yes }; property weight = 1; } // a comment
variable "mood of day" { type discrete [3] { "very good", fair, <=3 }; }
/* two
   lines */
probability ( rain ) { table 0.7, 0.3; }
probability ( "mood of day" | rain ) {
  (no) 0.6, 0.3, 0.1;
  (yes) 1e-1, .2, 0.7;
}
"""


def written(tmp_path, text):
    file = tmp_path / "net.bif"
    file.write_text(text)
    return file


def test_reads_names_quotes_comments_and_properties(tmp_path):
    network = read_bif(written(tmp_path, TEXT))
    assert network.name == "holiday trip"
    assert network.variables == ("rain", "mood of day")
    assert network.levels == (("no", "yes"), ("very good", "fair", "<=3"))
    assert network.parents == ((), (0,))
    np.testing.assert_array_equal(network.tables[1], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])


def test_default_rows_and_whole_tables(tmp_path):
    text = TEXT.replace("(no) 0.6, 0.3, 0.1;", "default 0.5, 0.25, 0.25;")
    np.testing.assert_array_equal(read_bif(written(tmp_path, text)).tables[1][0], [0.5, 0.25, 0.25])
    body = TEXT[: TEXT.index("(no)")] + "table 0.6, 0.3, 0.1, 0.1, 0.2, 0.7; }"
    np.testing.assert_array_equal(read_bif(written(tmp_path, body)).tables[1][1], [0.1, 0.2, 0.7])


@pytest.mark.parametrize("name", ["net.bif", "net.bif.gz"])
def test_a_network_comes_back_number_for_number(tmp_path, name):
    rng = np.random.default_rng(0)
    tables = (rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(2), size=(3, 2)))
    network = BifNetwork("n", ("a", "b c", "d"), (("0", "1"), ("x", "y z", "w"), ("u", "v")), ((), (), (1, 0)), tables)
    write_bif(network, tmp_path / name)
    again = read_bif(tmp_path / name)
    assert (again.variables, again.levels, again.parents) == (network.variables, network.levels, network.parents)
    for table, other in zip(network.tables, again.tables):
        np.testing.assert_array_equal(table, other)
    assert bif_text(again) == bif_text(network)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[ 2 ]", "[ 3 ]", "says 3 levels and lists 2"),
        ("table 0.7, 0.3", "table 0.7, 0.2, 0.1", "has 3 numbers, not 2"),
        ("table 0.7, 0.3", "table 0.7, 0.9", "no probability distribution"),
        ("table 0.7, 0.3", "table 0.7, many", "no number"),
        ("(yes) 1e-1, .2, 0.7;", "", "leaves some levels"),
        ("(yes)", "(maybe)", "'maybe' is no level of 'rain'"),
        ("| rain", "| snow", "'snow' is no variable"),
        ("variable rain", "variably rain", "none of network, variable and probability"),
    ],
)
def test_damage_is_named(tmp_path, old, new, said):
    assert old in TEXT
    with pytest.raises(ValueError, match=said):
        read_bif(written(tmp_path, TEXT.replace(old, new)))


def test_files_that_end_early_or_are_none(tmp_path):
    with pytest.raises(ValueError, match="ends in the middle"):
        read_bif(written(tmp_path, TEXT[:60]))
    with pytest.raises(ValueError, match="cannot be read"):
        read_bif(tmp_path / "absent.bif")
    (tmp_path / "cut.bif.gz").write_bytes(gzip.compress(TEXT.encode())[:40])
    with pytest.raises(ValueError, match="cannot be read"):
        read_bif(tmp_path / "cut.bif.gz")


@pytest.mark.data
def test_published_networks_are_read_and_written_without_loss(tmp_path, published_data):
    files = sorted((published_data / "networks").glob("*.bif.gz"))
    assert len(files) == 15
    for file in files:
        network = read_bif(file)
        write_bif(network, tmp_path / file.name.removesuffix(".gz"))
        again = read_bif(tmp_path / file.name.removesuffix(".gz"))
        assert again.parents == network.parents and again.levels == network.levels
        assert all((a == b).all() for a, b in zip(again.tables, network.tables))


def test_text_instead_of_a_path(tmp_path):
    from_text, from_file = read_bif(TEXT), read_bif(written(tmp_path, TEXT))
    assert from_text.variables == from_file.variables and from_text.parents == from_file.parents
    with pytest.raises(ValueError, match="the BIF text"):
        read_bif(TEXT.replace("0.7, 0.3", "0.7, x"))
