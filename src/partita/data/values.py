"""Values of Python's own types that an archive does not hold as they are: as text and back, by exact type."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

Codec = tuple[Callable[[Any], str], Callable[[str], Any]]

_OWN: dict[type, Codec] = {
    bytes: (bytes.hex, bytes.fromhex),
    date: (date.isoformat, date.fromisoformat),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    time: (time.isoformat, time.fromisoformat),
    timedelta: (lambda x: f"{x.days} {x.seconds} {x.microseconds}", lambda text: timedelta(*map(int, text.split()))),
    Decimal: (str, Decimal),
    Fraction: (str, Fraction),
    UUID: (str, UUID),
    complex: (repr, complex),
}


def _codecs() -> dict[type, Codec]:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return _OWN
    # a zone by its name cannot be told from the offset alone, so such stamps are refused rather than changed
    return {**_OWN, pandas.Timestamp: (pandas.Timestamp.isoformat, pandas.Timestamp)}


def to_text(value: Any) -> tuple[str, str] | None:
    """The name of the value's type and its text, from which `from_text` makes it again; None where there is none."""
    codec = _codecs().get(type(value))
    if codec is None:
        return None
    try:
        text = codec[0](value)
        same = codec[1](text)
    except (TypeError, ValueError):
        return None
    # a date with a zone may come back as the same moment in another zone
    return (type(value).__name__, text) if same == value and repr(same) == repr(value) else None


def from_text(kind: str, text: str) -> Any:
    """The value that `to_text` took apart."""
    if kind == "Timestamp":
        import pandas  # noqa: F401  (the file holds one of its values)
    codec = next(codec for cls, codec in _codecs().items() if cls.__name__ == kind)
    return codec[1](text)
