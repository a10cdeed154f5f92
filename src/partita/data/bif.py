"""Bayesian networks in the Bayesian interchange format (BIF): text in, plain structures out, and back without loss.

Only what the format says of discrete networks is known: variables with their levels, and one table per variable.
"""

from __future__ import annotations

import gzip
import itertools
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_TOKEN = re.compile(r'"[^"]*"|//[^\n]*|/\*.*?\*/|[{}()\[\]|,;]|[^\s{}()\[\]|,;"]+', re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.+\-<>=/%&*:!?#$@^~']+")


@dataclass(frozen=True)
class BifNetwork:
    """Variables in the file's order.

    name            of the network.
    variables       names; `levels` has the names of each variable's levels.
    parents         of each variable, as positions, in the file's order.
    tables          of each variable: (levels of parent 1, ..., levels of parent p, own levels) probabilities.
    """

    name: str
    variables: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[np.ndarray, ...]


TEXT = "the BIF text"


def read_bif(path: str | os.PathLike[str]) -> BifNetwork:
    """The network of a BIF file, packed or not, or of the text of one. What cannot be read is named with its line."""
    if isinstance(path, str) and "{" in path and "\n" in path:
        return _Reader(path, TEXT).network()
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{os.fspath(path)!r} cannot be read as a BIF file: {error}") from error
    return _Reader(text, os.fspath(path)).network()


def write_bif(network: BifNetwork, path: str | os.PathLike[str]) -> None:
    """Write the network so that `read_bif` gives it back number for number (floats are written in full)."""
    text = bif_text(network)
    if os.fspath(path).endswith(".gz"):
        Path(path).write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    else:
        Path(path).write_text(text, encoding="utf-8")


def bif_text(network: BifNetwork) -> str:
    """The network as a BIF file has it."""
    lines = [f"network {_word(network.name)} {{", "}"]
    for name, levels in zip(network.variables, network.levels):
        listed = ", ".join(map(_word, levels))
        lines += [f"variable {_word(name)} {{", f"  type discrete [ {len(levels)} ] {{ {listed} }};", "}"]
    for child, (parents, table) in enumerate(zip(network.parents, network.tables)):
        name = _word(network.variables[child])
        if not parents:
            lines += [f"probability ( {name} ) {{", f"  table {_numbers(table)};", "}"]
            continue
        given = ", ".join(_word(network.variables[parent]) for parent in parents)
        lines.append(f"probability ( {name} | {given} ) {{")
        for cell in itertools.product(*(range(len(network.levels[parent])) for parent in parents)):
            named = ", ".join(_word(network.levels[parent][k]) for parent, k in zip(parents, cell))
            lines.append(f"  ({named}) {_numbers(table[cell])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _numbers(values: np.ndarray) -> str:
    return ", ".join(repr(float(value)) for value in values)


def _word(name: str) -> str:
    """A name as the format writes it: in quotes where it holds blanks or signs that mean something."""
    if _PLAIN.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    if '"' in name:
        raise ValueError(f"write_bif: the name {name!r} holds a quotation mark, which BIF cannot; rename it")
    return f'"{name}"'


class _Reader:
    """Recursive descent over the tokens; `place` counts them, `lines` says where each began."""

    def __init__(self, text: str, path: str) -> None:
        found = [(match.group(), match.start()) for match in _TOKEN.finditer(text)]
        kept = [(token, start) for token, start in found if not token.startswith(("//", "/*"))]
        self.tokens = [token for token, _ in kept]
        self.starts = [start for _, start in kept]
        self.text = text
        self.path = path
        self.place = 0

    def network(self) -> BifNetwork:
        name = "unknown"
        levels: dict[str, tuple[str, ...]] = {}
        laws: list[tuple[str, list[str], int, int]] = []
        while self.place < len(self.tokens):
            block = self._next()
            if block == "network":
                name = self._name()
                self._skip_block()
            elif block == "variable":
                variable, named = self._variable()
                if variable in levels:
                    raise self._error(f"variable {variable!r} is there twice")
                levels[variable] = named
            elif block == "probability":
                laws.append(self._head())
                self._skip_block()
            else:
                raise self._error(f"{block!r} is none of network, variable and probability")
        return self._assemble(name, levels, laws)

    def _assemble(
        self, name: str, levels: dict[str, tuple[str, ...]], laws: list[tuple[str, list[str], int, int]]
    ) -> BifNetwork:
        position = {variable: k for k, variable in enumerate(levels)}
        parents: dict[int, tuple[int, ...]] = {}
        tables: dict[int, np.ndarray] = {}
        for child, given, start, end in laws:
            self.place = start
            for variable in (child, *given):
                if variable not in position:
                    raise self._error(f"{variable!r} is no variable of the file")
            if position[child] in tables:
                raise self._error(f"variable {child!r} has two tables")
            parents[position[child]] = tuple(position[variable] for variable in given)
            tables[position[child]] = self._table(child, given, levels, end)
        lacking = [variable for variable, k in position.items() if k not in tables]
        if lacking:
            raise ValueError(f"{self.path!r}: variable {lacking[0]!r} has no probability table")
        order = range(len(levels))
        families, laws_of = tuple(parents[k] for k in order), tuple(tables[k] for k in order)
        return BifNetwork(name, tuple(levels), tuple(levels.values()), families, laws_of)

    def _variable(self) -> tuple[str, tuple[str, ...]]:
        name = self._name()
        self._expect("{")
        named: tuple[str, ...] = ()
        while (token := self._next()) != "}":
            if token == "type":
                self._expect("discrete")
                self._expect("[")
                size = self._name()
                self._expect("]")
                self._expect("{")
                named = tuple(self._list("}"))
                if str(len(named)) != size:
                    raise self._error(f"variable {name!r} says {size} levels and lists {len(named)}")
                self._expect(";")
            else:
                self._skip_statement(token)
        if not named or len(set(named)) < len(named):
            raise self._error(f"variable {name!r} has no levels, or one of them twice")
        return name, named

    def _head(self) -> tuple[str, list[str], int, int]:
        """Child, parents, and where the body of the table begins and ends."""
        self._expect("(")
        child = self._name()
        given = self._list(")") if self._peek() == "|" and self._next() else []
        if not given:
            self._expect(")")
        start = self.place
        depth, end = 0, start
        for end in range(start, len(self.tokens)):
            depth += {"{": 1, "}": -1}.get(self.tokens[end], 0)
            if depth == 0:
                break
        return child, given, start, end

    def _table(self, child: str, given: list[str], levels: dict[str, tuple[str, ...]], end: int) -> np.ndarray:
        sizes = [len(levels[variable]) for variable in (*given, child)]
        table = np.full(sizes, np.nan)
        self._expect("{")
        while self.place < end:
            token = self._next()
            if token == "table":
                values = self._floats()
                if len(values) != table.size:
                    raise self._error(f"the table of {child!r} has {len(values)} numbers, not {table.size}")
                table = np.array(values).reshape(sizes)
            elif token == "default":
                table[np.isnan(table).any(axis=-1)] = self._row(child, sizes[-1])
            elif token == "(":
                cell = []
                for variable, level in zip(given, self._list(")"), strict=False):
                    if level not in levels[variable]:
                        raise self._error(f"{level!r} is no level of {variable!r}")
                    cell.append(levels[variable].index(level))
                if len(cell) != len(given):
                    raise self._error(f"a row of the table of {child!r} names {len(cell)} of {len(given)} parents")
                table[tuple(cell)] = self._row(child, sizes[-1])
            else:
                self._skip_statement(token)
        return self._checked(child, table)

    def _checked(self, child: str, table: np.ndarray) -> np.ndarray:
        if np.isnan(table).any():
            raise self._error(f"the table of {child!r} leaves some levels of its parents out")
        total = table.sum(axis=-1, keepdims=True)
        if (table < 0).any() or (np.abs(total - 1) > 1e-2).any():
            raise self._error(f"the table of {child!r} holds a row that is no probability distribution")
        return table

    def _row(self, child: str, size: int) -> list[float]:
        values = self._floats()
        if len(values) != size:
            raise self._error(f"a row of the table of {child!r} has {len(values)} numbers, not {size}")
        return values

    def _floats(self) -> list[float]:
        words = self._list(";")
        try:
            return [float(word) for word in words]
        except ValueError as error:
            raise self._error(f"a table holds something that is no number ({error})") from error

    def _list(self, end: str) -> list[str]:
        items = []
        while (token := self._next()) != end:
            if token != ",":
                items.append(token.strip('"'))
        return items

    def _skip_block(self) -> None:
        self._expect("{")
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self._next(), 0)

    def _skip_statement(self, token: str) -> None:
        while token != ";":  # a property, say
            token = self._next()

    def _peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def _name(self) -> str:
        return self._next().strip('"')

    def _next(self) -> str:
        if self.place >= len(self.tokens):
            raise ValueError(f"{self.path!r} ends in the middle of a block: it is cut off, or no BIF file")
        self.place += 1
        return self.tokens[self.place - 1]

    def _expect(self, wanted: str) -> None:
        token = self._next()
        if token != wanted:
            raise self._error(f"expected {wanted!r}, found {token!r}")

    def _error(self, what: str) -> ValueError:
        where = self.starts[min(self.place, len(self.starts)) - 1] if self.starts else 0
        line = self.text.count("\n", 0, where) + 1
        return ValueError(f"{self.path!r}, line {line}: {what}; mend the file, or have its tool write it anew")
