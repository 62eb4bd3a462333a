"""Random logical plans, made of nodes directly: no language in between.

Leaves are the small types of ``cedr.testing``, each under a variable of its own; predicates compare them.  The result
of a strategy is a plan and the variables that its rows can have bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

from hypothesis import strategies as st

from cedr.expression.tree import Aggregate, Attribute, Binary, Expression, Header, HeaderField, IsNull, Literal
from cedr.model.modes import JoinKind, Selection, Valid
from cedr.model.schema import DataType
from cedr.plan import logical
from cedr.plan.logical import Node, Parameter
from cedr.plan.windows import altered
from cedr.testing.histories import small_catalog

CATALOG = small_catalog("A", "B")
"""Two types only, so that parameters compete for the same events."""
INTEGER, STRING = DataType.INTEGER, DataType.STRING


class Drawn(NamedTuple):
    """A plan and the variables that its rows can have bound."""

    node: Node
    variables: tuple[str, ...]


def source(name: str) -> logical.Source:
    found = CATALOG.get(name)
    assert found is not None
    return logical.Source(found)


def leaf(name: str, variable: str) -> Node:
    return logical.Rename(source(name), variable)


def attribute(variable: str, name: str) -> Attribute:
    return Attribute(variable, name, STRING if name == "s" else INTEGER)


def equal(left: str, right: str, name: str = "k") -> Expression:
    return Binary("=", attribute(left, name), attribute(right, name))


def integer(value: int) -> Literal:
    return Literal(value, INTEGER)


@st.composite
def predicates(draw: st.DrawFn, variables: Sequence[str]) -> Expression:
    """A conjunct over one, two or three of the variables: equalities on keys are the most frequent."""
    one, other = (draw(st.sampled_from(variables)) for _ in range(2))
    kind = draw(st.integers(0, 8))
    if kind <= 2:
        return equal(one, other)
    if kind == 8:
        return Binary("=", attribute(one, "k"), attribute(other, "v"))
    if kind == 3:
        return Binary("<=", attribute(one, "v"), attribute(other, "v"))
    if kind == 4:
        return Binary("<>", attribute(one, "s"), attribute(other, "s"))
    if kind == 5:
        return Binary("OR", IsNull(attribute(one, "s")), equal(one, other, "v"))
    if kind == 6:
        return Binary(">", attribute(one, "v"), integer(draw(st.integers(0, 1))))
    return Binary("<", Header(one, HeaderField.VS), Binary("+", Header(other, HeaderField.VS), integer(2)))


def conjuncts(variables: Sequence[str], longest: int = 2) -> st.SearchStrategy[tuple[Expression, ...]]:
    return st.lists(predicates(variables), max_size=longest).map(tuple)


SCOPES = st.integers(1, 6)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2, *, sc_modes: bool = True) -> Drawn:
    """A pattern of nested operators."""
    return draw(_pattern(depth, count(1), sc_modes=sc_modes))


@st.composite
def _pattern(draw: st.DrawFn, depth: int, numbers: Iterator[int], *, sc_modes: bool, place: str = "/") -> Drawn:
    if depth == 0 or (place != "/" and draw(st.booleans())):
        variable = f"x{next(numbers)}"
        return Drawn(leaf(draw(st.sampled_from("AB")), variable), (variable,))

    def part(number: int) -> Drawn:
        return draw(_pattern(depth - 1, numbers, sc_modes=sc_modes, place=f"{place}{number}/"))

    families = ("SEQUENCE", "ATLEAST", "EXACTLY", "ALL", "ANY", "ATMOST", "UNLESS", "UNLESS'", "NOT", "CANCEL")
    kind = draw(st.sampled_from(families))
    place += kind
    if kind in ("SEQUENCE", "ATLEAST", "EXACTLY", "ALL"):
        return draw(_several(kind, [part(n) for n in range(draw(st.sampled_from((1, 2, 2, 3))))], place, sc_modes))
    if kind in ("ANY", "ATMOST"):
        return draw(_single(kind, [part(n) for n in range(draw(st.sampled_from((1, 2, 2))))], place))
    return draw(_negation(kind, part, place))


@st.composite
def _several(draw: st.DrawFn, kind: str, parts: list[Drawn], place: str, sc_modes: bool) -> Drawn:
    variables = tuple(v for part in parts for v in part.variables)
    consuming = sc_modes and draw(st.sampled_from((False, False, True)))
    disjoint = logical.Disjoint() if sc_modes and draw(st.sampled_from((False, False, False, True))) else None
    number = draw(st.integers(1, len(parts))) if kind in ("ATLEAST", "EXACTLY") else len(parts)
    parameters = []
    for position, part in enumerate(parts):
        last = position == len(parts) - 1
        choosing = kind != "SEQUENCE" or last  # LAST would choose by the future
        allowed = [Selection.EACH, Selection.FIRST, Selection.LAST] if sc_modes else [Selection.EACH]
        if sc_modes and choosing and (consuming or disjoint is not None or number < 2):
            allowed.remove(Selection.LAST)
        consume = consuming and draw(st.booleans())
        parameters.append(Parameter(part.node, draw(st.sampled_from(allowed)), consume))
    scope, found = draw(SCOPES), draw(conjuncts(variables, 0 if number < 2 and kind != "EXACTLY" else 2))
    made = tuple(parameters)
    if kind == "SEQUENCE":
        return Drawn(logical.Sequence(made, scope, place=place, predicates=found, disjoint=disjoint), variables)
    if kind == "ALL":
        return Drawn(logical.All(made, scope, place=place, predicates=found, disjoint=disjoint), variables)
    counted = logical.Exactly if kind == "EXACTLY" else logical.AtLeast
    return Drawn(counted(number, made, scope, place=place, predicates=found, disjoint=disjoint), variables)


@st.composite
def _single(draw: st.DrawFn, kind: str, parts: list[Drawn], place: str) -> Drawn:
    variables = tuple(v for part in parts for v in part.variables)
    disjoint = logical.Disjoint() if draw(st.sampled_from((False, False, False, True))) else None
    if kind == "ANY":
        return Drawn(logical.Any(tuple(Parameter(p.node) for p in parts), place=place, disjoint=disjoint), variables)
    made = tuple(Parameter(p.node, weight=draw(st.sampled_from((1, 1, 2, 0)))) for p in parts)
    number, scope = draw(st.integers(0, 3)), draw(SCOPES)
    return Drawn(logical.AtMost(number, made, scope, place=place, disjoint=disjoint), variables)


@st.composite
def _negation(draw: st.DrawFn, kind: str, part, place: str) -> Drawn:  # type: ignore[no-untyped-def]
    second = part(2)
    if kind == "NOT":
        parts = [part(n) for n in (3, 4, 5)[: draw(st.integers(2, 3))]]
        first = draw(_several("SEQUENCE", parts, f"{place}/SEQUENCE", False))
    else:
        first = part(1)
    found = draw(conjuncts((*first.variables, *second.variables)))
    disjoint = logical.Disjoint() if draw(st.sampled_from((False, False, False, True))) else None
    scope = draw(SCOPES)
    base = {"place": place, "predicates": found, "disjoint": disjoint}
    node: Node
    if kind == "UNLESS":
        node = logical.Unless(first.node, second.node, scope, **base)
    elif kind == "UNLESS'":
        most = draw(st.integers(1, fewest_contributors(first.node)))
        node = logical.UnlessNth(first.node, second.node, most, scope, **base)
    elif kind == "NOT":
        node = logical.Not(second.node, first.node, **base)
    else:
        node = logical.CancelWhen(first.node, second.node, draw(st.booleans()), **base)
    return Drawn(node, first.variables)


def fewest_contributors(node: Node) -> int:
    """How many contributors every row of a node has at least: as far as UNLESS' may count (R16)."""
    match node:
        case logical.Sequence() | logical.All():
            return len(node.parameters)
        case logical.AtLeast():
            return node.count
        case logical.Not():
            return fewest_contributors(node.sequence)
        case logical.CancelWhen():
            return fewest_contributors(node.first)
        case logical.Rename():
            return fewest_contributors(node.input)
        case _:
            return 1


