"""The logical plan: one small frozen class per operator, fields only.

Paper: Section 3.3.2 (pattern operators) and Section 6 (the algebra).  Every node describes a stream; ``place`` is the
operator's place in the query, which makes the IDs of its outputs (R8) and which rewrites must keep.  Rows carry
*bindings*: what the variables of a pattern or a FROM clause stand for.  ``Rename`` is the only node that adds one,
``Project`` the only one that drops them.  Predicates are already injected (R21).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from cedr.diagnostics.span import Span
from cedr.expression.tree import Aggregate, Expression
from cedr.model.modes import JoinKind, Selection, Valid
from cedr.model.schema import DataType, EventType
from cedr.model.time import Time

PLACE = "/"
"""How every place begins; the stream of a primitive event is its type's name and does not."""

ROW = ""
"""The variable that stands for the row itself; it is always bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of all operators."""

    place: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


# -- leaves and names -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source(Node):
    """All events of an event type: the simplest event expression."""

    type: EventType


@dataclass(frozen=True, slots=True)
class Contributor:
    """An event that a row from elsewhere is made of: its stream, and the attributes that carry its ID and its Vs."""

    stream: str
    id: str
    start: str


@dataclass(frozen=True, slots=True)
class Made(Source):
    """Rows of another plan, taken in as events: they bring their own Rt and contributors.  Readings: R2, R8, R32.

    ``scope`` and ``lifetime`` are those of the operator that made them: how far back Rt may lie, how long rows live.
    Contributors are in the order of cbt[] where they are ``ordered``; elsewhere their Vs puts them in it.
    """

    contributors: tuple[Contributor, ...] = ()
    ordered: bool = True
    scope: int = 0
    lifetime: int = 0


@dataclass(frozen=True, slots=True)
class Query(Node):
    """The output of a named query, as an event type that others use.  Reading: R32."""

    name: str
    input: Node
    type: EventType


Stream = Source | Query
"""What a variable of a leaf stands for: an event type, or a query by its name."""


@dataclass(frozen=True, slots=True)
class Rename(Node):
    """Binds a variable to each event; what was bound inside stays visible.  Reading: R20."""

    input: Node
    variable: str


# -- patterns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """An operand of SEQUENCE, ALL, ATLEAST, ANY or ATMOST with its SC mode.  Readings: R25, R26, R14 (weight)."""

    input: Node
    selection: Selection = Selection.EACH
    consume: bool = False
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Disjoint:
    """``DISJOINT``, acting separately for each value of the key expressions.  Reading: R27."""

    keys: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern(Node):
    """Base of the pattern operators: the injected predicates and DISJOINT.  Readings: R21, R27."""

    predicates: tuple[Expression, ...] = ()
    disjoint: Disjoint | None = None


@dataclass(frozen=True, slots=True)
class Sequence(Pattern):
    """Reading: R11.  ``ties``: events of equal Vs may follow each other (R49)."""

    parameters: tuple[Parameter, ...]
    scope: int
    ties: bool = False


@dataclass(frozen=True, slots=True)
class AtLeast(Pattern):
    """Reading: R12.  ``ties``: events of equal Vs may follow each other (R49)."""

    count: int
    parameters: tuple[Parameter, ...]
    scope: int
    ties: bool = False


@dataclass(frozen=True, slots=True)
class Exactly(AtLeast):
    """Reading: R46: ATLEAST with no event of a parameter that is left out.  ``predicates`` say which of these count."""


@dataclass(frozen=True, slots=True)
class All(Pattern):
    """Reading: R13.  Sugar: ATLEAST(k, …).  ``ties``: events of equal Vs may follow each other (R49)."""

    parameters: tuple[Parameter, ...]
    scope: int
    ties: bool = False


TYING = (Sequence, AtLeast, All)
"""The operators that take WITH TIES: their order in time is strict without it.  Reading: R49."""


