"""The graph of the queries of a catalog: event types, operators and outputs, and who shares which operator.

Paper: Section 3 (queries compose) and Section 5, Figure 7.  Readings: R32, R43.  The graph is read off the dataflow
that runs the queries, which is built without data: so what is shown as shared is what runs once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from cedr.consistency.emitter import Output
from cedr.consistency.pipeline import Pipeline
from cedr.expression.render import quote_name
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.plan.compile import Program
from cedr.plan.describe import below, line
from cedr.plan.logical import Node, Rename
from cedr.runtime.dataflow.dataflow import Alias, Vertex

if TYPE_CHECKING:
    from cedr.drawing.picture import Drawing


@dataclass(frozen=True, slots=True)
class Edge:
    """What flows into an operator or an output."""

    origin: str | int
    """The event type by its name, or the operator by its number."""
    words: str = "…"
    """How the pattern writes it: its variable and its modes, with … for what it stands for."""

    @property
    def label(self) -> str:
        """The same without what it stands for."""
        return " ".join(self.words.replace("…", " ").split())


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that runs: once, for all outputs that need it."""

    number: int
    words: tuple[str, ...]
    """What it does: the operators of the plan that are one here, from the top down."""
    place: str
    inputs: tuple[Edge, ...]
    outputs: tuple[int, ...]
    """The outputs that need it, by their numbers."""
    run: int
    """Operators of different runs admit different messages, and share nothing."""

    @property
    def shared(self) -> bool:
        """Whether several outputs need it."""
        return len(self.outputs) > 1


@dataclass(frozen=True, slots=True)
class GraphOutput:
    """A query at a level."""

    number: int
    query: str
    level: ConsistencyLevel
    input: Edge
    run: int

    def __str__(self) -> str:
        return f"{self.query} at {self.level}"


@dataclass(frozen=True, slots=True)
class CatalogGraph:
    """The queries of a catalog as one graph: ``as_text``, ``as_mermaid``, ``as_data``, and ``draw`` for a picture."""

    types: tuple[str, ...]
    operators: tuple[Operator, ...]
    """Inputs first."""
    outputs: tuple[GraphOutput, ...]

    @property
    def shared(self) -> tuple[Operator, ...]:
        """The operators that several outputs share."""
        return tuple(operator for operator in self.operators if operator.shared)

    @property
    def alone(self) -> int:
        """How many operators there would be if each output had its own."""
        return sum(len(operator.outputs) for operator in self.operators)

    @property
    def runs(self) -> int:
        """How many sets of operators there are that admit different messages.  Reading: R33."""
        return len({output.run for output in self.outputs})

    @property
    def note(self) -> str:
        """The counts."""
        queries, types = len({output.query for output in self.outputs}), len(self.types)
        shared, alone = len(self.shared), self.alone
        saved = f"; {shared} shared, {alone} if each output had its own" if shared else "; none is shared"
        runs = f"; {self.runs} runs, which share none" if self.runs > 1 else ""
        read = f"{_counted(queries, 'query', 'queries')} on {_counted(types, 'event type')}"
        return f"{read}: {_counted(len(self.operators), 'operator')}{saved}{runs}"

    def names(self, operator: Operator) -> list[str]:
        """The queries that need an operator; with their levels where one has several."""
        levels: dict[str, int] = {}
        for output in self.outputs:
            levels[output.query] = levels.get(output.query, 0) + 1
        found = [self.outputs[number - 1] for number in operator.outputs]
        return [str(output) if levels[output.query] > 1 else output.query for output in found]

    def as_text(self) -> str:
        """A tree for each output; what was shown before is named by its number."""
        from cedr.hosts.graph_text import text_of

        return text_of(self)

    def as_mermaid(self) -> str:
        """A flowchart as Mermaid writes it: Markdown pages of many tools show it as a picture."""
        from cedr.hosts.graph_text import mermaid_of

        return mermaid_of(self)

    def draw(self, title: str = "") -> Drawing:
        """A picture of it, as SVG."""
        from cedr.hosts.graph_drawing import drawing_of

        return drawing_of(self, title)

    def _repr_svg_(self) -> str:
        return self.draw().svg

    def as_data(self) -> dict[str, Any]:
        """The graph as plain data; operators and outputs are known by their numbers."""
        return {
            "types": list(self.types),
            "operators": [
                {
                    "number": each.number,
                    "does": list(each.words),
                    "place": each.place,
                    "inputs": [_edge(edge) for edge in each.inputs],
                    "outputs": list(each.outputs),
                    "run": each.run,
                }
                for each in self.operators
            ],
            "outputs": [
                {
                    "number": each.number,
                    "query": each.query,
                    "level": str(each.level),
                    "input": _edge(each.input),
                    "run": each.run,
                }
                for each in self.outputs
            ],
        }

    def __str__(self) -> str:
        return self.as_text()


