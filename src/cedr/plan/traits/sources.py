"""Event types, rows of another plan, and named queries.  Readings: R2, R32."""

from __future__ import annotations

from cedr.expression.render import quote_name
from cedr.model.schema import DataType
from cedr.plan.logical import Made, Query, Source
from cedr.plan.traits import answers
from cedr.plan.traits.record import Composition, Inputs, Keys, Origin, Shape, Text, Times, Traits


def _attributes(node: Source | Query) -> dict[str, DataType]:
    return dict(node.type.attributes)


_LEAF: Shape[Source] = Shape(
    negated=answers.nothing_negated,
    against=answers.none_against,
    certain=answers.nothing_bound,
    hides_variables=True,
    same_row=False,
    row_by_row=False,
    merges_versions=False,
    payload=_attributes,
    origin=Origin.LEAF,
    predicates=answers.no_expressions,
    expressions=answers.no_expressions,
)


def _type_text(node: Source) -> str:
    return quote_name(node.type.name)


_TYPE: Text[Source] = Text(
    word=lambda _: "TYPE",
    arguments=lambda node: [("type", node.type.name)],
    line=_type_text,
)


def _one(node: Source, below: Inputs) -> int:
    return 1


def _is_by_time(node: Source, below: Inputs) -> bool:
    return True


SOURCE: Traits[Source] = Traits(
    node=Source,
    text=_TYPE,
    shape=_LEAF,
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
        lifetime=answers.lives_forever,
        open_end=answers.end_is_open,
        end=answers.end_of_events,
        reach_below=answers.endless_reach,
        sees=answers.sees_as_input,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=False,
        by_time=_is_by_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=_one,
    ),
)


def _made_scope(node: Made, own: int | None, below: Inputs) -> int:
    return node.scope


def _made_lifetime(node: Made, below: Inputs) -> int:
    return node.lifetime


MADE: Traits[Made] = Traits(
    node=Made,
    text=_TYPE,
    shape=_LEAF,
    keys=Keys(
        meeting=answers.one_meets,
        by_itself=answers.yes,
        groups=answers.ungrouped,
        compares_rows=False,
        ordered=lambda node: node.ordered,
        nulls_matter=answers.all_nulls_matter,
    ),
    times=Times(
        own_scope=answers.no_scope,
        scope=_made_scope,
        while_alive=False,
        tells_need=False,
        further=answers.no_further,
        outlives=answers.no_longer,
        undecided=answers.decided,
        start=answers.starts_as_event,
        lifetime=_made_lifetime,
        open_end=answers.end_is_fixed,
        end=answers.end_of_events,
        reach_below=answers.endless_reach,
        sees=answers.sees_as_input,
    ),
    composition=Composition(
        not_in_stages=answers.in_stages,
        composite=False,
        apart=False,
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=_one,
    ),
)

QUERY: Traits[Query] = Traits(
    node=Query,
    text=Text(
        word=lambda _: "EVENT",
        arguments=lambda node: [("name", node.name)],
        line=lambda node: f"EVENT {quote_name(node.name)}",
    ),
    shape=Shape(
        negated=answers.nothing_negated,
        against=answers.none_against,
        certain=answers.nothing_bound,
        hides_variables=True,
        same_row=False,
        row_by_row=True,
        merges_versions=True,
        payload=_attributes,
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
        by_time=answers.no_order_of_time,
        asks_inside=None,
        several=answers.no,
        last_contributor=answers.unknown_last,
    ),
)
