"""The tree of the language: one frozen class per construct, each with its span.

Paper: Section 3.  Sugar stays sugar here (ALL, ANY, windows by name); ``plan.lower`` gives it its meaning.
Scalar expressions are ``cedr.expression.tree``; after parsing their names are unresolved ``Name`` nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple

from cedr.diagnostics.span import Span
from cedr.expression.tree import Expression, Literal, Way
from cedr.language.declarations import AttributeDeclaration as AttributeDeclaration
from cedr.language.declarations import Option as Option
from cedr.language.declarations import Origin as Origin
from cedr.language.declarations import TypeDeclaration as TypeDeclaration
from cedr.language.node import Syntax as Syntax
from cedr.language.node import Written as Written
from cedr.model.level import ConsistencyLevel
from cedr.model.modes import Consumption, JoinKind, KeyMode, Selection, Valid
from cedr.model.time import Time

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


class Form(NamedTuple):
    """How an operator is written: its word, an example, and which arguments it takes.

    ``chooses``: its parameters have SC modes (R25), and its scope may say WITH TIES (R49).  ``negates``: some event
    must not be there, and conjuncts may name it (R21).
    """

    word: str
    usage: str
    pair: bool = False
    counted: bool = False
    scoped: bool = True
    chooses: bool = False
    negates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(Syntax):
    """Base of the pattern operators.  ``ties``: WITH TIES, for those whose form says so (R49)."""

    form: ClassVar[Form]
    disjoint: bool = False
    ties: bool = False


@dataclass(frozen=True, slots=True)
class Sequence(Operator):
    """``SEQUENCE(p, …, w [WITH TIES])``."""

    form = Form("SEQUENCE", "SEQUENCE(A, B, 12 hours)", chooses=True)
    parameters: tuple[Parameter, ...]
    scope: int


@dataclass(frozen=True, slots=True)
class All(Operator):
    """``ALL(p, …, w [WITH TIES])``."""

    form = Form("ALL", "ALL(A, B, 12 hours)", chooses=True)
    parameters: tuple[Parameter, ...]
    scope: int


@dataclass(frozen=True, slots=True)
class Any(Operator):
    """``ANY(p, …)``."""

    form = Form("ANY", "ANY(A, B)", scoped=False)
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class AtLeast(Operator):
    """``ATLEAST(n, p, …, w [WITH TIES])``."""

    form = Form("ATLEAST", "ATLEAST(2, A, B, C, 12 hours)", counted=True, chooses=True)
    count: int
    parameters: tuple[Parameter, ...]
    scope: int
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Exactly(AtLeast):
    """``EXACTLY(n, p, …, w [WITH TIES])``: an ATLEAST with nothing else beside it (R46)."""

    form = Form("EXACTLY", "EXACTLY(2, A, B, C, 12 hours)", counted=True, chooses=True, negates=True)


@dataclass(frozen=True, slots=True)
class AtMost(Operator):
    """``ATMOST(n, p, …, w)``."""

    form = Form("ATMOST", "ATMOST(2, A, B, C, 12 hours)", counted=True)
    count: int
    parameters: tuple[Parameter, ...]
    scope: int
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unless(Operator):
    """``UNLESS(p, p, w)``, or with a contributor number n the paper's UNLESS', ``UNLESS(p, p, n, w)``."""

    form = Form("UNLESS", "UNLESS(A, B, 5 minutes)", pair=True, negates=True)
    first: Parameter
    second: Parameter
    scope: int
    contributor: int | None = None
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not(Operator):
    """``NOT(p, SEQUENCE(…))``."""

    form = Form("NOT", "NOT(A, SEQUENCE(B, C, 12 hours))", pair=True, scoped=False, negates=True)
    negated: Parameter
    sequence: Parameter


@dataclass(frozen=True, slots=True)
class CancelWhen(Operator):
    """``CANCEL-WHEN(p, p [FROM ROOT])``."""

    form = Form("CANCEL-WHEN", "CANCEL-WHEN(A, B)", pair=True, scoped=False, negates=True)
    first: Parameter
    second: Parameter
    from_root: bool = False


Several = Sequence | All | Any | AtLeast | AtMost
"""The operators over any number of parameters."""

OPERATORS: Final = (Sequence, All, Any, AtLeast, Exactly, AtMost, Unless, Not, CancelWhen)
"""All pattern operators."""

OPERATOR_WORDS: Final = frozenset(kind.form.word for kind in OPERATORS) - {"NOT"}
"""The words that stand for nothing but a pattern operator; NOT negates expressions, too."""


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
class TopClause(Syntax):
    """``TOP k BY expression [DESC]``.  Reading: R45."""

    count: int
    expression: Expression
    descending: bool = False
    count_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AlgebraBody(Syntax):
    """``FROM source [WHERE] [WINDOW] [GROUP BY] [HAVING] [TOP] [OUTPUT [DISTINCT]]``."""

    source: RelationSource
    where: Expression | None = None
    window: Window | None = None
    group_by: tuple[GroupItem, ...] | None = None
    having: Expression | None = None
    output: tuple[OutputItem, ...] | None = None
    distinct: bool = False
    top: TopClause | None = None


# -- statements -------------------------------------------------------------------------------------------------------


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
