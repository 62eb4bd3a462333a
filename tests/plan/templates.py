"""Small plans by hand, one for each way in which a rule can meet an operator; predicates are drawn later.

Each template takes a predicate over x (event type A), one over y (event type B) and one over both.
"""

# ruff: noqa: ARG005 - every template takes the same three predicates, whether it needs them or not

from __future__ import annotations

from collections.abc import Callable, Mapping

from cedr.expression.tree import Attribute, Binary, Call, Expression, Header, HeaderField, Literal, conjunction
from cedr.model.modes import JoinKind, Selection, Valid
from cedr.model.schema import DataType
from cedr.plan import logical
from cedr.plan.analyses.shape import renamed
from cedr.plan.logical import ROW, Node
from cedr.plan.windows import altered
from tests.plan.plans import KEY, VALUE, attribute, leaf, number

A, B, C = leaf("A", "x"), leaf("B", "y"), leaf("C", "z")
EACH, FIRST, LAST = (
    logical.Parameter(B),
    logical.Parameter(B, Selection.FIRST),
    logical.Parameter(B, Selection.LAST),
)
VS, VE = Header(ROW, HeaderField.VS), Header(ROW, HeaderField.VE)

Template = Callable[[Expression, Expression, Expression], Node]


def sequence(*parameters: logical.Parameter, predicates: tuple[Expression, ...] = (), disjoint: bool = False) -> Node:
    given = logical.Disjoint() if disjoint else None
    return logical.Sequence(parameters, 4, predicates=predicates, disjoint=given, place="/SEQUENCE")


def at_least(count: int, *parameters: logical.Parameter, predicates: tuple[Expression, ...]) -> Node:
    return logical.AtLeast(count, parameters, 4, predicates=predicates, place="/ATLEAST")


def parameter(node: Node, selection: Selection = Selection.EACH, *, consume: bool = False) -> logical.Parameter:
    return logical.Parameter(node, selection, consume)


def ticks(count: int) -> Literal:
    return Literal(count, DataType.DURATION)


def columns(**expressions: Expression) -> tuple[logical.Column, ...]:
    return tuple(logical.Column(name, expression, DataType.INTEGER) for name, expression in expressions.items())


def bare(node: logical.Rename) -> Node:
    return node.input


def named(node: Node, predicate: Expression) -> Node:
    """A selection by x's predicate over a node whose row is given the name x."""
    return logical.Select(logical.Rename(node, "x"), predicate)


def join(kind: JoinKind, on: Expression) -> Node:
    return logical.Join(A, B, on, kind, place="/JOIN")


def window(name: str, *lengths: int) -> Node:
    return altered(A, name, *lengths)


PATTERNS: Mapping[str, Template] = {
    "sequence": lambda p, q, r: sequence(parameter(A), EACH, predicates=(p, q, r)),
    "sequence of first": lambda p, q, r: sequence(parameter(A), FIRST, predicates=(q, r)),
    "sequence of last": lambda p, q, r: sequence(parameter(A, Selection.LAST), EACH, predicates=(p, r)),
    "sequence to the last": lambda p, q, r: sequence(parameter(A), LAST, predicates=(q, r)),
    "sequence that consumes": lambda p, q, r: sequence(
        parameter(A, Selection.FIRST, consume=True), parameter(B, consume=True), predicates=(p, q, r)
    ),
    "sequence of one type": lambda p, q, r: sequence(
        parameter(A, consume=True), parameter(leaf("A", "y"), consume=True), predicates=(p, q)
    ),
    "sequence, disjoint": lambda p, q, r: sequence(parameter(A), EACH, predicates=(p, q), disjoint=True),
    "sequence, selected": lambda p, q, r: logical.Select(sequence(parameter(A), EACH), r),
    "all": lambda p, q, r: logical.All((parameter(A), EACH), 4, predicates=(p, q, r), place="/ALL"),
    "all with first": lambda p, q, r: logical.All((parameter(A), FIRST), 4, predicates=(q, r), place="/ALL"),
    "all with last": lambda p, q, r: logical.All((parameter(A), LAST), 4, predicates=(q, r), place="/ALL"),
    "any": lambda p, q, r: logical.Any((parameter(A), EACH), predicates=(p, q), place="/ANY"),
    "at least": lambda p, q, r: at_least(2, parameter(A), EACH, parameter(C), predicates=(p, q, r)),
    "at least of one type": lambda p, q, r: at_least(
        1, parameter(A), parameter(leaf("A", "y")), predicates=(conjunction((p, q)), q)
    ),
    "at most": lambda p, q, r: logical.Select(
        logical.AtMost(1, (parameter(A), parameter(B)), 4, place="/ATMOST"), conjunction((p, q))
    ),
    "at most of selected": lambda p, q, r: logical.AtMost(
        1, (parameter(logical.Select(A, p)), parameter(logical.Select(B, q))), 4, place="/ATMOST"
    ),
    "at most by key": lambda p, q, r: logical.AtMost(
        1, (parameter(A), parameter(B)), 4, ((attribute("x"),), (attribute("y"),)), place="/ATMOST"
    ),
    "at most, disjoint": lambda p, q, r: logical.AtMost(
        2, (parameter(A), parameter(B)), 4, disjoint=logical.Disjoint(), place="/ATMOST"
    ),
    "unless": lambda p, q, r: logical.Unless(A, B, 4, predicates=(q, r), place="/UNLESS"),
    "unless, selected": lambda p, q, r: logical.Select(logical.Unless(A, B, 4, place="/UNLESS"), p),
    "unless, selected by the row": lambda p, q, r: logical.Select(
        logical.Unless(A, B, 4, place="/UNLESS"), renamed(p, frozenset("x"))
    ),
    "unless, disjoint": lambda p, q, r: logical.Select(
        logical.Unless(A, B, 2, disjoint=logical.Disjoint(), place="/UNLESS"), p
    ),
    "unless'": lambda p, q, r: logical.Select(
        logical.UnlessNth(A, B, 1, 3, predicates=(q, r), place="/UNLESS'"), conjunction((p, renamed(p, frozenset("x"))))
    ),
    "not": lambda p, q, r: logical.Select(
        logical.Not(B, sequence(parameter(A), parameter(C)), predicates=(q, r), place="/NOT"), p
    ),
    "cancel-when": lambda p, q, r: logical.Select(
        logical.CancelWhen(
            logical.Rename(sequence(parameter(A), parameter(C)), "s"), B, predicates=(q, r), place="/CANCEL-WHEN"
        ),
        p,
    ),
}

