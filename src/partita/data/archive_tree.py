"""The tree of an archive as JSON: what JSON cannot say is an object with one key, a tag; arrays are set apart.

A tree is made of dict, list, tuple, None, bool, int, float, str, NumPy arrays (of any dtype without Python objects) and
NumPy scalars, exactly those types: what comes back is what went in, so a subclass is refused rather than flattened.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_MAX_DEPTH = 100  # of nesting: a tree that can be written can always be read, whatever the recursion limit allows
_MAX_DTYPE = 9_000  # characters of a dtype's description; NumPy refuses to read npy headers over 10,000
_SAFE_INT = 2**53  # beyond it other JSON readers round, so larger integers are written in hexadecimal
_INLINE_KINDS = "biufcmM"  # dtype kinds of NumPy scalars kept inside the header


class ArchiveError(ValueError):
    """A file that cannot be read as, or a tree that cannot be written to, a partita archive."""


def encode(node: Any, arrays: list[np.ndarray], place: tuple[Any, ...] = (), depth: int = 0) -> Any:
    """JSON twin of a node; its arrays are appended to `arrays` and referred to by number.

    `place` is where the node stands, for errors: its key or index, after the place of its parent.
    """
    if depth > _MAX_DEPTH:
        raise ArchiveError(
            f"{_spell(place)} is nested more than {_MAX_DEPTH} deep (or contains itself); flatten the tree"
        )
    kind = type(node)
    if node is None or kind is bool or kind is str:
        return node
    if kind is int:
        return node if abs(node) < _SAFE_INT else {"int": hex(node)}
    if kind is float:
        return node if math.isfinite(node) else {"float": repr(node)}
    if kind is list or kind is tuple:
        items = [encode(item, arrays, (place, i), depth + 1) for i, item in enumerate(node)]
        return items if kind is list else {"tuple": items}
    if kind is dict:
        values = [encode(value, arrays, (place, key), depth + 1) for key, value in node.items()]
        if all(type(key) is str for key in node):
            return {"dict": dict(zip(node, values))}
        keys = [encode(key, arrays, (place, key), depth + 1) for key in node]
        return {"items": [list(pair) for pair in zip(keys, values)]}
    if isinstance(node, np.generic):
        return _encode_scalar(node, arrays, place)
    if kind is np.ndarray or kind is np.memmap:
        return {"array": _add_array(np.asarray(node), arrays, place)}
    raise ArchiveError(
        f"{_spell(place)} is a {kind.__module__}.{kind.__qualname__}, which an archive cannot hold; convert it to "
        "dict, list, tuple, None, bool, int, float, str, a NumPy scalar or a NumPy array"
    )


def _spell(place: tuple[Any, ...]) -> str:
    """A place as an expression: ((), "a"), 3 is tree['a'][3]."""
    return f"{_spell(place[0])}[{place[1]!r}]" if place else "tree"


def _encode_scalar(node: np.generic, arrays: list[np.ndarray], place: tuple[Any, ...]) -> Any:
    # Not through an array, nor by str(), either of which would strip trailing zeros.
    if isinstance(node, np.str_):
        return {"scalar": ["str", str.__str__(node)]}
    if isinstance(node, np.bytes_):
        return {"scalar": ["bytes", bytes(node).hex()]}
    if node.dtype.kind in _INLINE_KINDS:
        return {"scalar": [node.dtype.str, node.tobytes().hex()]}
    return {"element": _add_array(np.asarray(node), arrays, place)}


def _add_array(array: np.ndarray, arrays: list[np.ndarray], place: tuple[Any, ...]) -> int:
    if array.dtype.hasobject:
        raise ArchiveError(
            f"{_spell(place)} is an array of dtype {array.dtype}, which only pickle could store; convert it first, "
            "for example with .astype(str) or .astype(float)"
        )
    if len(repr(array.dtype.descr)) > _MAX_DTYPE or not repr(array.dtype.descr).isascii():
        raise ArchiveError(
            f"{_spell(place)} has a dtype with too many or non-ASCII field names; store its fields one by one"
        )
    arrays.append(array)
    return len(arrays) - 1


def decode(node: Any, arrays: dict[int, np.ndarray]) -> Any:
    """The node that `encode` turned into JSON, with the arrays of the file by number."""
    if isinstance(node, list):
        return [decode(item, arrays) for item in node]
    if not isinstance(node, dict):
        return node
    ((tag, value),) = node.items()
    match tag:
        case "dict":
            return {key: decode(item, arrays) for key, item in value.items()}
        case "items":
            return {decode(key, arrays): decode(item, arrays) for key, item in value}
        case "tuple":
            return tuple(decode(item, arrays) for item in value)
        case "int":
            return int(value, 16)
        case "float":
            return float(value)
        case "array":
            return arrays[value]
        case "element":
            return arrays[value][()]
        case "scalar":
            return _decode_scalar(*value)
    raise ValueError(f"unknown tag {tag!r}")


def _decode_scalar(kind: str, text: str) -> np.generic:
    if kind == "str":
        return np.str_(text)
    if kind == "bytes":
        return np.bytes_(bytes.fromhex(text))
    dtype = np.dtype(kind)
    if dtype.kind not in _INLINE_KINDS:
        raise ValueError(f"a scalar of dtype {dtype}")
    (value,) = np.frombuffer(bytes.fromhex(text), dtype)
    return value
