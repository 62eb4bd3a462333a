"""The graph of a catalog as text: trees for the terminal, and Mermaid.

Paper: Section 3 (queries compose).  Reading: R43.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cedr.hosts.catalog_graph import CatalogGraph, Edge, GraphOutput, Operator

_NAMED = 6
"""So many queries are named where an operator is shared by more."""


def text_of(graph: CatalogGraph) -> str:
    """A tree for each output.  What is read twice has a number, and is written out once."""
    return "\n".join([graph.note, *_Trees(graph).lines()])


def names_of(names: Sequence[str]) -> str:
    """Some queries by name, and how many more there are."""
    left = len(names) - _NAMED
    return ", ".join(names) if left <= 1 else f"{', '.join(names[:_NAMED])} and {left} more"


class _Trees:
    def __init__(self, graph: CatalogGraph) -> None:
        self._graph = graph
        self._operators = {each.number: each for each in graph.operators}
        edges = [*(edge for each in graph.operators for edge in each.inputs), *(each.input for each in graph.outputs)]
        origins = [edge.origin for edge in edges]
        self._twice = {each.number for each in graph.operators if origins.count(each.number) > 1}
        self._shown: dict[int, int] = {}
        """The number in the text of what was written out, and will be named by it."""

    def lines(self) -> Iterator[str]:
        several = self._graph.runs > 1
        for output in self._graph.outputs:
            yield ""
            yield f"{output} (run {output.run + 1})" if several else str(output)
            yield from self._below(output.input, (output.number,), 1)

    def _below(self, edge: Edge, known: tuple[int, ...], depth: int) -> Iterator[str]:
        """What comes by an edge, and all below it; ``known``: the outputs that share what reads it, as was said."""
        margin = "  " * depth
        if isinstance(edge.origin, str):
            yield margin + edge.words.replace("…", edge.origin)
            return
        operator = self._operators[edge.origin]
        if operator.number in self._shown:
            yield f"{margin}[{self._shown[operator.number]}] {edge.words.replace('…', operator.words[0])}, as above"
            return
        if operator.number in self._twice:
            self._shown[operator.number] = len(self._shown) + 1
        yield margin + self._line(operator, edge, known)
        for part in operator.inputs:
            yield from self._below(part, operator.outputs, depth + 1)

    def _line(self, operator: Operator, edge: Edge, known: tuple[int, ...]) -> str:
        number = f"[{self._shown[operator.number]}] " if operator.number in self._shown else ""
        words = "; ".join((edge.words.replace("…", operator.words[0]), *operator.words[1:]))
        if operator.outputs == known or not operator.shared:
            return number + words
        return f"{number}{words} -- in {names_of(self._graph.names(operator))}"


# -- Mermaid ----------------------------------------------------------------------------------------------------------

_STYLES = ("classDef shared fill:#d3efe4,stroke:#00845f,stroke-width:3px", "classDef query stroke:#0072b2")


def mermaid_of(graph: CatalogGraph) -> str:
    """A flowchart from event types to queries; what several outputs share is in the class ``shared``."""
    types = {name: f"t{number}" for number, name in enumerate(graph.types, 1)}
    lines = ["flowchart LR", *(f'{id_}(["{_quoted(name)}"])' for name, id_ in types.items())]
    for run in sorted({output.run for output in graph.outputs}):
        inner = [f'o{each.number}["{_broken(each.words)}"]' for each in graph.operators if each.run == run]
        if graph.runs > 1:
            inner = [f'subgraph r{run + 1} ["run {run + 1}"]', *(f"  {each}" for each in inner), "end"]
        lines += inner
    lines += [f'q{each.number}[["{_broken(_title(each))}"]]' for each in graph.outputs]
    lines += [_arrow(edge, f"o{each.number}", types) for each in graph.operators for edge in each.inputs]
    lines += [_arrow(each.input, f"q{each.number}", types) for each in graph.outputs]
    lines += _STYLES
    if graph.shared:
        lines.append(f"class {','.join(f'o{each.number}' for each in graph.shared)} shared")
    if graph.outputs:
        lines.append(f"class {','.join(f'q{each.number}' for each in graph.outputs)} query")
    return "\n".join([lines[0], *(f"  {each}" for each in lines[1:])])


def _title(output: GraphOutput) -> tuple[str, str]:
    return output.query, str(output.level)


def _arrow(edge: Edge, to: str, types: dict[str, str]) -> str:
    origin = types[edge.origin] if isinstance(edge.origin, str) else f"o{edge.origin}"
    return f'{origin} -->|"{_quoted(edge.label)}"| {to}' if edge.label else f"{origin} --> {to}"


def _broken(words: Sequence[str]) -> str:
    return "<br/>".join(map(_quoted, words))


def _quoted(text: str) -> str:
    """A text as it stands between quotes: what Mermaid, Markdown or HTML would read is written by its number."""
    plain = " ".join(text.split())
    return "".join(f"#{ord(each)};" if each in '"#&<>`*_~\\|;' else each for each in plain)
