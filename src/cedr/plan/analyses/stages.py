"""Plans in stages: an operator that has a key of its own is run first, and what it says is an event for the rest.

Paper: Section 3.3.2 (operators compose, each parameter is itself an event expression).  Readings: R8 (IDs are made of
contributors' streams and IDs), R9 (operators compose through their output tables), R20, R32.

``UNLESS(SEQUENCE(A a, B b, w), C c, v)`` with ``a.machine = b.machine`` and ``b.rack = c.rack`` has no key that spans
all of it, but each of its two operators has one.  So the plan is cut: the SEQUENCE is a query by itself, and the rest
takes its rows in as events of a stream that is called by the operator's place.  They keep ID, Vs, Ve, Os, Oe and Rt,
and carry as attributes what the rest asks of the events inside them: what was ``b.rack`` is the row's attribute of this
name.  So the rest makes the same IDs, and names the same contributors, as the plan in one piece.

What is not certain to come out the same is not cut, and the reason said instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cedr.expression.tree import Attribute, Expression, Header, HeaderField, transform, walk
from cedr.model.schema import DataType, EventType
from cedr.plan import logical
from cedr.plan.analyses.bounds import consumes, scope
from cedr.plan.analyses.elements import Part
from cedr.plan.analyses.facts import Facts
from cedr.plan.analyses.lifetimes import lifetime, open_end
from cedr.plan.analyses.reads import expressions_of
from cedr.plan.analyses.schema import attributes_of
from cedr.plan.analyses.scope import Leaf, positive_leaves
from cedr.plan.analyses.shape import bare, certain, possible
from cedr.plan.logical import ROW, Column, Contributor, Made, Node, Pattern, Project, Query
from cedr.plan.traits.registry import traits_of
from cedr.plan.walk import map_expressions, map_inputs

_CARRIED = {
    HeaderField.ID: DataType.STRING,
    HeaderField.VS: DataType.TIMESTAMP,
    HeaderField.RT: DataType.TIMESTAMP,
}
"""What the rest may ask of the header of events inside a row: what does not change while the row stands."""
_NAMING = (HeaderField.ID, HeaderField.VS)

Keyed = Callable[[Node], str]
"""Why the input of a plan cannot be split by a key; empty where it can."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A plan by itself; ``made`` is what a later one takes its rows as."""

    plan: Query
    made: Made | None = None

    def reads(self, other: Stage) -> bool:
        """Whether it takes in the rows of another one."""
        return other.made is not None and other.made in logical.walk(self.plan)


