"""The graph of a catalog as a picture.

Paper: Section 3 (queries compose).  Reading: R43.
"""

from __future__ import annotations

from cedr.drawing.graph import Box, Link, draw_graph
from cedr.drawing.picture import Drawing
from cedr.hosts.catalog_graph import CatalogGraph, Edge, Operator


def drawing_of(graph: CatalogGraph, title: str) -> Drawing:
    """Event types at the left, then the operators, each behind its inputs, and the queries behind theirs."""
    boxes = [Box(f"t{name}", "type", (name,), f"event type {name}") for name in graph.types]
    boxes += [_operator(graph, each) for each in graph.operators]
    boxes += [
        Box(f"q{each.number}", "query", (each.query, f"{each.level}{_run(graph, each.run)}"), str(each))
        for each in graph.outputs
    ]
    links = [_link(edge, f"o{each.number}") for each in graph.operators for edge in each.inputs]
    links += [_link(each.input, f"q{each.number}") for each in graph.outputs]
    return draw_graph(boxes, links, title, graph.note)


def _operator(graph: CatalogGraph, operator: Operator) -> Box:
    account = f"{'; '.join(operator.words)} -- in {', '.join(graph.names(operator))}{_run(graph, operator.run)}"
    return Box(f"o{operator.number}", "shared" if operator.shared else "operator", operator.words, account)


def _run(graph: CatalogGraph, run: int) -> str:
    return f" (run {run + 1})" if graph.runs > 1 else ""


def _link(edge: Edge, end: str) -> Link:
    start = f"t{edge.origin}" if isinstance(edge.origin, str) else f"o{edge.origin}"
    return Link(start, end, edge.label)
