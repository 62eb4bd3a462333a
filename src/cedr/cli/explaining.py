"""``cedr explain``: what will a query do, and what will it cost?"""

from __future__ import annotations

import json
from collections.abc import Sequence

import typer

from cedr.cli.checking import compiled
from cedr.cli.reporting import report
from cedr.hosts.event_types import read_types
from cedr.hosts.queries import choose, parse_level
from cedr.model.level import MIDDLE
from cedr.plan.explain import explain


def explain_file(name: str, event: str | None, catalogs: Sequence[str], level: str | None, *, as_json: bool) -> None:
    """Explain a query of a file, or all of them."""
    asked = None if level is None else parse_level(level)
    program, _ = compiled(name, read_types(catalogs))
    report(program.warnings)
    last = choose(program, event)
    queries = list(program.queries.values()) if event is None else [last]
    for number, query in enumerate(queries):
        explanation = explain(query.plan, asked or query.consistency or MIDDLE)
        if as_json:
            typer.echo(json.dumps(explanation.as_data(), ensure_ascii=False))
        else:
            typer.echo(("\n" if number else "") + explanation.as_text())