# -- algebra ----------------------------------------------------------------------------------------------------------

COLUMNS = tuple(
    logical.Column(name, attribute("x", name), kind) for name, kind in (("k", INTEGER), ("v", INTEGER), ("s", STRING))
)
COUNT = logical.AggregateColumn("n", Aggregate("COUNT", (), star=True), INTEGER)


def aggregate_of(function: str, argument: str) -> logical.AggregateColumn:
    call = Aggregate(function, (attribute("x", argument),))
    return logical.AggregateColumn(f"{function}_{argument}", call, INTEGER)


@st.composite
def relations(draw: st.DrawFn) -> Node:
    """One operator of the algebra over the small types."""
    one, other = (draw(st.sampled_from("AB")) for _ in range(2))
    x, y = leaf(one, "x"), leaf(other, "y")
    kinds = ("select", "project", "join", "union", "difference", "distinct", "group", "top", "window")
    kind = draw(st.sampled_from(kinds))
    if kind == "select":
        return logical.Select(x, draw(predicates(["x"])))
    if kind == "project":
        return logical.Project(x, COLUMNS[: draw(st.integers(0, 3))])
    if kind == "join":
        return logical.Join(x, y, draw(predicates(["x", "y"])), draw(st.sampled_from(JoinKind)), place="/JOIN")
    if kind == "union":
        return logical.Union(source(one), source(other), place="/UNION")
    if kind == "difference":
        left, right = (logical.Project(leaf(n, "x"), COLUMNS[:1]) for n in (one, other))
        return logical.Difference(left, right, place="/EXCEPT")
    if kind == "distinct":
        return logical.Distinct(logical.Project(x, COLUMNS[:1]), place="/DISTINCT")
    if kind == "top":
        keys = tuple(column.expression for column in COLUMNS[: draw(st.integers(0, 1))])
        by, descending = attribute("x", draw(st.sampled_from("kv"))), draw(st.booleans())
        return logical.Top(x, keys, draw(st.integers(1, 2)), by, descending, place="/TOP")
    if kind == "group":
        known = ("SUM", "MIN", "MAX", "FIRST", "LAST", "MEDIAN", "LIST")
        functions = draw(st.lists(st.sampled_from(known), unique=True, max_size=2))
        calls = (COUNT, *(aggregate_of(f, "v") for f in functions))
        return logical.GroupBy(x, COLUMNS[: draw(st.integers(0, 1))], calls, place="/GROUP")
    return draw(windows(x))


