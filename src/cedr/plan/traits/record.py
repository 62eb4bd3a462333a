"""The record that every class of logical nodes fills in: all fields required, none with a default.

Paper: Section 3.3.2 (operators compose) and Section 5 (what an operator costs).  An analysis asks a node for its traits
and knows no classes, so that a new operator either answers or fails at import.

An answer that depends on the inputs gets them as ``Inputs``: each of them with what the analyses found of it.  Traits
lie below the analyses, and so never call one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, NamedTuple, Protocol, TypeVar

from cedr.expression.tree import Expression
from cedr.model.schema import DataType
from cedr.plan.logical import Node

N = TypeVar("N", bound=Node, contravariant=True)

Argument = str | int | list[str]
"""An argument of an operator as ``explain`` shows it."""


class Input(Protocol):
    """What is known of an input of a node."""

    @property
    def certain(self) -> frozenset[str]:
        """The variables that are bound in every row.  Reading: R21."""

    @property
    def own_variables(self) -> frozenset[str]:
        """The variables that stand for the very event of a row."""

    @property
    def scope(self) -> int | None:
        """How far back in Vs a row can reach; None where it reaches nothing but itself."""

    @property
    def lifetime(self) -> int:
        """The longest lifetime of a row."""

    @property
    def open_end(self) -> bool:
        """Whether the Ve of a row may still be shortened."""

    @property
    def primitive(self) -> bool:
        """Whether rows are primitive events, perhaps selected and named."""

    @property
    def by_time(self) -> bool:
        """Whether the order of cbt[] is certain to be that of Vs."""

    @property
    def last_contributor(self) -> int | None:
        """The number of the contributor that gives a row its Vs; None where that is not known."""

    def reads_open_end(self, expression: Expression) -> bool:
        """Whether an expression reads a Ve of a row that may still be shortened.  Reading: R36."""


Inputs = Sequence[Input]


class Origin(Enum):
    """Where a node's rows have an attribute of a variable from."""

    LEAF = auto()
    """The row is an event of a type."""
    INPUT = auto()
    """The only, or the left, input has it under the same variable."""
    EITHER = auto()
    """A row is one of either input."""
    OPERANDS = auto()
    """The operand that binds the variable has it; the row itself has that of the operand whose payload it keeps."""


class End(Enum):
    """Where a row has its Ve from.  Reading: R37."""

    OWN = auto()
    """The operator makes it, of starts and lengths alone."""
    INPUTS = auto()
    """From a row of the positive inputs."""
    EVENTS = auto()
    """From any of the events below."""


class Groups(NamedTuple):
    """By what an operator puts rows together, beside its predicates.  Readings: R22, R30.

    ``alternatives``: one expression for each input; to split the input by any of them keeps groups together.  The two
    texts say why the input cannot be split: where there is none, and where it would be by something else.
    """

    alternatives: tuple[tuple[Expression, ...], ...]
    over_everything: str
    by_another_key: str


class Undecided(NamedTuple):
    """Rows that later events decide about.  Readings: R15, R25, R36.

    ``after``: for each input how long after a row's Vs one of its events can still do so.  ``what``: which rows.
    """

    after: tuple[int, ...]
    what: str


class Further(NamedTuple):
    """How many scopes of its own an operator looks further than its rows reach.  Readings: R34, R37."""

    by_guarantee: int = 0
    by_memory: int = 0


class Sight(NamedTuple):
    """How far before and after its Vs a row depends on events."""

    back: int = 0
    ahead: int = 0


