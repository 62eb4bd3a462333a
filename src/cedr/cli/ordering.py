"""``cedr check-order``: is a query the same in every order of arrival?"""

from __future__ import annotations

from pathlib import Path

import typer

from cedr.cli.evaluating import Request
from cedr.cli.reporting import WRONG, report
from cedr.cli.show import progress
from cedr.hosts.event_types import read_types
from cedr.testing.order import Counterexample, check_order


def check_order_of(request: Request, *, runs: int, seed: int) -> None:
    """Try deliveries of a file; exit status 1 with the smallest one that shows a broken promise."""
    data = request.given()
    found = check_order(
        Path(request.file),
        data,
        runs,
        seed,
        event=request.event,
        catalog=read_types(request.catalogs),
        host=request.host,
        track=progress,
        **request.data.words,
    )
    report(found.warnings)
    typer.echo(str(found))
    if found.counterexample is not None:
        typer.echo(f"\n{_how_to_see_it(found.counterexample, request)}")
        raise typer.Exit(WRONG)


def _how_to_see_it(found: Counterexample, request: Request) -> str:
    """The lines that show it again, and what to do with them."""
    single = all(len(batch) == 1 for batch in found.batches)
    level = f"--consistency '{found.broken.level}'"
    how = (
        f"cedr trace {request.file} --messages FILE {level}, with these lines in FILE:"
        if single
        else "each line is a batch: cedr.run(query, map(json.loads, lines), …), with these lines:"
    )
    return "\n".join(["to see it again:", how, "", *found.lines])