@st.composite
def windows(draw: st.DrawFn, node: Node) -> Node:
    """A window over a node."""
    kind = draw(st.sampled_from(("MOVING", "HOPPING", "TUMBLING", "INSERTS", "DELETES", "SESSION", "LAST", "STAR")))
    if kind == "SESSION":
        keys = (attribute("x", "k"),) if draw(st.booleans()) else ()
        return logical.Session(node, draw(st.integers(1, 3)), keys, place="/SESSION")
    if kind == "LAST":
        return logical.SetValid(node, draw(st.sampled_from(Valid)))
    if kind == "STAR":
        return logical.Coalesce(node, place="/COALESCED")
    lengths = {"MOVING": 1, "HOPPING": 2, "TUMBLING": 1}.get(kind, 0)
    drawn = [draw(st.integers(1, 5)) for _ in range(lengths)]
    return altered(node, kind, *(drawn * 2 if kind == "TUMBLING" else drawn))


def with_inputs(node: Node, made: Sequence[Node]) -> Node:
    """The node over other inputs, in the order of ``logical.inputs``."""
    todo = iter(made)
    direct = {f: next(todo) for f in _direct(node)}
    node = replace(node, **direct) if direct else node
    parameters = logical.parameters(node)
    if parameters:
        node = replace(node, parameters=tuple(replace(p, input=next(todo)) for p in parameters))  # type: ignore[call-arg]
    return node


def _direct(node: Node) -> list[str]:
    return [name for name in node.__dataclass_fields__ if isinstance(getattr(node, name), Node)]
