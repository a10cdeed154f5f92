"""The command line as a user meets it: words in; exit code, what is printed and what is complained of out."""

from partita.cli import main


def run(capsys, *words):
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err