@dataclass(frozen=True, slots=True)
class NoStages:
    """Why a plan is not cut."""

    reason: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan in two."""

    inner: Query
    made: Made
    rest: Query


def stages_of(plan: Query, keyed: Keyed, revisable: int = 0) -> tuple[Stage, ...] | NoStages:
    """A plan as stages of which each has a key, the last one being the rest; the rows of each go to a later one.

    ``revisable``: how long after its Vs a row may still get versions, as an event of the stage that reads it (R37).
    """
    reason = next((why for node in logical.walk(plan) if (why := _unsuitable(node))), "")
    return NoStages(reason) if reason else _chained(plan, keyed, revisable, 1)


def _unsuitable(node: Node) -> str:
    """Why a plan with such an operator is not cut anywhere."""
    if consumes(node):
        return "CONSUME and DISJOINT choose once for all stages"
    return traits_of(node).composition.not_in_stages(node)


def _chained(plan: Query, keyed: Keyed, revisable: int, number: int) -> tuple[Stage, ...] | NoStages:
    """Stages from here on: two where that is enough; the larger operator first where several would do."""
    found = [_cut(plan, operator, f"${number}", revisable) for operator in _operators(plan)]
    reasons = [cut for cut in found if isinstance(cut, str)]
    keyed_cuts = [cut for cut in found if isinstance(cut, Cut) and not keyed(cut.inner)]
    for cut in keyed_cuts:
        if not keyed(cut.rest):
            return Stage(cut.inner, cut.made), Stage(cut.rest)
    for cut in keyed_cuts:
        further = _chained(cut.rest, keyed, revisable, number + 1)
        if not isinstance(further, NoStages):
            return Stage(cut.inner, cut.made), *further
    if keyed_cuts:
        return NoStages(f"beside {keyed_cuts[0].made.type.name}: {keyed(keyed_cuts[0].rest)}")
    return NoStages(reasons[0] if reasons else "no operator inside has a key of its own")


def _operators(node: Node, *, top: bool = True) -> Iterator[Node]:
    """The patterns and named queries that a query is made of, from the top; not what is inside named queries."""
    if not top and isinstance(node, Pattern | Query):
        yield node
    if top or not isinstance(node, Query):
        for part in logical.inputs(node):
            yield from _operators(part, top=top and not isinstance(node, Pattern))


# -- one cut ----------------------------------------------------------------------------------------------------------


def _cut(plan: Query, operator: Node, variable: str, revisable: int) -> Cut | str:
    """A plan cut above an operator; or why not."""
    reason = _uncertain(operator) or _asked_inside(plan, operator)
    if reason:
        return reason
    carried = _Carried(variable, possible(operator), _called(plan, operator), revisable)
    rest = _above(plan, operator, carried.asking)
    return carried.fault or carried.cut(operator, rest)


def _query(made: Made, body: Node, columns: tuple[Column, ...]) -> Query:
    return Query(made.type.name, Project(body, columns), made.type)


def _above(plan: Query, operator: Node, change: Callable[[Node], Node]) -> Query:
    """The plan with each node above or beside an operator changed; what is inside named queries is not seen here."""

    def over(node: Node) -> Node:
        if node == operator or isinstance(node, Query):
            return node
        return map_inputs(change(node), over)

    changed = map_inputs(change(plan), over)
    assert isinstance(changed, Query)
    return changed


def _replaced(plan: Query, operator: Node, new: Node) -> Query:
    """The plan with another node wherever an operator stands."""

    def below(node: Node) -> Node:
        return map_inputs(node, lambda part: new if part == operator else part)

    return _above(plan, new, below)


def _uncertain(operator: Node) -> str:
    """Why the rows of an operator cannot be events by themselves."""
    name, body = _stream(operator), _body(operator)
    if any(traits_of(node).composition.apart for node in logical.walk(body)):
        return f"the rows of {name} begin or end apart from their events"
    if not traits_of(body).composition.composite:
        return f"the rows of {name} are no composites"
    if open_end(body):
        return f"the rows of {name} may still be shortened"
    if certain(body) != possible(body):
        return f"{name} may leave variables unbound"
    leaves = [leaf for leaf in Part.of(body).leaves() if not leaf.negated]
    named = positive_leaves(body)
    if len(leaves) != len(named) or any(isinstance(leaf.source, Query) for leaf in named):
        return f"not all events inside {name} have a name there"
    if not _ordered(body) and not Facts(bare(body)).by_time:
        return f"the order of the events inside {name} is not that of their times"
    return ""


def _ordered(body: Node) -> bool:
    """Whether the order of cbt[] is that of the parameters, all the way down."""
    return all(traits_of(node).keys.ordered(node) for node in logical.walk(body))


def _stream(operator: Node) -> str:
    """What the rows of an operator are called as events."""
    return operator.name if isinstance(operator, Query) else operator.place


def _body(operator: Node) -> Node:
    """What makes the rows of an operator; of a named query, without what it shows of them."""
    return operator.input.input if isinstance(operator, Query) and isinstance(operator.input, Project) else operator


def _asked_inside(plan: Node, operator: Node) -> str:
    """Why an operator above asks for the contributors of a row one by one."""
    for node in logical.walk(plan):
        asks = traits_of(node).composition.asks_inside
        if asks is not None:
            part = logical.inputs(node)[asks.input]
            if operator in (logical.walk(part) if asks.deep else (bare(part),)):
                return asks.reason
    return ""


def _called(plan: Node, operator: Node) -> frozenset[str]:
    """The variables that stand for the row of an operator itself."""
    named = (node for node in logical.walk(plan) if isinstance(node, logical.Rename))
    return frozenset({ROW, *(node.variable for node in named if bare(node) == operator)})


@dataclass
class _Carried:
    """What the rest asks of the variables inside a row, as attributes of the row."""

    variable: str
    names: frozenset[str]
    called: frozenset[str]
    revisable: int
    asked: dict[str, Expression] = field(default_factory=dict)
    types: dict[str, DataType] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    fault: str = ""

    def asking(self, node: Node) -> Node:
        """A node whose expressions ask the row for what is inside it."""
        changed = map_expressions(node, lambda expression: transform(expression, self._asking_the_row))
        for expression in expressions_of(changed):
            attributes = (part for part in walk(expression) if isinstance(part, Attribute))
            self.read.update(part.name for part in attributes if part.variable in self.called)
        return changed

    def _asking_the_row(self, part: Expression) -> Expression | None:
        if isinstance(part, Header) and part.variable in self.names:
            if part.field not in _CARRIED:
                self.fault = f"{part.variable}.{part.field.value} is asked for outside its operator"
                return None
            return self._carry(part, part.field.value, _CARRIED[part.field])
        if isinstance(part, Attribute) and part.variable in self.names:
            return self._carry(part, part.name, part.type)
        return None

    def _carry(self, part: Attribute | Header, name: str, of: DataType) -> Attribute:
        carried = f"{part.variable}.{name}"
        if self.asked.get(carried, part) != part:
            self.fault = f"{carried} is both an attribute and of the header"
        self.asked[carried], self.types[carried] = part, of
        return Attribute(self.variable, carried, of)

    def cut(self, operator: Node, rest: Query) -> Cut:
        """The two plans."""
        body = _body(operator)
        contributors = tuple(found for leaf in positive_leaves(body) for found in self._contributors(leaf))
        own = {name: of for name, of in attributes_of(operator).items() if name in self.read}
        hidden = tuple(Column(name, expression, self.types[name]) for name, expression in self.asked.items())
        made = Made(
            EventType(_stream(operator), own | self.types, self.revisable),
            contributors=contributors,
            ordered=_ordered(body),
            scope=scope(operator) or 0,
            lifetime=lifetime(operator),
        )
        if isinstance(operator, Query) and isinstance(operator.input, Project):
            shown = tuple(column for column in operator.input.columns if column.name in own)
            return Cut(_query(made, body, (*shown, *hidden)), made, _replaced(rest, operator, made))
        shown = tuple(Column(name, Attribute(ROW, name, of), of) for name, of in own.items())
        named = logical.Rename(made, self.variable)
        return Cut(_query(made, operator, (*shown, *hidden)), made, _replaced(rest, operator, named))

    def _contributors(self, leaf: Leaf) -> Iterator[Contributor]:
        """What an event inside contributes: itself, or what it was made of."""
        source, types = leaf.source, leaf.source.type.attributes
        if not isinstance(source, Made):
            header = (self._carry(Header(leaf.variable, at), at.value, _CARRIED[at]) for at in _NAMING)
            yield Contributor(source.type.name, *(part.name for part in header))
            return
        for part in source.contributors:
            carried = (self._carry(Attribute(leaf.variable, n, types[n]), n, types[n]) for n in (part.id, part.start))
            yield Contributor(part.stream, *(each.name for each in carried))
