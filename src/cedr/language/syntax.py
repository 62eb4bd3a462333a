"""The tree of the language: one frozen class per construct, each with its span.

Paper: Section 3.  Sugar stays sugar here (ALL, ANY, windows by name); ``plan.lower`` gives it its meaning.
Scalar expressions are ``cedr.expression.tree``; after parsing their names are unresolved ``Name`` nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cedr.diagnostics.span import Span
from cedr.expression.tree import Expression, Literal, Way
from cedr.model.level import ConsistencyLevel
from cedr.model.modes import Consumption, JoinKind, KeyMode, Selection, Valid
from cedr.model.schema import DataType, Shape
from cedr.model.time import Time


@dataclass(frozen=True, slots=True)
class Written:
    """A duration as it was written: its text, its length in ticks, and whether it has a unit.  Reading: R50."""

    text: str
    value: int
    unit: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """Base of all nodes of the tree.

    ``durations`` are those written in the node itself, in the order of the text: a scope, a window's lengths, B and M.
    Two trees that differ only in how durations were written are equal.
    """

    span: Span | None = field(default=None, compare=False, repr=False)
    durations: tuple[Written, ...] = field(default=(), compare=False, repr=False)


# -- patterns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeReference(Syntax):
    """An event type, or another query, by name: the simplest event expression."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter(Syntax):
    """``[EACH|FIRST|LAST] expression [[AS] variable] [REUSE|CONSUME] [WEIGHT n]``."""

    expression: TypeReference | Operator
    variable: str | None = None
    selection: Selection | None = None
    consumption: Consumption | None = None
    weight: int | None = None
    variable_span: Span | None = field(default=None, compare=False, repr=False)
    mode_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(Syntax):
    """Base of the pattern operators.  ``ties``: WITH TIES, which SEQUENCE, ALL and ATLEAST take (R49)."""

    disjoint: bool = False
    ties: bool = False


@dataclass(frozen=True, slots=True)
class Sequence(Operator):
    """``SEQUENCE(p, …, w [WITH TIES])``."""

    parameters: tuple[Parameter, ...]
    scope: int


@dataclass(frozen=True, slots=True)
class All(Operator):
    """``ALL(p, …, w [WITH TIES])``."""

    parameters: tuple[Parameter, ...]
    scope: int


@dataclass(frozen=True, slots=True)
class Any(Operator):
    """``ANY(p, …)``."""

    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class AtLeast(Operator):
    """``ATLEAST(n, p, …, w [WITH TIES])``."""

    count: int
    parameters: tuple[Parameter, ...]
    scope: int
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AtMost(Operator):
    """``ATMOST(n, p, …, w)``."""

    count: int
    parameters: tuple[Parameter, ...]
    scope: int
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unless(Operator):
    """``UNLESS(p, p, w)``, or with a contributor number n the paper's UNLESS', ``UNLESS(p, p, n, w)``."""

    first: Parameter
    second: Parameter
    scope: int
    contributor: int | None = None
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not(Operator):
    """``NOT(p, SEQUENCE(…))``."""

    negated: Parameter
    sequence: Parameter


@dataclass(frozen=True, slots=True)
class CancelWhen(Operator):
    """``CANCEL-WHEN(p, p [FROM ROOT])``."""

    first: Parameter
    second: Parameter
    from_root: bool = False


@dataclass(frozen=True, slots=True)
class Predicate(Syntax):
    """A conjunct of WHERE that is a predicate, in braces or not."""

    expression: Expression
    braces: bool = False


@dataclass(frozen=True, slots=True)
class CorrelationKey(Syntax):
    """``CorrelationKey(attribute, EQUAL|UNIQUE)``; ``fields`` lead from the attribute down into a STRUCT."""

    attribute: str
    mode: KeyMode
    fields: tuple[str, ...] = ()

    @property
    def way(self) -> Way:
        """The attribute and the fields."""
        return (self.attribute, *self.fields)


@dataclass(frozen=True, slots=True)
class AttributeEquals(Syntax):
    """``[attribute EQUAL literal]``; ``fields`` lead from the attribute down into a STRUCT."""

    attribute: str
    value: Literal
    fields: tuple[str, ...] = ()

    @property
    def way(self) -> Way:
        """The attribute and the fields."""
        return (self.attribute, *self.fields)


Conjunct = Predicate | CorrelationKey | AttributeEquals


@dataclass(frozen=True, slots=True)
class OutputItem(Syntax):
    """``expression [AS name]``."""

    expression: Expression
    name: str | None = None