ALGEBRA: Mapping[str, Template] = {
    "selections": lambda p, q, r: logical.Select(logical.Select(A, p), p),
    "selections over what may be unbound": lambda p, q, r: logical.Select(
        logical.Select(logical.Any((parameter(A), EACH), place="/ANY"), conjunction((p, q))), q
    ),
    "projection": lambda p, q, r: named(
        logical.Project(A, columns(k=Binary("+", attribute("x", VALUE), number(1)), v=attribute("x"))), p
    ),
    "projection of what may be unbound": lambda p, q, r: named(
        logical.Project(
            logical.Any((parameter(A), EACH), place="/ANY"), columns(k=attribute("x"), v=attribute("y", VALUE))
        ),
        p,
    ),
    "projections": lambda p, q, r: logical.Project(
        logical.Rename(
            logical.Project(A, columns(k=Call("COALESCE", (attribute("x"), number(5))), v=Header("x", HeaderField.VS))),
            "x",
        ),
        columns(
            a=Binary("+", attribute("x"), attribute("x", VALUE)),
            b=Header("x", HeaderField.VE),
            c=Attribute(ROW, KEY, DataType.INTEGER),
        ),
    ),
    "projections that hide": lambda p, q, r: logical.Project(
        logical.Project(A, columns(k=attribute("x"), v=attribute("x", VALUE))),
        columns(c=Attribute(ROW, KEY, DataType.INTEGER)),
    ),
    "projections that ask for Os": lambda p, q, r: logical.Project(
        logical.Project(A, columns(k=attribute("x"))), columns(c=Header(ROW, HeaderField.OS))
    ),
    "union": lambda p, q, r: named(logical.Union(bare(A), bare(B), place="/UNION"), p),
    "difference": lambda p, q, r: named(logical.Difference(bare(A), bare(B), place="/EXCEPT"), p),
    "distinct": lambda p, q, r: named(logical.Distinct(bare(A), place="/DISTINCT"), p),
    "coalesce": lambda p, q, r: named(logical.Coalesce(bare(A), place="/COALESCED"), p),
    "group by": lambda p, q, r: named(
        logical.GroupBy(A, columns(k=attribute("x"), v=attribute("x", VALUE)), (), place="/GROUP"), p
    ),
    "join": lambda p, q, r: logical.Select(join(JoinKind.INNER, conjunction((p, r))), conjunction((q, r))),
    "left join": lambda p, q, r: logical.Select(join(JoinKind.LEFT, conjunction((q, r))), p),
    "left join, right selected": lambda p, q, r: logical.Select(join(JoinKind.LEFT, r), q),
    "anti join": lambda p, q, r: logical.Select(join(JoinKind.ANTI, conjunction((q, r))), p),
    "session": lambda p, q, r: logical.Select(logical.Session(A, 2, place="/SESSION"), p),
    "valid forever": lambda p, q, r: logical.Select(logical.SetValid(A, Valid.FOREVER), renamed(p, frozenset("x"))),
    "valid with last": lambda p, q, r: logical.Select(
        logical.SetValid(sequence(parameter(A), EACH), Valid.WITH_LAST), conjunction((p, q))
    ),
    "moving": lambda p, q, r: logical.Select(window("MOVING", 3), p),
    "moving, selected by the row": lambda p, q, r: logical.Select(window("MOVING", 3), renamed(p, frozenset("x"))),
    "hopping": lambda p, q, r: logical.Select(window("HOPPING", 3, 2), p),
    "deletes": lambda p, q, r: logical.Select(window("DELETES"), p),
    "earlier": lambda p, q, r: logical.Select(logical.AlterLifetime(A, Binary("-", VS, ticks(3)), ticks(2)), p),
}

_LIFETIMES: Mapping[str, Callable[[Node], Node]] = {
    "moving 3": lambda node: altered(node, "MOVING", 3),
    "moving 5": lambda node: altered(node, "MOVING", 5),
    "hopping": lambda node: altered(node, "HOPPING", 3, 2),
    "inserts": lambda node: altered(node, "INSERTS"),
    "deletes": lambda node: altered(node, "DELETES"),
    "two later": lambda node: logical.AlterLifetime(node, Binary("+", VS, ticks(2)), ticks(2)),
    "for two": lambda node: logical.AlterLifetime(node, VS, ticks(2)),
    "for none": lambda node: logical.AlterLifetime(node, VS, ticks(0)),
    "until the end": lambda node: logical.AlterLifetime(node, VS, Binary("-", VE, VS)),
}

LIFETIMES: Mapping[str, Template] = {
    f"{outer} over {inner}": lambda p, q, r, o=outer, i=inner: _LIFETIMES[o](_LIFETIMES[i](A))
    for outer in _LIFETIMES
    for inner in _LIFETIMES
}

TEMPLATES: Mapping[str, Template] = {**PATTERNS, **ALGEBRA, **LIFETIMES}
