"""Hypothesis strategies for small random plans, predicates and what a query sees of them.

Plans are drawn bottom-up; every leaf has a variable of its own.  Predicates are drawn over given variables, often one
that selects by one event only, so that rules have something to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from cedr.expression.tree import (
    Aggregate,
    Attribute,
    Binary,
    Call,
    Expression,
    Header,
    HeaderField,
    IsNull,
    Literal,
    conjunction,
)
from cedr.model.event import Event, primitive, primitive_contributors
from cedr.model.modes import JoinKind, Selection, Valid
from cedr.model.schema import DataType, EventType
from cedr.model.time import FOREVER, plus
from cedr.plan import logical
from cedr.plan.analyses.schema import attributes_of
from cedr.plan.analyses.shape import possible
from cedr.plan.logical import COUNT_NAME, ROW, Node
from cedr.plan.windows import altered
from cedr.semantics.evaluate import evaluate
from cedr.testing.histories import History, small_catalog

PLAIN = small_catalog()
REVISABLE = small_catalog(revisable=6)
TYPES: tuple[EventType, ...] = tuple(REVISABLE)
KEY, VALUE = "k", "v"

Draw = Callable[[st.SearchStrategy], object]


def source(name: str) -> logical.Source:
    return logical.Source(next(t for t in TYPES if t.name == name))


def leaf(name: str, variable: str) -> logical.Rename:
    return logical.Rename(source(name), variable)


def attribute(variable: str, name: str = KEY) -> Attribute:
    return Attribute(variable, name, DataType.INTEGER)


def number(value: int) -> Literal:
    return Literal(value, DataType.INTEGER)


# -- predicates -------------------------------------------------------------------------------------------------------


@st.composite
def simple(draw: Draw, variables: Sequence[str]) -> Expression:
    """One comparison over some of the variables."""
    one, two = draw(st.sampled_from(variables)), draw(st.sampled_from(variables))
    fields = (HeaderField.VS, HeaderField.VE, HeaderField.RT)
    return draw(
        st.sampled_from(
            (
                Binary("=", attribute(one), number(1)),
                Binary(">=", attribute(one, VALUE), number(0)),
                Binary("<>", attribute(one), number(0)),
                IsNull(attribute(one)),
                IsNull(attribute(one), negated=True),
                Binary("=", attribute(one), attribute(two)),
                Binary("<>", attribute(one), attribute(two, VALUE)),
                Binary("OR", Binary("=", attribute(one), number(1)), Binary("=", attribute(two, VALUE), number(1))),
                *(Binary("<", Header(one, field), Literal(5, DataType.TIMESTAMP)) for field in fields),
                Binary("<=", Header(one, HeaderField.OS), Literal(4, DataType.TIMESTAMP)),
            )
        )
    )


def predicates(variables: Sequence[str]) -> st.SearchStrategy[Expression]:
    """A comparison, or a conjunction of two."""
    return st.lists(simple(variables), min_size=1, max_size=2).map(lambda parts: conjunction(tuple(parts)))


def some_predicates(variables: Sequence[str]) -> st.SearchStrategy[tuple[Expression, ...]]:
    return st.lists(predicates(variables), max_size=2).map(tuple)


# -- patterns ---------------------------------------------------------------------------------------------------------


class Names:
    """Fresh variables and places."""

    def __init__(self) -> None:
        self._count = 0

    def variable(self) -> str:
        self._count += 1
        return f"x{self._count}"

    def place(self, word: str) -> str:
        self._count += 1
        return f"/{word}{self._count}"


@st.composite
def patterns(draw: Draw, depth: int = 2, names: Names | None = None, *, modes: bool = True) -> Node:
    """A pattern of any operator, with predicates, SC modes and DISJOINT."""
    names = names or Names()
    if depth == 0:
        return leaf(draw(st.sampled_from("ABC")), names.variable())
    kind = draw(st.sampled_from(("n-ary", "n-ary", "negation", "sliding")))
    if kind == "n-ary":
        return draw(_n_ary(depth, names, modes=modes))
    return draw(_negations(depth, names)) if kind == "negation" else draw(_sliding(depth, names))


def _operand(depth: int, names: Names) -> st.SearchStrategy[Node]:
    return st.integers(0, depth - 1).flatmap(lambda d: patterns(d, names)).flatmap(lambda n: _named(n, names))


@st.composite
def _named(draw: Draw, node: Node, names: Names) -> Node:
    """Now and then a selection, now and then a variable for the composite."""
    if isinstance(node, logical.Pattern) and draw(st.booleans()):
        node = logical.Rename(node, names.variable())
    if draw(st.integers(0, 4)) == 0:
        node = logical.Select(node, draw(predicates(_variables(node))))
    return node


def _variables(*nodes: Node) -> tuple[str, ...]:
    return tuple(sorted(name for node in nodes for name in payload_variables(node)))


def payload_variables(node: Node) -> frozenset[str]:
    """The variables that stand for events with a payload: others have nothing but a header."""
    return frozenset(
        part.variable
        for part in logical.walk(node)
        if isinstance(part, logical.Rename) and part.variable in possible(node)
        if KEY in attributes_of(part.input)
    )


@st.composite
def _n_ary(draw: Draw, depth: int, names: Names, *, modes: bool) -> Node:
    inputs = [draw(_operand(depth, names)) for _ in range(draw(st.integers(1, 3)))]
    word = draw(st.sampled_from(("SEQUENCE", "ALL", "ANY", "ATLEAST")))
    count = draw(st.integers(1, len(inputs)))
    chosen = [_mode(draw, word, count, len(inputs)) if modes else logical.Parameter(n) for n in inputs]
    parameters = tuple(logical.Parameter(n, p.selection, p.consume) for n, p in zip(inputs, chosen, strict=True))
    disjoint = draw(st.sampled_from((None, None, None, logical.Disjoint()))) if modes else None
    future = any(p.selection is Selection.LAST for p in parameters)
    if future and (disjoint or any(p.consume for p in parameters)):
        parameters, disjoint = tuple(logical.Parameter(n) for n in inputs), None
    given = draw(some_predicates(_variables(*inputs)))
    place, scope = names.place(word), draw(st.integers(3, 8))
    match word:
        case "SEQUENCE":
            return logical.Sequence(parameters, scope, predicates=given, disjoint=disjoint, place=place)
        case "ALL":
            return logical.All(parameters, scope, predicates=given, disjoint=disjoint, place=place)
        case "ANY":
            return logical.Any(parameters, predicates=given, disjoint=disjoint, place=place)
        case _:
            return logical.AtLeast(count, parameters, scope, predicates=given, disjoint=disjoint, place=place)


def _mode(draw: Draw, word: str, count: int, size: int) -> logical.Parameter:
    """An SC mode that the language would take."""
    several = size > 1 and (word in ("SEQUENCE", "ALL") or (word == "ATLEAST" and count > 1))
    selection = draw(st.sampled_from((Selection.EACH, Selection.EACH, Selection.FIRST, Selection.LAST)))
    if word == "ANY" or (selection is Selection.LAST and not several):
        selection = Selection.EACH
    consume = word != "ANY" and draw(st.integers(0, 3)) == 0
    return logical.Parameter(source("A"), selection, consume)


@st.composite
def _negations(draw: Draw, depth: int, names: Names) -> Node:
    first, second = draw(_operand(depth, names)), draw(_operand(depth, names))
    given = draw(some_predicates(_variables(first, second)))
    scope = draw(st.integers(1, 6))
    word = draw(st.sampled_from(("UNLESS", "UNLESS'", "CANCEL-WHEN", "NOT")))
    disjoint = draw(st.sampled_from((None, None, None, logical.Disjoint())))
    place = names.place(word)
    match word:
        case "UNLESS":
            return logical.Unless(first, second, scope, predicates=given, disjoint=disjoint, place=place)
        case "UNLESS'":
            return logical.UnlessNth(first, second, 1, scope, predicates=given, disjoint=disjoint, place=place)
        case "CANCEL-WHEN":
            root = draw(st.booleans())
            return logical.CancelWhen(first, second, root, predicates=given, disjoint=disjoint, place=place)
        case _:
            parameters = (logical.Parameter(first), logical.Parameter(leaf("C", names.variable())))
            sequence = logical.Sequence(parameters, scope, place=names.place("SEQUENCE"))
            return logical.Not(second, sequence, predicates=given, disjoint=disjoint, place=place)


@st.composite
def _sliding(draw: Draw, depth: int, names: Names) -> Node:
    inputs = [draw(_operand(depth, names)) for _ in range(draw(st.integers(1, 2)))]
    parameters = tuple(logical.Parameter(node, weight=draw(st.integers(1, 2))) for node in inputs)
    disjoint = draw(st.sampled_from((None, None, None, logical.Disjoint())))
    place = names.place("ATMOST")
    return logical.AtMost(draw(st.integers(0, 3)), parameters, draw(st.integers(1, 6)), disjoint=disjoint, place=place)


# -- algebra ----------------------------------------------------------------------------------------------------------


@st.composite
def relations(draw: Draw, depth: int = 2, names: Names | None = None) -> Node:
    """A node of the algebra whose rows bind variables."""
    names = names or Names()
    if depth == 0:
        return leaf(draw(st.sampled_from("ABC")), names.variable())
    kind = draw(st.sampled_from(("select", "window", "join", "sides", "project", "group", "alone", "pattern")))
    below = relations(depth - 1, names)
    match kind:
        case "select":
            node = draw(below)
            return logical.Select(node, draw(predicates(_variables(node))))
        case "window":
            return draw(windows(draw(below)))
        case "join":
            left, right = draw(below), draw(below)
            given = draw(predicates(_variables(left, right)))
            return logical.Join(left, right, given, draw(st.sampled_from(JoinKind)), place=names.place("JOIN"))
        case "sides":
            sides = [_bare(draw(below)) for _ in range(2)]
            operator = draw(st.sampled_from((logical.Union, logical.Difference)))
            return logical.Rename(operator(*sides, place=names.place("SET")), names.variable())
        case "project":
            return logical.Rename(draw(projected(draw(below))), names.variable())
        case "group":
            return logical.Rename(draw(_grouped(draw(below), names)), names.variable())
        case "pattern":
            return draw(patterns(1, names, modes=False))
        case _:
            operator = draw(st.sampled_from((logical.Distinct, logical.Coalesce)))
            return logical.Rename(operator(_bare(draw(below)), place=names.place("ALONE")), names.variable())


def _bare(node: Node) -> Node:
    """The node as rows with the attributes k and v and no variables, as UNION and EXCEPT want it."""
    variable = _variables(node)[0]
    return logical.Project(node, tuple(_column(n, attribute(variable, n)) for n in (KEY, VALUE)))


def _column(name: str, expression: Expression) -> logical.Column:
    return logical.Column(name, expression, DataType.INTEGER)


@st.composite
def projected(draw: Draw, node: Node) -> logical.Project:
    """A projection to k and v, each computed from what is there."""
    names = _variables(node)
    choices = []
    for _ in range(2):
        one, two = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        simple_ = attribute(one, draw(st.sampled_from((KEY, VALUE))))
        total = Binary("+", attribute(one, VALUE), attribute(two, VALUE))
        time = Call("COALESCE", (attribute(one), number(7)))
        choices.append(draw(st.sampled_from((simple_, simple_, total, time))))
    return logical.Project(node, (_column(KEY, choices[0]), _column(VALUE, choices[1])))


@st.composite
def windows(draw: Draw, node: Node) -> Node:
    """A window, a lifetime or VALID over a node."""
    ticks = [Literal(n, DataType.DURATION) for n in range(4)]
    vs, ve = Header(ROW, HeaderField.VS), Header(ROW, HeaderField.VE)
    length = draw(st.integers(1, 5))
    return draw(
        st.sampled_from(
            (
                altered(node, "MOVING", length),
                altered(node, "MOVING", length),
                altered(node, "HOPPING", length, 2),
                altered(node, "INSERTS"),
                altered(node, "DELETES"),
                logical.AlterLifetime(node, Binary("-", vs, ticks[2]), ticks[3]),
                logical.AlterLifetime(node, Binary("+", vs, ticks[1]), ticks[2]),
                logical.AlterLifetime(node, ve, ticks[1]),
                logical.AlterLifetime(node, vs, ticks[0]),
                logical.SetValid(node, Valid.FOREVER),
                logical.SetValid(node, Valid.WITH_LAST),
            )
        )
    )


@st.composite
def _grouped(draw: Draw, node: Node, names: Names) -> Node:
    variable = draw(st.sampled_from(_variables(node)))
    keys = (_column(KEY, attribute(variable)),) if draw(st.booleans()) else ()
    counted = (logical.AggregateColumn(VALUE, Aggregate("COUNT", (), star=True), DataType.INTEGER),)
    if not keys:
        counted = (*counted, logical.AggregateColumn(KEY, Aggregate("MIN", (attribute(variable),)), DataType.INTEGER))
    return logical.GroupBy(node, keys, counted, place=names.place("GROUP"))


# -- histories --------------------------------------------------------------------------------------------------------


@st.composite
def planned_histories(draw: Draw) -> History:
    """Events that were stated before they became valid, and changed their payload once before that.

    Here a selection makes the most difference to beliefs (R9): it may pass only the second version, which then is the
    first row of its event.
    """
    rows: list[Event] = []
    for number_ in range(draw(st.integers(2, 4))):
        stream, start = draw(st.sampled_from("ABC")), draw(st.integers(2, 6))
        change = draw(st.integers(1, start))
        end = plus(start, draw(st.sampled_from((1, 3, FOREVER))))
        first, second = ({KEY: draw(st.sampled_from((0, 1, None))), VALUE: 1, "s": None} for _ in range(2))
        name = f"e{number_}"
        rows.append(primitive(stream, name, start, end, occurrence_start=0, occurrence_end=change, payload=first))
        rows.append(primitive(stream, name, start, end, occurrence_start=change, payload=second))
    return tuple(rows)


# -- what is seen -----------------------------------------------------------------------------------------------------


def output(node: Node) -> logical.Project:
    """What a query over the node would give: everything that its variables stand for."""
    columns = [
        _column(f"{variable}_{name}", attribute(variable, name))
        for variable in sorted(payload_variables(node))
        for name in (KEY, VALUE)
    ]
    columns += [
        _column(f"{variable}_{field.value}", Header(variable, field))
        for variable in sorted(possible(node))
        for field in (HeaderField.ID, HeaderField.VS, HeaderField.VE, HeaderField.RT)
    ]
    columns += [
        _column(name, Attribute(ROW, name, of)) for name, of in attributes_of(node).items() if name != COUNT_NAME
    ]
    return logical.Project(node, tuple(columns))


def seen(row: Event) -> tuple[object, ...]:
    """All of a row but the versions of its contributors, which are references."""
    lineage = tuple(part.reference for part in primitive_contributors(row)) if row.contributors else ()
    times = (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end, row.root_time)
    return (row.stream, row.id, *times, lineage, row.payload)


def result(node: Node, rows: Sequence[Event]) -> Counter[tuple[object, ...]]:
    """The rows of a plan on a history, as a bag."""
    tables: dict[str, list[Event]] = {}
    for row in rows:
        tables.setdefault(row.stream, []).append(row)
    return Counter(seen(row) for row in evaluate(node, tables))