def graph_of(program: Program, names: Sequence[str], level: ConsistencyLevel | None = None) -> CatalogGraph:
    """The graph of some queries of a program as one pipeline runs them, at their own levels or at one for all."""
    chosen = [program.queries[name] for name in names]
    outputs = [Output(query.name, query.plan, level or query.consistency or MIDDLE) for query in chosen]
    return graph_of_pipeline(Pipeline(outputs, (), program.types), names)


def graph_of_pipeline(pipeline: Pipeline, names: Sequence[str]) -> CatalogGraph:
    """The graph of what runs in a pipeline; ``names`` has the query of each output."""
    roots = pipeline.roots()
    needed: dict[Vertex, list[int]] = {}
    for number, (_, root) in enumerate(roots, 1):
        for vertex in root.vertices:
            needed.setdefault(vertex, []).append(number)
    running = [vertex for vertex in needed if vertex.inputs and not isinstance(vertex, Alias)]
    numbers = {vertex: number for number, vertex in enumerate(running, 1)}
    operators = [_operator(vertex, numbers, needed[vertex], roots[needed[vertex][0] - 1][0]) for vertex in running]
    outputs = [
        GraphOutput(number, name, level, _edge_from(root.vertex, "…", numbers), run)
        for number, (name, level, (run, root)) in enumerate(zip(names, pipeline.levels, roots, strict=True), 1)
    ]
    edges = chain(*(each.inputs for each in operators), (each.input for each in outputs))
    types = dict.fromkeys(edge.origin for edge in edges if isinstance(edge.origin, str))
    return CatalogGraph(tuple(types), tuple(operators), tuple(outputs))


def _operator(vertex: Vertex, numbers: Mapping[Vertex, int], outputs: Sequence[int], run: int) -> Operator:
    covered = list(_covered(vertex.node, [part.node for part in vertex.inputs]))
    words = tuple(line(node) for node, mode in covered if not mode)
    modes = (mode for _, mode in covered if mode)
    inputs = tuple(_edge_from(part, mode, numbers) for part, mode in zip(vertex.inputs, modes, strict=True))
    return Operator(numbers[vertex], words, vertex.place, inputs, tuple(outputs), run)


def _covered(node: Node, inputs: Sequence[Node]) -> Iterator[tuple[Node, str]]:
    """The nodes that one operator evaluates, from the top down, and in their places its inputs with their modes."""
    yield node, ""
    for part, mode in below(node):
        if part in inputs:
            yield part, mode
        else:
            yield from _covered(part, inputs)


def _edge_from(vertex: Vertex, mode: str, numbers: Mapping[Vertex, int]) -> Edge:
    """What comes from a vertex: a variable is a name for the rows of what it stands for."""
    words = mode
    while isinstance(vertex, Alias) and isinstance(vertex.node, Rename):
        words = words.replace("…", f"… AS {quote_name(vertex.node.variable)}", 1)
        (vertex,) = vertex.inputs
    return Edge(numbers.get(vertex, vertex.relation.stream), words)


def _edge(edge: Edge) -> dict[str, Any]:
    kind = "type" if isinstance(edge.origin, str) else "operator"
    return {kind: edge.origin, "as": edge.label}


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"
