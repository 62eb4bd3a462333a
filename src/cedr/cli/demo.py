"""``cedr demo``: on Spark, or without it the example of the paper on hand-made events and the story of Figure 2.

Paper: Section 3.1 (CIDR07_Example), Section 4 (Figure 2).  All that is shown is computed here and now.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO

import typer

from cedr.cli.reporting import say
from cedr.cli.show import show
from cedr.connect.messages import MessageFile, read_stream
from cedr.connect.tables import changes_table, messages_table, rows_table
from cedr.evaluation.engines import unknown_host
from cedr.evaluation.run import evaluate

_EXAMPLES = files("cedr.cli") / "examples"
_FIGURE_2 = "EVENT Coupons FROM COUPON AS c @ [0, FOREVER]"
_FIGURE_2_TIMES = (1, 2, 4, 5, 6)
_COMMENT = """
3  BARGA_XP03 goes down and no restart is known: the alert is out at once.
4  A restart after three minutes comes in: the alert is taken back (Oe = Os).
5  HONG_XP01 goes down, exactly 12 hours after: still within the scope.
6  It is up again, exactly 5 minutes after: too late, the alert stands.
7  The restart of BARGA_XP03 is withdrawn: its alert is said again.
8  It was another machine that had restarted: nothing changes.
9  The provider guarantees that all up to 23:59 has arrived: this is final."""


def show_demo(host: str, scale: dict[str, int]) -> None:
    """The demo on Spark, or the two stories that need none; ``scale`` says how much happens on Spark."""
    if host not in ("spark", "local"):
        raise unknown_host(host, ("spark", "local"))
    missing = _missing() if host == "spark" else ""
    if host == "spark" and not missing:
        from cedr.cli.demo_spark import show_spark_demo

        raise typer.Exit(show_spark_demo(scale))
    if missing:
        say(f"note: {missing}; this is the small story, on the host local")
    _machines()
    _figure_2()


def _missing() -> str:
    """What the demo on Spark needs and does not find."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed (the extra cedr[spark] brings it)"
    from cedr.spark.java import LEAST, find_java

    return "" if find_java() is not None else f"Spark needs Java {LEAST} or newer, and there is none"


def _machines() -> None:
    query = (_EXAMPLES / "cidr07.cedr").read_text("utf-8")
    arrived = _read("cidr07.jsonl")
    result = evaluate(query, arrived)
    _heading("The query of the paper, Section 3.1")
    print(query)
    _heading("What arrived, in this order (Cs is the server's clock)")
    show("", messages_table((number, message) for number, (_, message) in enumerate(arrived.messages, 1)))
    _heading(f"What the query said, at the level {result.level}")
    show("", changes_table(result.changes(), result.type, result.primitive))
    print(_COMMENT)
    _heading("What it amounts to")
    show("", rows_table(result.rows, result.type, result.primitive))


def _figure_2() -> None:
    messages = [message for _, message in _read("figure2.jsonl").messages]
    arrived = list(zip(_FIGURE_2_TIMES, messages, strict=True))
    _heading("Figure 2 of the paper: a coupon, and the correction of a change")
    show("", messages_table(arrived))
    for cedr_time in (3, 7):
        known = [message for arrival, message in arrived if arrival < cedr_time]
        result = evaluate(_FIGURE_2, known)
        _heading(f"What the stream describes at CEDR time {cedr_time}")
        show("", rows_table(result.rows, result.type, result.primitive))
    print("\nThe coupon now ends at 10. That was first believed to change at 5; it turned out to be 3.")


def _read(name: str) -> MessageFile:
    return read_stream(BytesIO((_EXAMPLES / name).read_bytes()), name)


def _heading(text: str) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        Console().print(Text(f"\n{text}", style="bold"))
    else:
        print(f"\n{text}\n")
