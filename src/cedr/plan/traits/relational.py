"""Joins, unions, differences, distinct rows, groups, coalescing.  Paper: Section 6.  Readings: R29, R30."""

from __future__ import annotations

from cedr.expression.tree import Expression
from cedr.model.modes import JoinKind
from cedr.model.schema import DataType
from cedr.plan.logical import Coalesce, Difference, Distinct, GroupBy, Join, Node, Union
from cedr.plan.traits import answers
from cedr.plan.traits.record import Composition, End, Groups, Inputs, Keys, Origin, Shape, Text, Times, Traits
from cedr.plan.traits.text import Arguments, named, plain_text, prefixed, render

_IN_ONE_PIECE: Composition[Node] = Composition(
    not_in_stages=answers.not_in_stages,
    composite=False,
    apart=False,
    by_time=answers.no_order_of_time,
    asks_inside=None,
    several=answers.no,
    last_contributor=answers.unknown_last,
)
_WHILE_ALIVE: Times[Node] = Times(
    own_scope=answers.while_inputs_live,
    scope=answers.nested_scopes,
    while_alive=True,
    tells_need=False,
    further=answers.no_further,
    outlives=answers.no_longer,
    undecided=answers.decided,
    start=answers.starts_as_event,
    lifetime=answers.lives_forever,
    open_end=answers.end_is_open,
    end=answers.end_of_events,
    reach_below=answers.endless_reach,
    sees=answers.sees_unknown,
)
"""Rows are cut and joined while they are alive: what comes later may shorten them."""
_COMPARING: Keys[Node] = Keys(
    meeting=answers.one_meets,
    by_itself=answers.no,
    groups=answers.ungrouped,
    compares_rows=True,
    ordered=answers.yes,
    nulls_matter=answers.all_nulls_matter,
)


def _either_end(node: Node, below: Inputs) -> bool:
    return any(part.open_end for part in below)


# -- joins ------------------------------------------------------------------------------------------------------------


def _is_anti(node: Join) -> bool:
    return node.kind is JoinKind.ANTI


def _joined_variables(node: Join, below: Inputs) -> frozenset[str]:
    return answers.bound_by_all(node, below) if node.kind is JoinKind.INNER else below[0].certain


def _joined_lifetime(node: Join, below: Inputs) -> int:
    return min(part.lifetime for part in below) if node.kind is JoinKind.INNER else below[0].lifetime


def _joined_end(node: Join, below: Inputs) -> bool:
    return _is_anti(node) or _either_end(node, below)


def _condition(node: Join) -> tuple[Expression, ...]:
    return (node.predicate,)


JOIN: Traits[Join] = Traits(
    node=Join,
    text=Text(
        word=lambda node: node.kind.value,
        arguments=lambda node: [("predicate", render(node.predicate))],
        line=lambda node: f"{node.kind.value} ON {render(node.predicate)}",
    ),
    shape=Shape(
        negated=lambda node: 1 if _is_anti(node) else None,
        against=lambda node: (1,) if _is_anti(node) else (),
        certain=_joined_variables,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=answers.no_payload,
        origin=Origin.OPERANDS,
        predicates=_condition,
        expressions=_condition,
    ),
    keys=Keys(
        meeting=answers.two_meet,
        by_itself=answers.no,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=lambda node: (node.kind is not JoinKind.INNER, False),
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
        lifetime=_joined_lifetime,
        open_end=_joined_end,
        end=answers.end_of_events,
        reach_below=answers.endless_reach,
        sees=answers.sees_unknown,
    ),
    composition=_IN_ONE_PIECE,
)


# -- sides ------------------------------------------------------------------------------------------------------------


def _common(node: Union, below: Inputs) -> frozenset[str]:
    return below[0].certain & below[1].certain


def _longer(node: Union, below: Inputs) -> int:
    return max(part.lifetime for part in below)


UNION: Traits[Union] = Traits(
    node=Union,
    text=plain_text("UNION"),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=_common,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=0,
        origin=Origin.EITHER,
        predicates=answers.no_expressions,
        expressions=answers.no_expressions,
    ),
    keys=answers.EACH_BY_ITSELF,
    times=Times(
        own_scope=answers.no_scope,
        scope=answers.nested_scopes,
        while_alive=False,
        tells_need=False,
        further=answers.no_further,
        outlives=answers.no_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=_longer,
        open_end=_either_end,
        end=lambda _: End.INPUTS,
        reach_below=answers.endless_reach,
        sees=answers.sees_unknown,
    ),
    composition=_IN_ONE_PIECE,
)

DIFFERENCE: Traits[Difference] = Traits(
    node=Difference,
    text=plain_text("EXCEPT"),
    shape=Shape(
        negated=lambda _: 1,
        against=lambda _: (1,),
        certain=answers.bound_by_first,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=0,
        origin=Origin.INPUT,
        predicates=answers.no_expressions,
        expressions=answers.no_expressions,
    ),
    keys=_COMPARING,
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
    composition=_IN_ONE_PIECE,
)


# -- one input --------------------------------------------------------------------------------------------------------

_OF_INPUT: Shape[Distinct | Coalesce] = Shape(
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

DISTINCT: Traits[Distinct] = Traits(
    node=Distinct,
    text=plain_text("DISTINCT"),
    shape=_OF_INPUT,
    keys=_COMPARING,
    times=_WHILE_ALIVE,
    composition=_IN_ONE_PIECE,
)

COALESCE: Traits[Coalesce] = Traits(
    node=Coalesce,
    text=plain_text("COALESCED"),
    shape=_OF_INPUT,
    keys=_COMPARING,
    times=_WHILE_ALIVE,
    composition=_IN_ONE_PIECE,
)


def _grouped(node: GroupBy) -> Arguments:
    yield "keys", named(node.keys)
    yield "aggregates", named(node.aggregates)


def _group_line(node: GroupBy) -> str:
    keys = ", ".join(named(node.keys)) or "()"
    return " ".join(["GROUP BY", keys, *prefixed("OUTPUT", named(node.aggregates))])


def _group_types(node: GroupBy) -> dict[str, DataType]:
    keys = {column.name: column.type for column in node.keys}
    return keys | {column.name: column.type for column in node.aggregates}


def _group_expressions(node: GroupBy) -> tuple[Expression, ...]:
    return (*(key.expression for key in node.keys), *(column.aggregate for column in node.aggregates))


def _groups(node: GroupBy) -> Groups:
    return Groups(
        tuple((key.expression,) for key in node.keys),
        "an aggregate without GROUP BY is over the whole stream",
        "GROUP BY is by another key",
    )


GROUP_BY: Traits[GroupBy] = Traits(
    node=GroupBy,
    text=Text(word=lambda _: "GROUP BY", arguments=_grouped, line=_group_line),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.nothing_bound,
        hides_variables=True,
        same_row=False,
        row_by_row=False,
        merges_versions=False,
        payload=_group_types,
        origin=lambda node: {key.name: key.expression for key in node.keys},
        predicates=answers.no_expressions,
        expressions=_group_expressions,
    ),
    keys=Keys(
        meeting=answers.one_meets,
        by_itself=answers.no,
        groups=_groups,
        compares_rows=False,
        ordered=answers.yes,
        nulls_matter=answers.all_nulls_matter,
    ),
    times=_WHILE_ALIVE,
    composition=_IN_ONE_PIECE,
)
