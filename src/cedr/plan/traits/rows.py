"""Operators that take rows one by one: a name, a selection, a projection, VALID, a slice.

Paper: Definitions 7 and 8.  Readings: R10, R19, R20, R23, R24.
"""

from __future__ import annotations

from cedr.expression.render import quote_name
from cedr.expression.tree import Expression
from cedr.model.modes import Valid
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, format_time
from cedr.plan.logical import Project, Rename, Select, SetValid, Slice
from cedr.plan.traits import answers
from cedr.plan.traits.record import Composition, End, Inputs, Origin, Shape, Text, Times, Traits
from cedr.plan.traits.text import Arguments, named, plain_text, render, slice_text


def _with_name(node: Rename, below: Inputs) -> frozenset[str]:
    return below[0].certain | {node.variable}


def _numbered_as_input(node: Rename, below: Inputs) -> int | None:
    return below[0].last_contributor


RENAME: Traits[Rename] = Traits(
    node=Rename,
    text=Text(
        word=lambda _: "AS",
        arguments=lambda node: [("variable", node.variable)],
        line=lambda node: f"AS {quote_name(node.variable)}",
    ),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=_with_name,
        hides_variables=False,
        same_row=True,
        row_by_row=True,
        merges_versions=False,
        payload=0,
        origin=Origin.INPUT,
        predicates=answers.no_expressions,
        expressions=answers.no_expressions,
    ),
    keys=answers.EACH_BY_ITSELF,
    times=answers.TIMES_OF_INPUT,
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=False,
        by_time=answers.ordered_as_first,
        asks_inside=None,
        several=answers.no,
        last_contributor=_numbered_as_input,
    ),
)


SELECT: Traits[Select] = Traits(
    node=Select,
    text=Text(
        word=lambda _: "WHERE",
        arguments=lambda node: [("predicate", render(node.predicate))],
        line=lambda node: f"WHERE {render(node.predicate)}",
    ),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.bound_by_first,
        hides_variables=False,
        same_row=True,
        row_by_row=True,
        merges_versions=False,
        payload=0,
        origin=Origin.INPUT,
        predicates=answers.no_expressions,
        expressions=lambda node: (node.predicate,),
    ),
    keys=answers.EACH_BY_ITSELF,
    times=answers.TIMES_OF_INPUT,
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=False,
        by_time=answers.ordered_as_first,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)


def _columns(node: Project) -> dict[str, Expression]:
    return {column.name: column.expression for column in node.columns}


def _column_types(node: Project) -> dict[str, DataType]:
    return {column.name: column.type for column in node.columns}


def _projected(node: Project) -> Arguments:
    yield "columns", named(node.columns)


PROJECT: Traits[Project] = Traits(
    node=Project,
    text=plain_text("OUTPUT", _projected),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.nothing_bound,
        hides_variables=True,
        same_row=False,
        row_by_row=True,
        merges_versions=False,
        payload=_column_types,
        origin=_columns,
        predicates=answers.no_expressions,
        expressions=lambda node: _columns(node).values(),
    ),
    keys=answers.EACH_BY_ITSELF,
    times=answers.TIMES_OF_INPUT,
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=False,
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)


def _valid(node: SetValid) -> Arguments:
    yield "valid", node.valid.value


def _never_freezes(node: SetValid, own: int) -> int:
    """Rows without an end never freeze, so M forgets nothing for them."""
    return FOREVER


def _with_last(node: SetValid, below: Inputs) -> bool:
    return node.valid is Valid.WITH_LAST


def _asks_for_ends(node: SetValid) -> str:
    return "VALID WITH LAST asks for the lifetime of events inside" if node.valid is Valid.WITH_LAST else ""


SET_VALID: Traits[SetValid] = Traits(
    node=SetValid,
    text=plain_text("VALID", _valid),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.bound_by_first,
        hides_variables=False,
        same_row=False,
        row_by_row=False,
        merges_versions=True,
        payload=0,
        origin=Origin.INPUT,
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
        outlives=_never_freezes,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=answers.lives_forever,
        open_end=_with_last,
        end=lambda node: End.EVENTS if node.valid is Valid.WITH_LAST else End.OWN,
        reach_below=answers.same_reach,
        sees=answers.sees_as_input,
    ),
    composition=Composition(
        not_in_stages=_asks_for_ends,
        composite=False,
        apart=True,
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)


def _slices(node: Slice) -> Arguments:
    yield "occurrence", slice_text(node.occurrence)
    yield "valid", slice_text(node.valid)
    yield "as_of", "" if node.as_of is None else format_time(node.as_of)


def _slice_line(node: Slice) -> str:
    signs = (("@", slice_text(node.occurrence)), ("#", slice_text(node.valid)))
    slices = [f"{sign} {text}" for sign, text in signs if text]
    return " ".join(["SLICE", *slices, *([] if node.as_of is None else [f"AS OF {format_time(node.as_of)}"])])


SLICE: Traits[Slice] = Traits(
    node=Slice,
    text=Text(word=lambda _: "SLICE", arguments=_slices, line=_slice_line),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.bound_by_first,
        hides_variables=False,
        same_row=False,
        row_by_row=True,
        merges_versions=False,
        payload=0,
        origin=Origin.INPUT,
        predicates=answers.no_expressions,
        expressions=answers.no_expressions,
    ),
    keys=answers.EACH_BY_ITSELF,
    times=answers.TIMES_OF_INPUT,
    composition=Composition(
        not_in_stages=lambda _: "a slice is of the whole",
        composite=False,
        apart=False,
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)
