"""The commands and their options.  What they do stands in the modules beside this one, imported when called."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cedr.cli.describing import Data, describes_data
from cedr.cli.job_commands import doctor, new, run
from cedr.cli.reporting import reported

app = typer.Typer(
    name="cedr",
    help="Consistent streaming through time: check, explain and evaluate event queries.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Catalogs = Annotated[
    list[str] | None, typer.Option("--catalog", metavar="FILE", help="A file of TYPE statements; may be repeated.")
]
Event = Annotated[str | None, typer.Option("--event", metavar="NAME", help="The query to take, by its name.")]
Level = Annotated[
    str | None,
    typer.Option(
        "--consistency",
        metavar="LEVEL",
        help="STRONG, MIDDLE, WEAK or 'BLOCKING duration MEMORY duration', instead of what the query says.",
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--consistency", metavar="LEVEL", help="A level, instead of what the query says; may be repeated to compare."
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="HOST",
        help="Who evaluates: local (the default), oracle, with eval also spark.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print data, one JSON object a line.")]
QueryFile = Annotated[str, typer.Argument(metavar="FILE", help="A file of queries; - is standard input.")]


def _version(*, asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def _cedr(
    *,
    _: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=lambda asked: _version(asked=asked)),
    ] = False,
) -> None:
    """Consistent streaming through time: check, explain and evaluate event queries."""


@app.command()
def check(
    *,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Files of queries; - is standard input.")],
    catalog: Catalogs = None,
    as_json: AsJson = False,
) -> None:
    """Check queries; errors are shown with their place, exit status 1."""
    with reported():
        from cedr.cli.checking import check_files

        check_files(files, catalog or [], as_json=as_json)


@app.command()
def explain(
    *,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files of queries, or folders of them; - is standard input."),
    ],
    event: Event = None,
    catalog: Catalogs = None,
    consistency: Level = None,
    as_json: AsJson = False,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Print only the graph of the queries: text, mermaid or json."),
    ] = None,
    draw: Annotated[
        str | None, typer.Option("--draw", metavar="FILE", help="Draw the graph, as a picture of form .svg.")
    ] = None,
) -> None:
    """Show what each query does, what that costs, and which operators several queries share."""
    with reported():
        from cedr.cli.explaining import Printing, explain_files

        explain_files(files, event, catalog or [], consistency, Printing(as_json, format_, draw))


@app.command(name="eval")
@describes_data
def eval_(  # noqa: PLR0913 - one for each option
    *,
    file: QueryFile,
    data: Data,
    event: Event = None,
    host: Host = None,
    consistency: Level = None,
    catalog: Catalogs = None,
    as_json: AsJson = False,
    changes: Annotated[bool, typer.Option("--changes", help="The change stream instead of its result.")] = False,
    batch: Annotated[
        int | None,
        typer.Option("--batch", metavar="N", min=1, help="So many messages make a step of the change stream."),
    ] = None,
    measures: Annotated[bool, typer.Option("--measures", help="Print what the level has cost, too.")] = False,
    clocks: Annotated[bool, typer.Option("--clocks", help="Show all clocks and IDs.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="Print so many rows only.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Write a .csv, .jsonl or .parquet file instead.")
    ] = None,
    draw: Annotated[
        str | None, typer.Option("--draw", metavar="FILE", help="Draw the result, as a picture of form .svg.")
    ] = None,
    dead_letters: Annotated[
        str | None, typer.Option("--dead-letters", metavar="FILE", help="Write what was not used, as JSON Lines.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit status 1 if there are dead letters.")] = False,
) -> None:
    """Evaluate a query on data or messages; by default the last query of the file."""
    with reported():
        from cedr.cli.evaluating import Printing, Request, eval_file

        printing = Printing(
            as_json=as_json, changes=changes, measures=measures, clocks=clocks, limit=limit, output=output, draw=draw
        )
        request = Request(file, data, event, host, consistency, tuple(catalog or ()), batch)
        eval_file(request, printing, strict=strict, dead_letters=dead_letters)


@app.command()
@describes_data
def trace(
    *,
    file: QueryFile,
    data: Data,
    consistency: Levels = None,
    event: Event = None,
    host: Host = None,
    catalog: Catalogs = None,
    as_json: AsJson = False,
) -> None:
    """Show step by step what arrives, what is held, what is emitted, and what is retracted and why."""
    with reported():
        from cedr.cli.evaluating import Request
        from cedr.cli.tracing import trace_file

        request = Request(file, data, event, host, None, tuple(catalog or ()))
        trace_file(request, tuple(consistency or ()), as_json=as_json)


@app.command()
@describes_data
def route(  # noqa: PLR0913 - one for each option
    *,
    file: Annotated[
        str,
        typer.Argument(metavar="SUBSCRIPTIONS", help="CSV, JSON Lines or Parquet with the columns id, where and type."),
    ],
    data: Data,
    catalog: Catalogs = None,
    consistency: Level = None,
    as_json: AsJson = False,
    batch: Annotated[
        int | None, typer.Option("--batch", metavar="N", min=1, help="So many rows or messages make a step.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="Print so many rows only.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Write a .csv, .jsonl or .parquet file instead.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit status 1 if there are dead letters or failed subscriptions.")
    ] = False,
) -> None:
    """Route events to the subscriptions whose predicate they match, thousands at a time."""
    with reported():
        from cedr.cli.routing import Printing, route_file

        printing = Printing(as_json=as_json, limit=limit, output=output)
        route_file(file, data, catalog or (), consistency, batch, printing, strict=strict)


@app.command(name="check-order")
@describes_data
def check_order(
    *,
    file: QueryFile,
    data: Data,
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="So many deliveries are tried.")] = 200,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Where chance begins.")] = 0,
    event: Event = None,
    host: Host = None,
    catalog: Catalogs = None,
) -> None:
    """Deliver the messages in other orders and batches; exit status 1 if a level breaks its promise."""
    with reported():
        from cedr.cli.evaluating import Request
        from cedr.cli.ordering import check_order_of

        request = Request(file, data, event, host, None, tuple(catalog or ()))
        check_order_of(request, runs=runs, seed=seed)


@app.command()
def generate(  # noqa: PLR0913 - one for each option
    *,
    to: Annotated[
        str,
        typer.Argument(metavar="[FILE]", help="A .jsonl, .csv or .parquet file, or a folder/; - is standard output."),
    ] = "-",
    events: Annotated[int, typer.Option("--events", metavar="N", help="So many events.")] = 1_000,
    machines: Annotated[int, typer.Option("--machines", metavar="N", help="Of so many machines.")] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Where chance begins.")] = 0,
    start: Annotated[
        str, typer.Option("--start", metavar="TIME", help="When the first of them happens.")
    ] = "2026-01-01T00:00:00Z",
    span: Annotated[str, typer.Option("--span", metavar="DURATION", help="Over which time they happen.")] = "1 day",
    late: Annotated[float, typer.Option("--late", metavar="SHARE", help="The share that arrives late.")] = 0.0,
    delay: Annotated[str, typer.Option("--delay", metavar="DURATION", help="How late, at most.")] = "1 hour",
    lost: Annotated[float, typer.Option("--lost", metavar="SHARE", help="The share that never arrives.")] = 0.0,
    twice: Annotated[float, typer.Option("--twice", metavar="SHARE", help="The share that arrives twice.")] = 0.0,
    corrected: Annotated[
        float, typer.Option("--corrected", metavar="SHARE", help="The share that is corrected by a modification.")
    ] = 0.0,
    corrects: Annotated[
        list[str] | None,
        typer.Option("--corrects", metavar="WHAT", help="Load, Vs or Machine_Id; may be repeated; by default each."),
    ] = None,
    retracted: Annotated[float, typer.Option("--retracted", metavar="SHARE", help="The share that is removed.")] = 0.0,
    within: Annotated[
        str, typer.Option("--within", metavar="DURATION", help="How soon it is corrected or removed, at most.")
    ] = "10 minutes",
    guarantees: Annotated[
        str | None,
        typer.Option(
            "--guarantees", metavar="DURATION", help="How often a guarantee is given; by default for some 50 events."
        ),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="jsonl, csv or parquet, instead of by the ending.")
    ] = None,
    per_file: Annotated[
        int, typer.Option("--per-file", metavar="N", help="So many messages in each file of a folder.")
    ] = 100_000,
    pace: Annotated[
        float | None, typer.Option("--pace", metavar="N", help="So many messages a second, not all at once.")
    ] = None,
    types: Annotated[
        bool, typer.Option("--types", help="Print the TYPE statements that suit, and no messages.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Write over what is there.")] = False,
) -> None:
    """Make events of machines, late, lost, doubled, corrected and taken back as you choose, from a seed."""
    with reported():
        from cedr.cli.generating import Durations, Order, Shares, generate_messages

        order = Order(to, format_, per_file, pace, types=types, replace=replace)
        shares = Shares(late, lost, twice, corrected, retracted)
        durations = Durations(start, span, delay, within, guarantees)
        generate_messages(order, shares, durations, events, machines, seed=seed, corrects=corrects)


app.command()(new)
app.command()(doctor)
app.command()(run)


@app.command()
def demo(
    *,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="spark, or local to run it in this process, without Spark.")
    ] = "spark",
    events: Annotated[int, typer.Option("--events", metavar="N", help="So many events.")] = 3_000,
    machines: Annotated[int, typer.Option("--machines", metavar="N", help="Of so many machines.")] = 300,
    files: Annotated[int, typer.Option("--files", metavar="N", help="They arrive in so many files.")] = 20,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Where chance begins.")] = 2011,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Also show every batch, every retraction with its reason, and all figures."),
    ] = False,
) -> None:
    """Run the query of the paper on Spark, at three levels side by side; exit status 1 if they do not agree."""
    with reported():
        from cedr_demo.command import show_demo

        scale = {"events": events, "machines": machines, "files": files, "seed": seed}
        raise typer.Exit(show_demo(host, scale, verbose=verbose))


@app.command()
def history(  # noqa: PLR0913 - one for each option
    *,
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The folder of an output in a folder of history.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="CEDR_TIME", help="What was believed then, instead of now.")
    ] = None,
    occurring: Annotated[
        str | None, typer.Option("--occurring", metavar="A..B", help="Rows that were true in this occurrence time.")
    ] = None,
    valid: Annotated[str | None, typer.Option("--valid", metavar="A..B", help="Rows valid in this time.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="NAME=VALUE", help="Rows with this value; may be repeated."),
    ] = None,
    versions: Annotated[
        bool, typer.Option("--versions", help="Every version that was ever said of a row, with Cs and Ce.")
    ] = False,
    as_json: AsJson = False,
    clocks: Annotated[bool, typer.Option("--clocks", help="Show K, Rt, seq and contributors too.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="Print so many rows only.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Write them into a Parquet, CSV or JSON Lines file.")
    ] = None,
) -> None:
    """What was believed at a CEDR time, from the history that a job keeps of an output."""
    with reported():
        from cedr.cli.history import show_history

        show_history(
            table,
            as_of=as_of,
            occurring=occurring,
            valid=valid,
            where=where or [],
            versions=versions,
            as_json=as_json,
            clocks=clocks,
            limit=limit,
            output=output,
        )


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    typer.echo(f"cedr {installed('cedr')}")


def main() -> None:
    """The command ``cedr``."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:  # the reader has gone (… | head): nothing to say, and nobody to say it to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