class AsksInside(NamedTuple):
    """Why an operator asks for the contributors of a row of one input: of that row alone, or of any ``deep`` inside."""

    input: int
    deep: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Generic[N]):
    """How an operator is shown."""

    word: Callable[[N], str]
    """What the language calls it."""
    arguments: Callable[[N], Iterable[tuple[str, Argument]]]
    """Its arguments by name; empty ones are left out."""
    line: Callable[[N], str]
    """The operator with its arguments, close to what the language writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape(Generic[N]):
    """What the rows of an operator are: of which inputs, with which variables and attributes.  Readings: R20, R21."""

    negated: Callable[[N], int | None]
    """The input that must not be there for a row."""
    against: Callable[[N], tuple[int, ...]]
    """The inputs of which a further event takes a row away.  Readings: R14 to R18, R29."""
    certain: Callable[[N, Inputs], frozenset[str]]
    """The variables that are bound in every row."""
    hides_variables: bool
    """Whether the variables below are not seen in its rows."""
    same_row: bool
    """Whether its rows are rows of its input as they are, at most some of them."""
    row_by_row: bool
    """Whether each row is made of one row of its input, and keeps its Vs and Ve."""
    merges_versions: bool
    """Whether versions of an event that have equal payloads, compared as a whole, become one row.  Reading: R10."""
    payload: int | Callable[[N], dict[str, DataType]]
    """The input whose payload the rows keep, or the attributes that they have of their own."""
    origin: Origin | Callable[[N], Mapping[str, Expression]]
    """Where attributes come from; for attributes that are computed of one input, by which expressions."""
    predicates: Callable[[N], tuple[Expression, ...]]
    """What must hold between the events that meet in a row."""
    expressions: Callable[[N], Iterable[Expression]]
    """The predicates and expressions by which it decides about its rows; lifetimes are not among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys(Generic[N]):
    """Which rows meet, and by what.  Readings: R12, R21, R22, R29, R30."""

    meeting: Callable[[N], int]
    """How many operands meet in one row."""
    by_itself: Callable[[N], bool]
    """Whether each row depends on one row of an input only."""
    groups: Callable[[N], Groups | None]
    """By what it groups or counts; None where it does not."""
    compares_rows: bool
    """Whether rows are compared by their whole payload."""
    ordered: Callable[[N], bool]
    """Whether the order of cbt[] is that of the parameters.  Reading: R12."""
    nulls_matter: Callable[[N], tuple[bool, ...]]
    """For each input whether a row with a NULL key can bear on anything.  Reading: R22: it agrees with nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times(Generic[N]):
    """How far an operator looks, how long its rows live, and when they are decided.  Paper: Section 5."""

    own_scope: Callable[[N, Inputs], int | None]
    """How far apart in Vs the events may lie that it brings together itself; None where it brings none."""
    scope: Callable[[N, int | None, Inputs], int | None]
    """How far back in Vs a row reaches, by its own scope and those of its inputs.  Reading: R37."""
    while_alive: bool
    """Whether it keeps a row for as long as that is alive."""
    tells_need: bool
    """Whether it tells for how long it needs a row of its input, without asking for the row's Ve."""
    further: Callable[[N], Further]
    """How much further it looks for counts, for choices, or since its root."""
    outlives: Callable[[N, int], int]
    """How much longer than M its input is asked for, by its own scope.  Reading: R34."""
    undecided: Callable[[N], Undecided | None]
    """Which rows wait for later events; None where none do."""
    start: Callable[[N], Expression | None]
    """What gives a row its Vs, where that is an expression.  Paper: Definition 12."""
    lifetime: Callable[[N, Inputs], int]
    """The longest lifetime of a row; FOREVER where there is no bound."""
    open_end: Callable[[N, Inputs], bool]
    """Whether the Ve of a row may still be shortened after it was emitted.  Readings: R3, R33."""
    end: Callable[[N], End]
    """Where a row has its Ve from."""
    reach_below: Callable[[N, Inputs, int, bool], Sequence[int]]
    """How far behind m the rows of each input bear on rows that lie no further than a reach.  Reading: R34.

    The last argument says whether rows are those of the query's output, with their own Ve.
    """
    sees: Callable[[N, Sequence[Sight]], Sight | None]
    """How far its rows see, by how far those of its inputs do; None where that is not bounded, or not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition(Generic[N]):
    """What rows are made of, for what is run in stages and for what is said about them.  Readings: R8, R11, R16."""

    not_in_stages: Callable[[N], str]
    """Why a plan with such an operator is not cut into stages; empty where it can be."""
    composite: bool
    """Whether its rows can be events of a further stage: they are there as soon as their events are."""
    apart: bool
    """Whether its rows begin or end apart from their events."""
    by_time: Callable[[N, Inputs], bool]
    """Whether the order of cbt[], nested ones flattened, is certain to be that of Vs."""
    asks_inside: AsksInside | None
    """Whether it asks for the contributors of its input's rows one by one."""
    several: Callable[[N], bool]
    """Whether a row is a composite of several contributors."""
    last_contributor: Callable[[N, Inputs], int | None]
    """The number of the contributor that gives a row its Vs; None where it is not known from the operator itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits(Generic[N]):
    """Everything that the analyses ask of a class of nodes."""

    node: type[Node]
    text: Text[N]
    shape: Shape[N]
    keys: Keys[N]
    times: Times[N]
    composition: Composition[N]
