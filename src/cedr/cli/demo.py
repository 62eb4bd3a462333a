"""``cedr demo``: the example of the paper on hand-made events, then the story of Figure 2.

Paper: Section 3.1 (CIDR07_Example), Section 4 (Figure 2).  All that is shown is computed here and now.
"""

from __future__ import annotations

import sys
from importlib.resources import files

from cedr.cli.show import show
from cedr.connect.jsonlines import parse
from cedr.connect.messages import read_stream, take_messages
from cedr.connect.tables import changes_table, messages_table, rows_table
from cedr.evaluation.run import evaluate

_EXAMPLES = files("cedr.cli") / "examples"
_FIGURE_2 = "EVENT Coupons FROM COUPON AS c @ [0, FOREVER]"
_FIGURE_2_TIMES = (1, 2, 4, 5, 6)


def show_demo() -> None:
    """Print the two stories."""
    _machines()
    _figure_2()


def _machines() -> None:
    query = (_EXAMPLES / "cidr07.cedr").read_text(encoding="utf-8")
    with (_EXAMPLES / "cidr07.jsonl").open("rb") as stream:
        arrived = read_stream(stream, "cidr07.jsonl")
    result = evaluate(query, arrived)
    _heading("The query of the paper, Section 3.1")
    _say(query)
    _heading("What arrived, in this order (Cs is the server's clock)")
    show("", messages_table((number, message) for number, (_, message) in enumerate(arrived.messages, 1)))
    _heading(f"What the query said, at the level {result.level}")
    show("", changes_table(result.changes(), result.type, result.primitive))
    _say(
        "3  BARGA_XP03 goes down and no restart is known: the alert is out at once, it does not wait.\n"
        "4  A restart after three minutes comes in: the alert is taken back.\n"
        "5  HONG_XP01 goes down at exactly 12 hours: still within the scope.\n"
        "6  It is up again at exactly 5 minutes: that is too late, the alert stands.\n"
        "7  The restart of BARGA_XP03 is withdrawn: its alert is said again.\n"
        "8  It was another machine that had restarted: nothing changes.\n"
        "9  The provider guarantees that nothing before midnight is still to come: all of it is final.\n"
    )
    _heading("What it amounts to")
    show("", rows_table(result.rows, result.type, result.primitive))


def _figure_2() -> None:
    lines = (_EXAMPLES / "figure2.jsonl").read_text(encoding="utf-8").splitlines()
    messages = list(zip(_FIGURE_2_TIMES, (message for _, message in _taken(lines)), strict=True))
    _heading("Figure 2: a coupon, and a correction of a correction")
    show("", messages_table(messages))
    for cedr_time in (3, 7):
        known = [message for arrived, message in messages if arrived < cedr_time]
        result = evaluate(_FIGURE_2, known)
        _heading(f"What the stream describes at CEDR time {cedr_time}")
        show("", rows_table(result.rows, result.type, result.primitive))
    _say("The coupon's end becomes 10; first that is believed to happen at 5, then it turns out to have been at 3.")


def _taken(lines: list[str]) -> list[object]:
    return list(take_messages([parse(line) for line in lines]).messages)  # type: ignore[arg-type, misc]


def _heading(text: str) -> None:
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        Console().print(Text(f"\n{text}", style="bold"))
    else:
        _say(f"\n{text}\n")


def _say(text: str) -> None:
    print(text)
