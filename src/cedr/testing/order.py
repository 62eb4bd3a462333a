"""Is a query the same in every order?  Deliveries of one file, each judged against the oracle, step by step.

Paper: Section 4, Definitions 3 to 5.  Reading: R35.  The messages of a file are permuted, delayed, repeated and cut
into batches, always true to its guarantees, and run at STRONG, MIDDLE, WEAK and levels between.  A delivery that shows
a broken promise is made as small as it gets.

    report = check_order("alerts.cedr", "machines.jsonl", runs=500)
    assert report.ok, report
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from random import Random
from typing import Any

from cedr.connect.outgoing import message_as_data, message_as_line
from cedr.connect.tables import Clock, Table, messages_table, rows_table
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.hosts.choice import DEFAULT, live_host_named
from cedr.hosts.host import Start
from cedr.hosts.inputs import Messages
from cedr.hosts.queries import AnyQuery, choose
from cedr.hosts.result import Track, untracked
from cedr.hosts.run import ready
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Insert, Message
from cedr.model.time import FOREVER, Time
from cedr.plan.logical import Node, Source, walk
from cedr.testing.deliveries import Batches, Story, delivery, story_of
from cedr.testing.promises import Broken, Setting, Truths, remembers_little
from cedr.testing.smaller import smallest


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest delivery found that shows a broken promise, and what is broken."""

    batches: Batches
    broken: Broken
    primitive: frozenset[str] = frozenset()

    @property
    def lines(self) -> list[str]:
        """The delivery as lines of JSON: one message each, or where a batch has several, one list for each batch."""
        if all(len(batch) == 1 for batch in self.batches):
            return [message_as_line(batch[0]) for batch in self.batches]
        return [json.dumps([message_as_data(m) for m in batch], ensure_ascii=False) for batch in self.batches]

    def __str__(self) -> str:
        broken = self.broken
        clock = Clock.of(m.event for batch in self.batches for m in batch if isinstance(m, Insert))
        where = "" if broken.time is None else f", {clock.show(broken.time)}"
        parts = [
            f"at {broken.level}, after step {broken.step}{where}: {broken.promise}",
            messages_table(_numbered(self.batches)).as_text(),
        ]
        if broken.said or broken.meant:
            parts.append(self._difference().as_text())
        return "\n\n".join(parts)

    def _difference(self) -> Table:
        """The rows that only the engine or only the oracle has."""
        rows = (*self.broken.said, *self.broken.meant)
        whose = ["said"] * len(self.broken.said) + ["oracle"] * len(self.broken.meant)
        shown = rows_table(rows, None, self.primitive)
        cells = tuple((who, *row) for who, row in zip(whose, shown.rows, strict=True))
        return Table(("only in", *shown.heads), cells, frozenset(n + 1 for n in shown.right), shown.note)


@dataclass(frozen=True, slots=True)
class OrderReport:
    """What a check of the order has found."""

    name: str
    host: str
    deliveries: int
    messages: int
    left_out: int
    """Messages that the file itself makes dead letters."""
    levels: str
    counterexample: Counterexample | None = None
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return self.counterexample is None

    def __str__(self) -> str:
        left_out = f" ({_count(self.left_out, 'dead letter')} left out)" if self.left_out else ""
        tried = f"{_count(self.deliveries, 'deliver', 'y', 'ies')} of {_count(self.messages, 'message')}{left_out}"
        head = f"{self.name}: {tried} at {self.levels}, host {self.host}"
        if self.counterexample is None:
            return f"{head}: every promise kept"
        return f"{head}: a promise is broken\n\n{self.counterexample}"


def check_order(  # noqa: PLR0913 - one for each choice
    query: AnyQuery,
    messages: Messages,
    runs: int = 200,
    seed: int = 0,
    *,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
    host: str | None = None,
    engine: Start | None = None,
    track: Track[int] = untracked,
    **words: Any,
) -> OrderReport:
    """Deliver messages in many ways and judge what a query says about each.

    ``runs`` deliveries are tried, the simplest first; the same ``seed`` gives the same ones.  ``host`` is who runs the
    query, by default ``local``; ``engine`` takes the place of a host's own.  ``words`` describe data.
    """
    program, arrived = ready(query, messages, catalog, words, event)
    chosen = choose(program, event)
    sent = [message for _, message in arrived.messages]
    story = story_of(sent, arrived.types, _waits(chosen.plan))
    name = host or ("given" if engine else DEFAULT)
    setting = Setting(chosen.plan, arrived.types, story.providers, engine or live_host_named(name).start)
    found = _search(setting, story, runs, seed, track)
    return OrderReport(
        chosen.name,
        name,
        found.tried,
        len(story.told),
        len(sent) - len(story.told) - len(story.guarantees),
        _levels_shown(chosen.plan),
        found.counterexample,
        (*program.warnings, *arrived.dead_letters),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    tried: int
    counterexample: Counterexample | None = None


def _search(setting: Setting, story: Story, runs: int, seed: int, track: Track[int]) -> _Found:
    truths, tried = Truths(setting.plan), 0
    for number in track(range(runs), "deliveries"):
        tried += 1
        batches = delivery(story, number, seed)
        levels = levels_for(setting.plan, story, Random(f"levels/{seed}/{number}"))
        broken = setting.judge(batches, levels, truths)
        if broken is not None:
            return _Found(tried, Counterexample(*smallest(setting, batches, broken), _primitive(setting.plan)))
    return _Found(tried)


def levels_for(plan: Node, story: Story, chance: Random) -> list[ConsistencyLevel]:
    """The three corners and two points between, on the scale of the messages.  Paper: Section 5, Figure 9."""
    lengths = [0, 1, 2, *(max(1, story.span // part) for part in (50, 10, 4, 2, 1))]
    between = ConsistencyLevel(Bound(chance.choice(lengths)), Bound(FOREVER))
    levels = [STRONG, MIDDLE, between]
    if remembers_little(plan):
        blocking, memory = sorted((chance.choice(lengths), chance.choice(lengths)))
        levels += [WEAK, ConsistencyLevel(Bound(blocking), Bound(memory))]
    return levels


def _levels_shown(plan: Node) -> str:
    return "STRONG, MIDDLE, WEAK and between" if remembers_little(plan) else "STRONG, MIDDLE and between"


def _count(number: int, stem: str, one: str = "", many: str = "s") -> str:
    return f"{number} {stem}{one if number == 1 else many}"


def _numbered(batches: Sequence[Sequence[Message]]) -> Iterable[tuple[int, Message]]:
    return ((step, message) for step, batch in enumerate(batches, 1) for message in batch)


def _primitive(plan: Node) -> frozenset[str]:
    return frozenset(node.type.name for node in walk(plan) if isinstance(node, Source))


def _waits(plan: Node) -> Time:
    """All scopes together: after so long everything is decided."""
    scopes = [scope for node in walk(plan) if isinstance(scope := getattr(node, "scope", 0), int)]
    return min(sum(scope for scope in scopes if scope < FOREVER), FOREVER // 4)
