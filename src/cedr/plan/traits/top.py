"""TOP.  Paper: Section 6.  Readings: R33, R34, R36 (as group-by), R45."""

from __future__ import annotations

from collections.abc import Iterator

from cedr.expression.tree import Expression
from cedr.plan.logical import Top
from cedr.plan.traits import answers
from cedr.plan.traits.record import Argument, Composition, Groups, Keys, Origin, Shape, Text, Times, Traits
from cedr.plan.traits.text import prefixed, render, texts


def _order(node: Top) -> str:
    return f"{render(node.by)}{' DESC' if node.descending else ''}"


def _arguments(node: Top) -> Iterator[tuple[str, Argument]]:
    yield "count", node.count
    yield "by", _order(node)
    yield "keys", texts(node.keys)


def _line(node: Top) -> str:
    return " ".join([f"TOP {node.count} BY {_order(node)}", *prefixed("IN EACH", texts(node.keys))])


def _expressions(node: Top) -> tuple[Expression, ...]:
    return (*node.keys, node.by)


def _groups(node: Top) -> Groups:
    return Groups(
        tuple((key,) for key in node.keys),
        "TOP without GROUP BY is over the whole stream",
        "TOP is by another key",
    )


TOP: Traits[Top] = Traits(
    node=Top,
    text=Text(word=lambda _: "TOP", arguments=_arguments, line=_line),
    shape=Shape(
        negated=answers.nothing_negated,
        against=lambda _: (0,),
        certain=answers.bound_by_first,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=0,
        origin=Origin.INPUT,
        predicates=answers.no_expressions,
        expressions=_expressions,
    ),
    keys=Keys(
        meeting=answers.one_meets,
        by_itself=answers.no,
        groups=_groups,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=answers.all_nulls_matter,
    ),
    times=Times(
        own_scope=answers.while_inputs_live,
        scope=answers.nested_scopes,
        while_alive=True,
        tells_need=False,
        further=answers.no_further,
        outlives=answers.no_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=answers.lives_as_first,
        open_end=answers.end_is_open,
        end=answers.end_of_events,
        reach_below=answers.endless_reach,
        sees=answers.sees_unknown,
    ),
    composition=Composition(
        not_in_stages=answers.not_in_stages,
        composite=False,
        apart=False,
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)
