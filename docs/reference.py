"""The reference page, made from the docstrings of everything that `partita` exports."""

from __future__ import annotations

import inspect
from html import escape
from types import ModuleType
from typing import Any

import partita


def make_reference() -> str:
    """HTML of all public names: estimators and displays with their methods, functions, and the data sets."""
    names = [name for name in partita.__all__ if not name.startswith("_") and name not in ("datasets", "kernels")]
    classes = {name: getattr(partita, name) for name in names}
    estimators = [name for name in names if inspect.isclass(classes[name]) and not name.endswith("Display")]
    displays = [name for name in names if name.endswith("Display")]
    functions = [name for name in names if not inspect.isclass(classes[name])]
    parts = ["<h1>Reference</h1>"]
    for title, group in (("Estimators", estimators), ("Save and load", functions), ("Displays", displays)):
        parts.append(f"<h2>{title}</h2>")
        parts += [_entry(name, classes[name]) for name in group]
    parts.append("<h2>Data sets: <code>partita.datasets</code></h2>")
    parts += [_entry(name, getattr(_datasets(), name)) for name in _datasets().__all__]
    return "\n".join(parts)


def public_members(thing: type) -> dict[str, Any]:
    """Methods and properties that Partita itself documents."""
    found = {}
    for name, member in inspect.getmembers(thing):
        if name.startswith("_") or not (inspect.isroutine(member) or isinstance(member, property)):
            continue
        owner = inspect.unwrap(member.fget if isinstance(member, property) else member)
        if getattr(owner, "__module__", "").startswith("partita") and inspect.getdoc(member):
            found[name] = member
    return found


def _datasets() -> ModuleType:
    return partita.datasets


def _entry(name: str, thing: Any) -> str:
    body = f'<section class="entry" id="{name}"><h3>{name}</h3>{_signature(name, thing)}{_text(thing)}'
    if inspect.isclass(thing):
        items = [f"<dt>{_signature(key, m)}</dt><dd>{_text(m)}</dd>" for key, m in public_members(thing).items()]
        body += f"<dl>{''.join(items)}</dl>"
    return body + "</section>"


def _signature(name: str, thing: Any) -> str:
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return f"<code>{name}</code>"
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters if p.name not in ("self", "cls")]
    return f"<code>{escape(name + str(inspect.Signature(bare)))}</code>"


def _text(thing: Any) -> str:
    return f"<pre>{escape(inspect.getdoc(thing) or '')}</pre>"
