"""Selections and predicates go down, to where their events come in.  Paper: Definitions 8 and 9, Section 3.2.

**The forward lemma.**  A selection keeps the Os of its rows (R10).  Where an event's first version fails a predicate
and a later version v passes it, v is the first row of that event below the selection, and if it was stated in time
it counts there as believed from the beginning (R9), not only from v.Os.  Now let an operator *look forward*: whether an
event is there has no bearing on rows with a smaller Vs.  Then the rows in question have Vs >= v.Vs >= v.Os, hence
Os >= v.Os in any case (R10), and nothing changes.  So a predicate moves below an operator, or onto an operand, only
where the operator looks forward from there.  These look back, and keep their predicates:

- the second operand of UNLESS: it takes away a row that begins before it;
- a parameter whose further events take rows away;
- LAST on the last parameter of SEQUENCE, or on any of ALL and ATLEAST: a later event takes away an earlier choice;
- the right side of LEFT and ANTI joins and of differences, the input of group-by, distinct, coalescing and sessions:
  they shorten or lengthen rows that begin earlier.

Os and Oe may come out differently in between, so a predicate that reads them stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cedr.expression.tree import Expression, HeaderField, aggregates, conjunction, variables
from cedr.model.modes import JoinKind, Selection
from cedr.plan.analyses.lifetimes import starts_no_earlier
from cedr.plan.analyses.shape import (
    certain,
    possible,
    reads,
    reads_occurrence,
    renamed,
    split,
    through_projection,
    with_parameter,
)
from cedr.plan.logical import (
    ROW,
    All,
    AlterLifetime,
    Any,
    AtLeast,
    CancelWhen,
    Join,
    Node,
    Not,
    Parameter,
    Pattern,
    Project,
    Rename,
    Select,
    Sequence,
    SetValid,
    Union,
    Unless,
    UnlessNth,
)
from cedr.plan.traits.registry import traits_of

VS, VE, ID = HeaderField.VS, HeaderField.VE, HeaderField.ID


def push_selection(node: Node) -> Node | None:
    """A selection goes below its input; a predicate over one operand goes onto that operand.

    Paper: Definitions 8 and 9; Section 3.2 (predicate injection).  Readings: R21, R25.

    - ``σ_p(π_f(S)) = π_f(σ_{p∘f}(S))``, ``σ_p(S ∪ T) = σ_p(S) ∪ σ_p(T)``, ``σ_p(S ⋈ T) = σ_p(S) ⋈ T`` for p over S (the
      left side of LEFT and ANTI joins too), ``σ_p(S ⋈_θ T) = S ⋈_{θ ∧ p} T``;
    - ``σ_p(Π_f(S)) = Π_f(σ_p(S))`` for p that reads no lifetime, where no start lies before Vs;
    - UNLESS, UNLESS', NOT, CANCEL-WHEN keep or drop whole events of one operand, so a selection of what they keep
      may as well be made before;
    - a predicate of SEQUENCE, ALL, ANY, ATLEAST over the variables of one parameter holds for its event whatever the
      others are, and works before selection and consumption (R25); one of NOT, CANCEL-WHEN, UNLESS' over the negated
      operand says which of its events count.
    """
    match node:
        case Select():
            return _below(node)
        case Sequence() | All() | Any() | AtLeast():
            return _onto_parameters(node)
        case UnlessNth() | CancelWhen():
            kept, moved = _divide(node, node.second)
            return replace(node, second=_over(node.second, moved), predicates=kept) if moved else None
        case Not():
            kept, moved = _divide(node, node.negated)
            return replace(node, negated=_over(node.negated, moved), predicates=kept) if moved else None
        case Join(kind=JoinKind.INNER):
            return _onto_sides(node)
        case _:
            return None


def _below(node: Select) -> Node | None:
    """The selection with those of its parts that can go below its input there."""
    new, kept = node.input, []
    for part in split(node.predicate, certain(node.input)):
        sunk = _sink(new, part)
        if sunk is None:
            kept.append(part)
        else:
            new = sunk
    if new is node.input:
        return None
    return replace(node, input=new, predicate=conjunction(tuple(kept))) if kept else new


def _sink(node: Node, predicate: Expression) -> Node | None:
    """A node that means σ_predicate(node), with the selection below it; None where it has to stay."""
    if reads_occurrence(predicate):
        return None
    match node:
        case Select():
            below = _sink(node.input, predicate)
            return None if below is None else replace(node, input=below)
        case Rename():
            below = _sink(node.input, renamed(predicate, frozenset({node.variable})))
            return None if below is None else replace(node, input=below)
        case Project():
            return _below_projection(node, predicate)
        case Union() if not reads(predicate, ID, of=ROW):  # a union makes its own IDs
            return replace(node, left=_into(node.left, predicate), right=_into(node.right, predicate))
        case Join():
            return _below_join(node, predicate)
        case AlterLifetime() if starts_no_earlier(node) and not reads(predicate, VS, VE, of=ROW):
            return replace(node, input=_into(node.input, predicate))
        case SetValid() if not reads(predicate, VE, of=ROW):
            return replace(node, input=_into(node.input, predicate))
        case Pattern():
            return _below_negation(node, predicate)
        case _:
            return None


def _into(node: Node, predicate: Expression) -> Node:
    """σ_predicate(node), as low as it goes."""
    sunk = _sink(node, predicate)
    return Select(node, predicate) if sunk is None else sunk


def _over(node: Node, predicates: Iterable[Expression]) -> Node:
    for predicate in predicates:
        node = _into(node, predicate)
    return node


def _below_projection(node: Project, predicate: Expression) -> Node | None:
    """Only what is certainly bound: an unbound variable is NULL to a projection, but lifts a selection (R21)."""
    composed = through_projection(predicate, node, frozenset({ROW}))
    if composed is None or aggregates(composed) or reads_occurrence(composed):
        return None
    if not variables(composed) <= certain(node.input) | {ROW}:
        return None
    return replace(node, input=_into(node.input, composed))


def _below_join(node: Join, predicate: Expression) -> Node | None:
    names = variables(predicate)
    left, right = certain(node.left), certain(node.right)
    if not names or ROW in names:
        return None
    if names <= left:
        return replace(node, left=_into(node.left, predicate))
    if node.kind is not JoinKind.INNER or not names | variables(node.predicate) <= left | right | {ROW}:
        return None
    if names <= right:
        return replace(node, right=_into(node.right, predicate))
    return replace(node, predicate=_and(node.predicate, predicate))


def _and(first: Expression, second: Expression) -> Expression:
    parts = dict.fromkeys(part for part in (first, second) if part != conjunction(()))
    return conjunction(tuple(parts))


def _below_negation(node: Pattern, predicate: Expression) -> Node | None:
    """Below an operator that keeps the events of one operand; DISJOINT chooses among them, so not below that."""
    if node.disjoint is not None:
        return None
    match node:
        case Unless() if not reads(predicate, VE, of=ROW):
            return replace(node, first=_into(node.first, predicate))
        case UnlessNth() if not reads(predicate, VS, VE, of=ROW):
            return replace(node, first=_into(node.first, predicate))
        case CancelWhen():
            return replace(node, first=_into(node.first, predicate))
        case Not():
            return replace(node, sequence=_into(node.sequence, predicate))
        case _:
            return None


# -- predicates of operators ------------------------------------------------------------------------------------------


def _onto_parameters(node: Sequence | All | Any | AtLeast) -> Node | None:
    new: Node = node
    kept: tuple[Expression, ...] = node.predicates
    against = traits_of(node).shape.against(node)
    for index, parameter in enumerate(node.parameters):
        if index in against or _looks_back(node, index, parameter):
            continue
        kept, moved = _divide(replace(node, predicates=kept), parameter.input)
        if moved:
            new = with_parameter(new, index, _over(parameter.input, moved))
    return None if new is node else replace(new, predicates=kept)  # type: ignore[call-arg]


def _looks_back(node: Pattern, index: int, parameter: Parameter) -> bool:
    if parameter.selection is not Selection.LAST:
        return False
    return not isinstance(node, Sequence) or index == len(node.parameters) - 1


def _divide(node: Pattern, operand: Node) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """The predicates of an operator: those that stay, and those that name variables of one operand only."""
    names, bound = possible(operand), _bound_together(node)
    kept: list[Expression] = []
    moved: list[Expression] = []
    for predicate in node.predicates:
        parts = split(predicate, bound)
        movable = [p for p in parts if variables(p) and variables(p) <= names and not reads_occurrence(p)]
        moved.extend(movable)
        rest = tuple(p for p in parts if p not in movable)
        if rest:
            kept.append(conjunction(rest) if movable else predicate)
    return tuple(kept), tuple(moved)


def _bound_together(node: Pattern) -> frozenset[str]:
    """The variables that are bound whenever the predicates of an operator are asked."""
    match node:
        case UnlessNth() | CancelWhen():
            return certain(node.first) | certain(node.second)
        case Not():
            return certain(node.negated) | certain(node.sequence)
        case _:
            return certain(node)


def _onto_sides(node: Join) -> Node | None:
    """``S ⋈_{θ ∧ p} T = σ_p(S) ⋈_θ T`` for p over S, and likewise for T."""
    left, right = certain(node.left), certain(node.right)
    parts = split(node.predicate, left | right)
    of_left = [p for p in parts if variables(p) and variables(p) <= left and not reads_occurrence(p)]
    of_right = [p for p in parts if variables(p) and variables(p) <= right and not reads_occurrence(p)]
    if not of_left and not of_right:
        return None
    rest = tuple(p for p in parts if p not in of_left and p not in of_right)
    return replace(node, left=_over(node.left, of_left), right=_over(node.right, of_right), predicate=conjunction(rest))
