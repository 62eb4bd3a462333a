"""The commands about jobs and their options: to begin one, to look what is missing, to run it."""

from __future__ import annotations

from typing import Annotated

import typer

from cedr.cli.reporting import reported


def new(
    *,
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file or folder of CSV, JSON Lines or Parquet.")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="FILE", help="The job file; by default the name of the data.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write over what is there.")] = False,
) -> None:
    """Write a job file to start from, after a look at your data."""
    with reported():
        from cedr.cli.beginning import new_job

        new_job(data, to, replace=replace)


def doctor(
    *,
    job: Annotated[str | None, typer.Argument(metavar="[JOB]", help="A job file, to check what it needs.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="A.B=VALUE", help="A setting instead of that of the file; may be repeated."),
    ] = None,
) -> None:
    """Say what is missing here and how to get it: packages, Java, servers; exit status 1 if a job lacks something."""
    with reported():
        from cedr.cli.beginning import examine

        raise typer.Exit(examine(job, settings or []))


def run(
    *,
    job: Annotated[str, typer.Argument(metavar="JOB", help="A job file, in TOML.")],
    once: Annotated[bool, typer.Option("--once", help="Read the sources to their end, emit all, and end.")] = False,
    available: Annotated[
        bool, typer.Option("--available", help="Read what is there now; the next run goes on.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="A.B=VALUE", help="A setting instead of that of the file; may be repeated."),
    ] = None,
    view: Annotated[
        bool | None,
        typer.Option("--view/--no-view", help="The live view; by default on a terminal.", show_default=False),
    ] = None,
    log: Annotated[str | None, typer.Option("--log", metavar="FORMAT", help="Log each batch: text or json.")] = None,
    metrics_port: Annotated[
        int | None, typer.Option("--metrics-port", metavar="PORT", help="Measures for Prometheus; 0 is any free port.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Run a job: sources, queries and outputs as its file says, exactly once whatever crashes."""
    with reported():
        from cedr.cli.running import Choices, run_file

        mode = "once" if once else "available" if available else None
        run_file(job, mode, settings or [], Choices(quiet, view, log, metrics_port))
