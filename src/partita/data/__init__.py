"""Tables: one encoding of any input into codes and reals, the schema that remembers it, and the way back."""

from partita.data.decode import decode
from partita.data.encode import encode, learn_schema
from partita.data.kinds import KINDS
from partita.data.labels import encode_labels
from partita.data.schema import Column, Schema
from partita.data.table import Table
from partita.data.validate import DataWarning, check_parameters

__all__ = [
    "KINDS",
    "Column",
    "DataWarning",
    "Schema",
    "Table",
    "check_parameters",
    "decode",
    "encode",
    "encode_labels",
    "learn_schema",
]