@dataclass(frozen=True, slots=True)
class Any(Pattern):
    """Reading: R13.  Sugar: ATLEAST(1, …, 1)."""

    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class AtMost(Pattern):
    """Reading: R14.  Sugar: a selection over ``SlidingCount``.  ``keys[i]``: correlation keys of parameter i (R22)."""

    count: int
    parameters: tuple[Parameter, ...]
    scope: int
    keys: tuple[tuple[Expression, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class SlidingCount(Pattern):
    """Each event as [Vs, Vs + scope) with the payload attribute ``COUNT_NAME``: the sliding count of R14."""

    parameters: tuple[Parameter, ...]
    scope: int
    keys: tuple[tuple[Expression, ...], ...] = ()


COUNT_NAME = "$count"
"""The attribute under which ``SlidingCount`` gives its count."""


@dataclass(frozen=True, slots=True)
class Unless(Pattern):
    """Reading: R15.  ``predicates`` are part of "there does not exist"."""

    first: Node
    second: Node
    scope: int


@dataclass(frozen=True, slots=True)
class UnlessNth(Pattern):
    """The paper's UNLESS'.  Reading: R16."""

    first: Node
    second: Node
    contributor: int
    scope: int


@dataclass(frozen=True, slots=True)
class Not(Pattern):
    """Reading: R17."""

    negated: Node
    sequence: Node


@dataclass(frozen=True, slots=True)
class CancelWhen(Pattern):
    """Reading: R18."""

    first: Node
    second: Node
    from_root: bool = False


@dataclass(frozen=True, slots=True)
class SetValid(Node):
    """``VALID FOREVER`` and ``VALID WITH LAST``.  Reading: R19."""

    input: Node
    valid: Valid


# -- algebra ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """One attribute of an output payload."""

    name: str
    expression: Expression
    type: DataType


@dataclass(frozen=True, slots=True)
class Project(Node):
    """Paper: Definition 7.  Also a query's OUTPUT (R23)."""

    input: Node
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Select(Node):
    """Paper: Definition 8.  A predicate that names an unbound variable does not constrain (R21)."""

    input: Node
    predicate: Expression


@dataclass(frozen=True, slots=True)
class Join(Node):
    """Paper: Definition 9, and its left and anti forms."""

    left: Node
    right: Node
    predicate: Expression
    kind: JoinKind = JoinKind.INNER


@dataclass(frozen=True, slots=True)
class Union(Node):
    """Reading: R29: adds bags."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Difference(Node):
    """Reading: R29: a payload of the left is there while no equal payload is alive on the right."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Distinct(Node):
    """Reading: R29: removes duplicates per instant."""

    input: Node


@dataclass(frozen=True, slots=True)
class AggregateColumn:
    """One aggregate of a group."""

    name: str
    aggregate: Aggregate
    type: DataType


@dataclass(frozen=True, slots=True)
class GroupBy(Node):
    """Reading: R30.  Payload: the keys, then the aggregates."""

    input: Node
    keys: tuple[Column, ...]
    aggregates: tuple[AggregateColumn, ...]


@dataclass(frozen=True, slots=True)
class Top(Node):
    """``TOP k BY e [DESC]``, by group: the rows with fewer than ``count`` rows alive before them.  Reading: R45."""

    input: Node
    keys: tuple[Expression, ...]
    count: int
    by: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class AlterLifetime(Node):
    """Paper: Definition 12.  Reading: R31.  Moving, hopping and tumbling windows, inserts and deletes are made of it.

    ``window`` is what the text called it, for ``explain`` only.
    """

    input: Node
    start: Expression
    duration: Expression
    window: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Session(Node):
    """Each event lives as long as its session: from its first event to ``gap`` after its last, by group."""

    input: Node
    gap: int
    keys: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Coalesce(Node):
    """Paper: Definition 10, the * operator."""

    input: Node


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """``Q @ [o1, o2] # [v1, v2]``.  Reading: R24.  Without ``occurrence``: the latest belief."""

    input: Node
    occurrence: tuple[Time, Time] | None = None
    valid: tuple[Time, Time] | None = None
    as_of: Time | None = None


def parameters(node: Node) -> tuple[Parameter, ...]:
    """The parameters of an operator that has SC modes or weights, else none."""
    found = getattr(node, "parameters", ())
    return found if isinstance(found, tuple) else ()


def inputs(node: Node) -> tuple[Node, ...]:
    """The direct inputs of a node, in order."""
    direct = [getattr(node, f.name) for f in fields(node)]
    nodes = [value for value in direct if isinstance(value, Node)]
    return (*nodes, *(parameter.input for parameter in parameters(node)))


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    yield node
    for part in inputs(node):
        yield from walk(part)
