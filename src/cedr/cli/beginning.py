"""``cedr new`` and ``cedr doctor``: a job file to start from, and what is missing to run it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from cedr.cli.reporting import say
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError, unwritable


def new_job(data: str, to: str | None, *, replace: bool) -> None:
    """Write a job file for data."""
    from cedr.jobs.starter import starter, stem_of

    path = Path(to or f"{stem_of(data)}.toml")
    if path.exists() and not replace:
        hint = "name another with --to, or write over it with --replace"
        raise StreamError(Diagnostic("already-there", f'"{path}" is there already', hint=hint))
    text = starter(data, path.parent)
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise unwritable(path, error) from None
    say(f"{path} is written: look at it, then run it with `cedr run {path}`")


def examine(job: str | None, overrides: Sequence[str]) -> int:
    """Print what is there and what is missing; the exit status."""
    from cedr.jobs.doctor import of_job, of_machine

    findings = of_machine() if job is None else of_job(job, overrides)
    width = max(len(each.what) for each in findings)
    for each in findings:
        mark = "ok     " if each.fine else "missing"
        typer.echo(f"{mark} {each.what:<{width}}  {each.told}".rstrip())
        if not each.fine and each.hint:
            typer.echo(f"        {'':<{width}}  {each.hint}")
    return int(job is not None and not all(each.fine for each in findings))
