"""AlterLifetime and SESSION: rows with lifetimes of their own.  Paper: Definition 12.  Reading: R31."""

from __future__ import annotations

from cedr.model.time import FOREVER, format_duration
from cedr.plan.logical import AlterLifetime, Node, Session
from cedr.plan.offsets import longest
from cedr.plan.traits import answers
from cedr.plan.traits.record import (
    Composition,
    Groups,
    Inputs,
    Keys,
    Origin,
    Shape,
    Text,
    Times,
    Traits,
    Undecided,
)
from cedr.plan.traits.text import Arguments, prefixed, render, texts

_SHAPE: Shape[AlterLifetime | Session] = Shape(
    negated=answers.nothing_negated,
    against=answers.none_against,
    certain=answers.bound_by_first,
    hides_variables=False,
    same_row=False,
    row_by_row=False,
    merges_versions=False,
    payload=0,
    origin=Origin.INPUT,
    predicates=answers.no_expressions,
    expressions=answers.no_expressions,
)
_IN_ONE_PIECE: Composition[Node] = Composition(
    not_in_stages=answers.not_in_stages,
    composite=False,
    apart=True,
    by_time=answers.no_order_of_time,
    asks_inside=None,
    several=answers.no,
    last_contributor=answers.unknown_last,
)


def _window(node: AlterLifetime) -> Arguments:
    yield "window", node.window
    yield "start", render(node.start)
    yield "duration", render(node.duration)


def _lifetime_line(node: AlterLifetime) -> str:
    name = f" ({node.window})" if node.window and node.window != "LIFETIME" else ""
    return f"LIFETIME {render(node.start)}, {render(node.duration)}{name}"


def _longest(node: AlterLifetime, below: Inputs) -> int:
    return max(0, longest(node.duration, below[0].own_variables, below[0].lifetime))


def _reads_open_end(node: AlterLifetime, below: Inputs) -> bool:
    return below[0].reads_open_end(node.duration) or below[0].reads_open_end(node.start)


ALTER_LIFETIME: Traits[AlterLifetime] = Traits(
    node=AlterLifetime,
    text=Text(word=lambda _: "LIFETIME", arguments=_window, line=_lifetime_line),
    shape=_SHAPE,
    keys=answers.EACH_BY_ITSELF,
    times=Times(
        own_scope=answers.no_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=True,
        further=answers.no_further,
        outlives=answers.no_longer,
        undecided=answers.decided,
        start=lambda node: node.start,
        lifetime=_longest,
        open_end=_reads_open_end,
        end=answers.own_end,
        reach_below=answers.endless_reach,
        sees=answers.sees_unknown,
    ),
    composition=_IN_ONE_PIECE,
)


def _gap(node: Session) -> Arguments:
    yield "gap", node.gap
    yield "keys", texts(node.keys)


def _session_line(node: Session) -> str:
    return " ".join(["SESSION", format_duration(node.gap), *prefixed("BY", texts(node.keys))])


def _no_bound(node: Session, below: Inputs) -> int:
    """A session has no longest."""
    return FOREVER


def _groups(node: Session) -> Groups:
    return Groups(
        tuple((key,) for key in node.keys),
        "SESSION without GROUP BY is over the whole stream",
        "SESSION is by another key",
    )


SESSION: Traits[Session] = Traits(
    node=Session,
    text=Text(word=lambda _: "SESSION", arguments=_gap, line=_session_line),
    shape=_SHAPE,
    keys=Keys(
        meeting=answers.one_meets,
        by_itself=answers.no,
        groups=_groups,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=answers.all_nulls_matter,
    ),
    times=Times(
        own_scope=_no_bound,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=True,
        further=answers.no_further,
        outlives=answers.no_longer,
        undecided=lambda _: Undecided((FOREVER,), "an open session"),
        start=answers.starts_as_event,
        lifetime=answers.lives_forever,
        open_end=answers.end_is_open,
        end=answers.end_of_events,
        reach_below=answers.endless_reach,
        sees=answers.sees_unknown,
    ),
    composition=_IN_ONE_PIECE,
)
