"""Directed acyclic graphs by their parents: order, ancestors, and the cycle that stands in the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Parents = Sequence[Sequence[int]]


def topological_order(parents: Parents) -> list[int]:
    """Nodes such that parents come before their children; ties go to the smaller number. A cycle is a ValueError."""
    waiting = {node: set(of) for node, of in enumerate(parents)}
    children: list[list[int]] = [[] for _ in parents]
    for node, of in enumerate(parents):
        for parent in of:
            children[parent].append(node)
    ready = sorted((node for node, left in waiting.items() if not left), reverse=True)
    order: list[int] = []
    while ready:
        node = ready.pop()
        order.append(node)
        freed = []
        for child in children[node]:
            waiting[child].discard(node)
            if not waiting[child]:
                freed.append(child)
        ready = sorted({*ready, *freed}, reverse=True)
    if len(order) < len(waiting):
        raise ValueError(" -> ".join(map(str, find_cycle(parents))))
    return order


def find_cycle(parents: Parents) -> list[int]:
    """The nodes of one directed cycle, the first repeated at the end; empty where there is none."""
    done: set[int] = set()
    for start in range(len(parents)):
        path: list[int] = []
        on_path: dict[int, int] = {}
        stack: list[tuple[int, bool]] = [(start, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                done.add(node)
                del on_path[path.pop()]
                continue
            if node in on_path:
                # the walk goes from child to parent: backwards it follows the edges
                return [node, *reversed(path[on_path[node] :])]
            if node in done:
                continue
            on_path[node] = len(path)
            path.append(node)
            stack.append((node, True))
            stack += [(parent, False) for parent in parents[node]]
    return []


def ancestors(parents: Parents, nodes: Iterable[int]) -> set[int]:
    """The nodes and everything above them."""
    found: set[int] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += parents[node]
    return found