@dataclass(frozen=True, slots=True)
class PatternBody(Syntax):
    """``WHEN pattern [VALID …] [WHERE …] [OUTPUT …]``."""

    pattern: Parameter
    valid: Valid | None = None
    where: tuple[Conjunct, ...] = ()
    output: tuple[OutputItem, ...] | None = None


# -- algebra ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StreamSource(Syntax):
    """``name [[AS] variable]``."""

    name: str
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Subquery(Syntax):
    """``( body ) [AS] variable``."""

    body: AlgebraBody
    variable: str


@dataclass(frozen=True, slots=True)
class JoinSource(Syntax):
    """``source [LEFT|ANTI] JOIN source ON predicate``."""

    kind: JoinKind
    left: RelationSource
    right: RelationSource
    predicate: Expression


@dataclass(frozen=True, slots=True)
class UnionSource(Syntax):
    """``source UNION source``."""

    left: RelationSource
    right: RelationSource


@dataclass(frozen=True, slots=True)
class ExceptSource(Syntax):
    """``source EXCEPT source``."""

    left: RelationSource
    right: RelationSource


RelationSource = StreamSource | Subquery | JoinSource | UnionSource | ExceptSource


@dataclass(frozen=True, slots=True)
class MovingWindow(Syntax):
    """``MOVING d``."""

    length: int


@dataclass(frozen=True, slots=True)
class HoppingWindow(Syntax):
    """``HOPPING d EVERY d``."""

    size: int
    hop: int


@dataclass(frozen=True, slots=True)
class TumblingWindow(Syntax):
    """``TUMBLING d``."""

    size: int


@dataclass(frozen=True, slots=True)
class SessionWindow(Syntax):
    """``SESSION d``."""

    gap: int


@dataclass(frozen=True, slots=True)
class LifetimeWindow(Syntax):
    """``LIFETIME start, duration``."""

    start: Expression
    duration: Expression


@dataclass(frozen=True, slots=True)
class InsertsWindow(Syntax):
    """``INSERTS``."""


@dataclass(frozen=True, slots=True)
class DeletesWindow(Syntax):
    """``DELETES``."""


@dataclass(frozen=True, slots=True)
class CoalescedWindow(Syntax):
    """``COALESCED``."""


Window = (
    MovingWindow
    | HoppingWindow
    | TumblingWindow
    | SessionWindow
    | LifetimeWindow
    | InsertsWindow
    | DeletesWindow
    | CoalescedWindow
)


@dataclass(frozen=True, slots=True)
class GroupItem(Syntax):
    """``expression [AS name]`` in GROUP BY."""

    expression: Expression
    name: str | None = None


@dataclass(frozen=True, slots=True)
class AlgebraBody(Syntax):
    """``FROM source [WHERE] [WINDOW] [GROUP BY] [HAVING] [OUTPUT [DISTINCT]]``."""

    source: RelationSource
    where: Expression | None = None
    window: Window | None = None
    group_by: tuple[GroupItem, ...] | None = None
    having: Expression | None = None
    output: tuple[OutputItem, ...] | None = None
    distinct: bool = False


# -- statements -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttributeDeclaration(Syntax):
    """``attribute datatype`` in TYPE; ``shape`` is what the declaration says of the inside of a STRUCT or LIST."""

    name: str
    type: DataType
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Option(Syntax):
    """``name = value`` in WITH: a duration as its text, a constant of ``type`` or ``provider`` in its single quotes."""

    name: str
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class Origin(Syntax):
    """``[FROM 'path'] [WITH (option, …)]``: where the events of a type are, and how columns map to them."""

    path: str | None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeDeclaration(Syntax):
    """``TYPE name (attribute datatype, …) [REVISABLE [FOR d]] [FROM 'path'] [WITH (option, …)]``.

    ``revisable`` is d of R37, FOREVER without FOR.
    """

    name: str
    attributes: tuple[AttributeDeclaration, ...]
    revisable: int = 0
    origin: Origin | None = None

    @property
    def inferred(self) -> bool:
        """Whether the attributes are those of the file: a path, and no attributes."""
        return not self.attributes and self.origin is not None and self.origin.path is not None


@dataclass(frozen=True, slots=True)
class Query(Syntax):
    """``EVENT name body [CONSISTENCY …] [@ [t, t]] [# [t, t]] [AS OF t]``."""

    name: str
    body: PatternBody | AlgebraBody
    consistency: ConsistencyLevel | None = None
    occurrence_slice: tuple[Time, Time] | None = None
    valid_slice: tuple[Time, Time] | None = None
    as_of: Time | None = None
    name_span: Span | None = field(default=None, compare=False, repr=False)


Statement = TypeDeclaration | Query


@dataclass(frozen=True, slots=True)
class File(Syntax):
    """All statements of a text, in order."""

    statements: tuple[Statement, ...]
