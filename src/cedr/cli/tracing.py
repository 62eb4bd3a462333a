"""``cedr trace``: the story of a query, step by step."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cedr.cli.evaluating import Request, print_measures
from cedr.cli.reporting import report
from cedr.cli.show import working
from cedr.connect.outgoing import message_as_data
from cedr.connect.rows import Data, change_as_data, contributor_ids
from cedr.connect.tables import payload_text, restated, short_id
from cedr.hosts.event_types import read_types
from cedr.hosts.trace import Step, Trace, Utterance, View, trace
from cedr.model.event import Event
from cedr.model.intake import Accepted
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract

_NAMED = 5
"""So many held messages are named; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Said:
    """A line of the story and how it is drawn."""

    text: str
    style: str = ""


def trace_file(request: Request, levels: Sequence[str], *, as_json: bool) -> None:
    """Follow a query on a file of messages and print each step, then what each level has cost."""
    data = request.given()
    with working("reading"):
        followed = trace(
            Path(request.file),
            data,
            consistency=levels,
            host=request.host,
            event=request.event,
            catalog=read_types(request.catalogs),
            **request.data.words,
        )
    report(followed.warnings)
    if as_json:
        for step in followed.steps():
            print(json.dumps(_data(step, followed), ensure_ascii=False))
    else:
        _tell(followed)
    print_measures(followed.measures(), as_json=as_json)


def _data(step: Step, followed: Trace) -> Data:
    """A step as plain data."""
    return {
        "cs": step.cedr_time,
        "messages": [message_as_data(message) for message in step.messages],
        "dead_letters": [{"code": letter.code, "reason": letter.reason} for letter in step.dead_letters],
        "levels": [
            {
                "level": str(view.level),
                "held": [message_as_data(each.message) for each in view.held],
                "said": [_said_data(said, followed) for said in view.said],
            }
            for view in step.views
        ],
    }


def _said_data(said: Utterance, followed: Trace) -> Data:
    data = change_as_data(said.change, followed.primitive)
    return {**data, "reason": said.reason} if said.reason else data


# -- for the eye ------------------------------------------------------------------------------------------------------


def _tell(followed: Trace) -> None:
    story = _Story(followed)
    title = f"{followed.query.name} at {', '.join(map(str, followed.levels))}"
    note = f" {followed.clock.note}" if followed.clock.note else ""
    draw = _Tree() if sys.stdout.isatty() else _Plain()
    draw.title(f"{title}{note}")
    for step in followed.steps():
        draw.step(story.arrival(step), list(story.lines(step)))


class _Story:
    """The lines of each step."""

    def __init__(self, followed: Trace) -> None:
        self.followed = followed
        self.clock = followed.clock
        self.rows: dict[LineageKey, Event] = {}
        self.width = max(len(str(level)) for level in followed.levels)

    def arrival(self, step: Step) -> str:
        """What came: CEDR time and message."""
        shown = ", ".join(map(self._message, step.messages))
        letters = "".join(f"; dead letter: {letter.reason}" for letter in step.dead_letters)
        return f"{step.cedr_time:>{len(str(len(self.followed.messages)))}}  {shown}{letters}"

    def lines(self, step: Step) -> Iterator[Said]:
        """What each level holds and says; with one level, without its name."""
        for view in step.views:
            label = f"{view.level!s:<{self.width}}  " if len(step.views) > 1 else ""
            for line in self._view(view):
                yield Said(f"{label}{line.text}", line.style)

    def _view(self, view: View) -> Iterator[Said]:
        if view.held:
            names = [self._held(each) for each in view.held[:_NAMED]]
            more = [f"and {len(view.held) - _NAMED} more"] if len(view.held) > _NAMED else []
            yield Said(f"holds {len(view.held)}: {', '.join(names + more)}", "yellow")
        for said in view.said:
            yield self._utterance(said)

    def _utterance(self, said: Utterance) -> Said:
        message, row = said.change.message, said.change.event
        if isinstance(message, Guarantee):
            return Said(f"guarantees up to {self.clock.show(message.time)}", "dim")
        assert row is not None
        if isinstance(message, Insert):
            return Said(f"+ {self._row(row)}", "green")
        if message.removes:
            return Said(f"- {self._name_of(row)}  retracted: {said.reason}", "red")
        return Said(f"- {self._name_of(row)}  {self._intervals(restated(row, message))}  now: {said.reason}", "red")

    def _row(self, row: Event) -> str:
        """A row of the output: short ID, contributors, valid and occurrence interval, payload."""
        payload = payload_text(row, self.clock, self.followed.query.output)
        return f"{self._name_of(row)}  {self._intervals(row)}  {payload}".rstrip()

    def _name_of(self, row: Event) -> str:
        made_of = ", ".join(map(short_id, contributor_ids(row, self.followed.primitive)))
        return f"{short_id(row.id)} of {made_of}" if made_of not in ("", short_id(row.id)) else short_id(row.id)

    def _intervals(self, row: Event) -> str:
        vs, ve, os, oe = map(
            self.clock.show, (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end)
        )
        return f"V [{vs}, {ve})  O [{os}, {oe})"

    def _message(self, message: Message) -> str:
        if isinstance(message, Guarantee):
            who = f" by {message.provider}" if message.provider else ""
            return f"guarantee {self.clock.show(message.time)}{who}"
        if isinstance(message, Insert):
            row = self.rows[message.lineage_key] = message.event
            payload = payload_text(row, self.clock, self.followed.types.get(row.stream))
            return f"insert {row.stream} {row.id}  {self._intervals(row)}  {payload}".rstrip()
        ends = {"Oe": message.occurrence_end, "Ve": message.valid_end}
        named = ", ".join(f"{name} = {self.clock.show(end)}" for name, end in ends.items() if end is not None)
        return f"retract {self._name(message)}{': ' + named if named else ''}"

    def _held(self, each: Accepted) -> str:
        name = self._name(each.message)
        return f"retraction of {name}" if isinstance(each.message, Retract) else name

    def _name(self, message: Insert | Retract) -> str:
        row = self.rows.get(message.lineage_key)
        return message.lineage_key if row is None else f"{row.stream} {row.id}"


class _Plain:
    """Lines of text, what was said indented below what arrived."""

    def title(self, text: str) -> None:
        print(f"{text}\n")

    def step(self, head: str, lines: Sequence[Said]) -> None:
        print(head)
        for line in lines:
            print(f"      {line.text}")


class _Tree:
    """A tree for each step on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console()

    def title(self, text: str) -> None:
        self.console.print(text, style="bold", markup=False)

    def step(self, head: str, lines: Sequence[Said]) -> None:
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree(Text(head), guide_style="dim")
        for line in lines:
            tree.add(Text(line.text, style=line.style))
        self.console.print(tree)
