"""``cedr explain``: what will a query do, what will it cost, and what do several queries share?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from cedr.cli.checking import compiled
from cedr.cli.reporting import report, say
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.catalog import Catalog
from cedr.hosts.event_types import read_types
from cedr.hosts.queries import choose, parse_level, types_for
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.plan.compile import Program, compile_file
from cedr.plan.explain import explain

FORMATS = ("text", "mermaid", "json")
"""How the graph of queries is printed."""


@dataclass(frozen=True, slots=True)
class Printing:
    """What is printed, and how."""

    as_json: bool
    format: str | None
    """The graph alone, in this format."""
    draw: str | None


def explain_files(
    names: Sequence[str], event: str | None, catalogs: Sequence[str], level: str | None, printing: Printing
) -> None:
    """Explain the queries of some files, or one of them: of several the graph first, then each by itself."""
    if printing.format not in (None, *FORMATS):
        detail = f"formats: {', '.join(FORMATS)}"
        raise HostError(Diagnostic("unknown-format", f'there is no format "{printing.format}"', detail=detail))
    asked = None if level is None else parse_level(level)
    program = _compiled(names, catalogs)
    report(program.warnings)
    last = choose(program, event)
    chosen = list(program.queries) if event is None else [last.name]
    drawn = printing.format is not None or printing.draw is not None
    if drawn or (len(chosen) > 1 and not printing.as_json):
        _show_graph(program, chosen, asked, printing)
    if printing.format is None:
        for number, name in enumerate(chosen):
            query = program.queries[name]
            explanation = explain(query.plan, asked or query.consistency or MIDDLE)
            if printing.as_json:
                typer.echo(json.dumps(explanation.as_data(), ensure_ascii=False))
            else:
                typer.echo(("\n" if number else "") + explanation.as_text())


def _compiled(names: Sequence[str], catalogs: Sequence[str]) -> Program:
    """The queries of one file or folder, or of several as one catalog."""
    known = read_types(catalogs)
    if len(names) == 1:
        program, _ = compiled(names[0], known)
        return program
    file = Catalog(known, *map(Path, names)).to_file()
    return compile_file(file, types_for(file, known))


def _show_graph(program: Program, chosen: Sequence[str], level: ConsistencyLevel | None, printing: Printing) -> None:
    from cedr.hosts.catalog_graph import graph_of  # it builds the operators: one query is explained without

    graph = graph_of(program, chosen, level)
    if printing.draw is not None:
        picture = graph.draw(", ".join(chosen))
        picture.save(printing.draw)
        say(f"{printing.draw}: {picture.note}")
    if printing.format == "mermaid":
        typer.echo(graph.as_mermaid())
    elif printing.format == "json":
        typer.echo(json.dumps(graph.as_data(), ensure_ascii=False))
    elif printing.format == "text" or (len(chosen) > 1 and not printing.as_json):
        typer.echo(graph.as_text() + ("" if printing.format else "\n"))
