"""The graph of a catalog shows the operators that run, and as shared what the dataflow shares.

Paper: Section 3 (queries compose) and Section 5, Figure 7.  Readings: R32, R43, R44.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cedr
from cedr.consistency.emitter import Output
from cedr.consistency.pipeline import Pipeline
from cedr.hosts.catalog_graph import CatalogGraph, graph_of_pipeline
from cedr.language.syntax import File
from cedr.model.level import MIDDLE, STRONG, WEAK
from cedr.plan.compile import compile_file
from cedr.plan.logical import Node
from cedr.runtime.dataflow.dataflow import Alias
from cedr.runtime.operators.source import Source
from cedr.testing import strategies as some
from tests.drawing.samples import SVG

TYPES = "TYPE A (k INTEGER); TYPE B (k INTEGER); TYPE C (k INTEGER);"
PAIRS = "EVENT Pairs WHEN SEQUENCE(A AS a, B AS b, 9) WHERE CorrelationKey(k, EQUAL) OUTPUT a.k AS k;"
SAME = "EVENT Same WHEN SEQUENCE(A AS a, B AS b, 9) WHERE CorrelationKey(k, EQUAL);"
THEN = "EVENT Then WHEN SEQUENCE(Pairs AS p, C AS c, 9);"
STRICT = "EVENT Strict WHEN SEQUENCE(A AS a, B AS b, 9) WHERE CorrelationKey(k, EQUAL) CONSISTENCY STRONG;"
LONGER = "EVENT Longer WHEN SEQUENCE(A AS a, B AS b, 10) WHERE CorrelationKey(k, EQUAL);"
OTHER = "EVENT Other WHEN SEQUENCE(A AS x, B AS b, 9) WHERE CorrelationKey(k, EQUAL);"

KNOWN = some.small_catalog(revisable=3)
FILES = st.one_of(
    some.patterns(KNOWN, depth=1),
    some.patterns(KNOWN, depth=2),
    some.compositions(KNOWN),
    some.relations(KNOWN),
)


def graph_of(text: str) -> CatalogGraph:
    return cedr.explain(cedr.Catalog(TYPES, text))


def shared(graph: CatalogGraph) -> dict[str, list[str]]:
    """What is shared, by its place in the query, and by whom."""
    return {operator.place: graph.names(operator) for operator in graph.shared}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PAIRS, {}),
        (PAIRS + SAME, {"/SEQUENCE": ["Pairs", "Same"]}),
        (PAIRS + LONGER, {}),
        (PAIRS + OTHER, {}),  # the variable is part of what a row knows of its contributors
        (PAIRS + STRICT, {}),  # another B admits other messages
        (STRICT + STRICT.replace("Strict", "Again"), {"/SEQUENCE": ["Strict", "Again"]}),
        (PAIRS + SAME + LONGER + STRICT, {"/SEQUENCE": ["Pairs", "Same"]}),
    ],
)
def test_what_is_shared(text: str, expected: dict[str, list[str]]) -> None:
    assert shared(graph_of(text)) == expected


def test_a_query_that_others_read_is_shared_with_them() -> None:
    graph = graph_of(PAIRS + THEN)
    assert [graph.names(each) for each in graph.shared] == [["Pairs", "Then"]] * 2
    assert len(graph.operators) == 4
    assert graph.alone == 6
    then = graph.operators[-2]
    assert [edge.label for edge in then.inputs] == ["AS p", "AS c"]
    assert then.inputs[0].origin == graph.outputs[0].input.origin


def test_levels_of_one_query_that_admit_the_same_share_all_of_it() -> None:
    pipeline = pipeline_of([compile_file(cedr.Catalog(TYPES, PAIRS).to_file(), KNOWN).queries["Pairs"].plan] * 3, 3)
    graph = graph_of_pipeline(pipeline, ["Pairs"] * 3)
    assert [graph.names(each) for each in graph.shared] == [["Pairs at MIDDLE", "Pairs at WEAK"]] * 2
    assert graph.runs == 2


def pipeline_of(plans: list[Node], levels: int) -> Pipeline:
    chosen = (MIDDLE, WEAK, STRONG)[:levels]
    return Pipeline([Output(str(of), plan, chosen[of % levels]) for of, plan in enumerate(plans)], (), KNOWN)


@given(st.lists(FILES, min_size=1, max_size=4), st.integers(1, 3))
def test_the_graph_is_the_dataflow(files: list[File], levels: int) -> None:
    """Each operator of the dataflow once, with the outputs that the dataflow counts for it; a copy shares all of it."""
    plans = [query.plan for file in [*files, files[0]] for query in compile_file(file, KNOWN).queries.values()]
    pipeline = pipeline_of(plans, levels)
    names = [f"Q{of}" for of in range(len(plans))]
    graph = graph_of_pipeline(pipeline, names)
    emitters = pipeline._emitters
    runs = [
        (vertex.place, tuple(sorted(emitters.index(e) + 1 for e in run.emitters if e.root in vertex.roots)))
        for run in pipeline._runs
        for vertex in run.dataflow.vertices
        if not isinstance(vertex, Alias) and not isinstance(vertex.operator, Source)
    ]
    assert Counter((each.place, each.outputs) for each in graph.operators) == Counter(runs)
    assert all(
        isinstance(edge.origin, str) or edge.origin < each.number for each in graph.operators for edge in each.inputs
    )
    for output in graph.outputs:
        assert output.level == pipeline.levels[output.number - 1]
    shown(graph)


def shown(graph: CatalogGraph) -> None:
    """Text, Mermaid and the picture have everything in them."""
    text, mermaid = graph.as_text(), graph.as_mermaid()
    written = [line for line in text.splitlines()[1:] if line.startswith("  ") and not line.endswith(", as above")]
    leaves = [line for line in written if re.sub(r"^ *(FIRST|LAST)? *", "", line).split(" ")[0] in graph.types]
    assert len(written) - len(leaves) == len(graph.operators)
    assert len(re.findall(r"^ +o\d+\[", mermaid, re.MULTILINE)) == len(graph.operators)
    edges = sum(len(each.inputs) for each in graph.operators) + len(graph.outputs)
    assert mermaid.count("-->") == edges
    boxes_stand_apart(graph)


def boxes_stand_apart(graph: CatalogGraph) -> None:
    """All boxes are there, inside the picture, and none lies over another."""
    svg = ElementTree.fromstring(graph.draw().svg)
    drawn = [
        box
        for group in svg.iter(f"{SVG}g")
        if group.find(f"{SVG}title") is not None
        for box in group.iter(f"{SVG}rect")
    ]
    assert len(drawn) == len(graph.types) + len(graph.operators) + len(graph.outputs)
    places = [[float(box.get(name) or "nan") for name in ("x", "y", "width", "height")] for box in drawn]
    across, down = float(svg.get("width") or 0), float(svg.get("height") or 0)
    for number, (x, y, wide, high) in enumerate(places):
        assert 0 <= x <= x + wide <= across
        assert 0 <= y <= y + high <= down
        for left, top, wider, higher in places[:number]:
            assert x >= left + wider or left >= x + wide or y >= top + higher or top >= y + high


def test_what_is_drawn_is_escaped() -> None:
    graph = cedr.explain(
        cedr.Catalog('TYPE "A<b>" (k STRING); EVENT "Q""|" WHEN ANY("A<b>" AS a) WHERE a.k <> \'"`#&\'')
    )
    ElementTree.fromstring(graph.draw('<"&').svg)
    mermaid = graph.as_mermaid()
    assert 't1(["A#60;b#62;"])' in mermaid
    assert all(line.count('"') % 2 == 0 and "`" not in line for line in mermaid.splitlines())


def test_a_query_that_comes_later_has_operators_of_its_own() -> None:
    """R44: it must not know what older ones know."""
    catalog = cedr.Catalog(TYPES, PAIRS)
    running = cedr.run(catalog, [{"insert": {"type": "A", "id": "a", "vs": 1, "payload": {"k": 1}}}])
    running.add(SAME)
    assert shared(running.graph()) == {"/SEQUENCE": ["Pairs", "Same"]}  # nothing has come yet
    list(running)
    running.add(LONGER.replace("10", "9"))
    graph = running.graph()
    assert shared(graph) == {"/SEQUENCE": ["Pairs", "Same"]}
    assert [output.query for output in graph.outputs] == ["Pairs", "Same", "Longer"]
    assert [each.place for each in graph.operators].count("/SEQUENCE") == 2


def test_one_level_for_all_and_one_query_alone(tmp_path: Path) -> None:
    catalog = cedr.Catalog(TYPES, PAIRS, STRICT)
    assert len(cedr.explain(catalog).shared) == 0
    assert len(cedr.explain(catalog, consistency="STRONG").shared) == 1
    assert cedr.explain(catalog, event="Strict").query == "Strict"
    data = cedr.explain(catalog).as_data()
    assert data["types"] == ["A", "B"]
    assert data["operators"][0]["inputs"] == [{"type": "A", "as": "AS a"}, {"type": "B", "as": "AS b"}]
    assert [(each["query"], each["level"], each["run"]) for each in data["outputs"]] == [
        ("Pairs", "MIDDLE", 0),
        ("Strict", "STRONG", 1),
    ]
    path = tmp_path / "graph.svg"
    cedr.explain(catalog).draw("Two").save(path)
    assert "Two" in path.read_text("utf-8")


def test_a_catalog_without_queries() -> None:
    graph = cedr.explain(cedr.Catalog(TYPES))
    assert graph.as_text() == "0 queries on 0 event types: 0 operators; none is shared"
    assert graph.as_mermaid().startswith("flowchart LR")
    ElementTree.fromstring(graph.draw().svg)
