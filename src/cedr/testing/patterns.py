"""Hypothesis strategies for WHEN queries, as trees of the language that compile by construction.

Paper: Section 3.  Readings: R11 to R27, R49.  Every name that may stand in a pattern has the attributes k, v and s
(``cedr.testing.histories.small_catalog``); predicates name only variables that are seen where they act (R21).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from cedr.expression.tree import Aggregate, Between, Binary, Call, Expression, In, IsNull, Literal, Name, Unary
from cedr.language import syntax
from cedr.language.syntax import Conjunct, Operator, OutputItem, Parameter, PatternBody, TypeReference
from cedr.model.modes import Consumption, KeyMode, Selection, Valid
from cedr.model.schema import DataType

DEEPEST, WIDEST = 3, 6
"""How deep operators nest, and how many events a pattern names at most."""

FAMILIES = ("SEQUENCE", "ATLEAST", "EXACTLY", "ALL", "ANY", "ATMOST", "UNLESS", "UNLESS'", "NOT", "CANCEL-WHEN")
"""The pattern operators, for ``pattern_bodies(family=…)``."""


def name(*parts: str) -> Name:
    """A name as a text says it."""
    return Name(parts)


def integer(value: int) -> Literal:
    """A whole number."""
    return Literal(value, DataType.INTEGER)


def text(value: str) -> Literal:
    """A string."""
    return Literal(value, DataType.STRING)


class Seen(NamedTuple):
    """What an operator makes visible above it: variables of leaves, and of composites (header fields only)."""

    leaves: tuple[str, ...]
    composites: tuple[str, ...] = ()

    def __add__(self, other: object) -> Seen:
        assert isinstance(other, Seen)
        return Seen(self.leaves + other.leaves, self.composites + other.composites)


NOTHING = Seen(())


def predicates(seen: Seen, *, revisable: bool = False) -> st.SearchStrategy[Expression]:
    """A predicate over variables with k, v and s: key equalities are the most frequent.  Readings: R20, R21.

    With ``revisable`` also over Os and Oe.
    """
    headers = ("Vs", "Vs", "Ve", "Rt", "ID", *(("Os", "Oe") if revisable else ()))
    leaf, pair = st.sampled_from(seen.leaves), _pairs(seen.leaves)
    any_pair = _pairs(seen.leaves + seen.composites)
    comparison = st.sampled_from(("<=", ">=", "=", "<>", "<", ">"))
    number = st.integers(0, 2).map(integer)
    return st.one_of(
        pair.map(lambda p: Binary("=", name(p[0], "k"), name(p[1], "k"))),
        pair.map(lambda p: Binary("=", name(p[0], "k"), name(p[1], "v"))),
        st.builds(lambda p, o: Binary(o, name(p[0], "v"), name(p[1], "v")), pair, comparison),
        st.builds(lambda x, o, n: Binary(o, name(x, "v"), n), leaf, comparison, number),
        pair.map(lambda p: Binary("<>", name(p[0], "s"), name(p[1], "s"))),
        pair.map(lambda p: Binary("OR", IsNull(name(p[0], "s")), Binary("=", name(p[1], "v"), integer(1)))),
        leaf.map(lambda x: Unary("NOT", In(name(x, "k"), (integer(1), integer(0))))),
        pair.map(lambda p: Between(name(p[0], "v"), integer(0), name(p[1], "k"))),
        st.builds(_times, any_pair, st.sampled_from(headers), st.integers(0, 3)),
    )


def _pairs(variables: Sequence[str]) -> st.SearchStrategy[tuple[str, str]]:
    """Two variables, different ones where there are two."""
    different = [(one, other) for one in variables for other in variables if one != other]
    return st.sampled_from(different or [(one, one) for one in variables])


def _times(pair: tuple[str, str], header: str, more: int) -> Expression:
    if header == "ID":
        return Binary("<>", name(pair[0], "ID"), name(pair[1], "ID"))
    return Binary("<", name(pair[0], header), Binary("+", name(pair[1], "Vs"), Literal(more, DataType.INTEGER)))


@dataclass
class _Pattern:
    """One pattern in the making: what was drawn so far."""

    draw: st.DrawFn
    names: Sequence[str]
    sc_modes: bool
    revisable: bool
    keyed: int = 4
    """One of so many patterns has a CorrelationKey on k."""
    left: int = WIDEST
    variables: int = 0
    where: list[Conjunct] = field(default_factory=list)

    def variable(self) -> str:
        self.variables += 1
        return f"x{self.variables}"

    def chance(self, of: int) -> bool:
        return self.draw(st.integers(1, of)) == of

    def operand(self, depth: int) -> tuple[Parameter, Seen]:
        """A leaf or an operator, bound to a variable or not."""
        if depth == 0 or self.left <= 1 or self.chance(2):
            self.left -= 1
            variable = self.variable()
            return Parameter(TypeReference(self.draw(st.sampled_from(self.names))), variable), Seen((variable,))
        operator, seen = self.operator(depth)
        if self.chance(4):
            variable = self.variable()
            return Parameter(operator, variable), seen + Seen((), (variable,))
        return Parameter(operator), seen

    def operator(self, depth: int, family: str | None = None) -> tuple[Operator, Seen]:
        """Any operator, or one of a family."""
        match family or self.draw(st.sampled_from((*FAMILIES, "SEQUENCE", "UNLESS"))):
            case "SEQUENCE" | "ATLEAST" | "EXACTLY" | "ALL" as several:
                return self.several(depth, several)
            case "ANY":
                return self.any(depth)
            case "ATMOST":
                return self.at_most(depth)
            case "UNLESS" | "UNLESS'" as unless:
                return self.unless(depth, counted=unless == "UNLESS'")
            case "NOT":
                return self.negation(depth)
            case _:
                return self.cancel(depth)

    def scope(self) -> int:
        return self.draw(st.integers(1, 6))

    def constrain(self, seen: Seen) -> None:
        """Perhaps add a conjunct that acts at this operator."""
        if seen.leaves and self.chance(3):
            found = self.draw(predicates(seen, revisable=self.revisable))
            self.where.append(syntax.Predicate(found, braces=self.draw(st.booleans())))

    def operands(self, depth: int, most: int) -> tuple[list[Parameter], Seen]:
        drawn = [self.operand(depth - 1) for _ in range(self.draw(st.integers(1, most)))]
        return [parameter for parameter, _ in drawn], sum((seen for _, seen in drawn), NOTHING)

    def several(self, depth: int, family: str) -> tuple[Operator, Seen]:
        """SEQUENCE, ALL, ATLEAST, EXACTLY with SC modes, one of three WITH TIES.  Readings: R11 to R13, R25 to R27."""
        drawn, seen = self.operands(depth, 3)
        self.constrain(seen)
        counted = {"ATLEAST": syntax.AtLeast, "EXACTLY": syntax.Exactly}.get(family)
        count = len(drawn) if counted is None else self.draw(st.integers(1, len(drawn)))
        disjoint = self.sc_modes and self.chance(5)
        ordered = family == "SEQUENCE"
        parameters = self.moded(drawn, ahead_from=len(drawn) - 1 if ordered else 0, bounded=count > 1)
        if any(p.selection is Selection.LAST for p in parameters[-1 if ordered else 0 :]):
            disjoint = False
        if counted is not None:
            return counted(count, parameters, self.scope(), disjoint=disjoint, ties=self.chance(3)), seen
        kind = syntax.Sequence if ordered else syntax.All
        return kind(parameters, self.scope(), disjoint=disjoint, ties=self.chance(3)), seen

    def moded(self, drawn: list[Parameter], *, ahead_from: int, bounded: bool) -> tuple[Parameter, ...]:
        """The parameters with SC modes; LAST by the future neither with CONSUME nor unbounded (R25, R26)."""
        if not self.sc_modes or self.chance(2):
            return tuple(drawn)
        consuming, choosing = self.chance(2), self.chance(3)
        result = []
        for number, parameter in enumerate(drawn):
            allowed = [None, Selection.EACH, Selection.FIRST]
            if number < ahead_from or (bounded and not consuming):
                allowed.append(Selection.LAST)
            if choosing:  # FIRST beside LAST, wherever that may be
                allowed = [mode for mode in allowed if mode in (Selection.FIRST, Selection.LAST)]
            consumption = self.draw(st.sampled_from((None, Consumption.REUSE, *[Consumption.CONSUME] * 2 * consuming)))
            selection = self.draw(st.sampled_from(allowed))
            result.append(Parameter(parameter.expression, parameter.variable, selection, consumption))
        return tuple(result)

    def any(self, depth: int) -> tuple[Operator, Seen]:
        """ANY.  Reading: R13."""
        drawn, seen = self.operands(depth, 2)
        return syntax.Any(tuple(drawn), disjoint=self.sc_modes and self.chance(5)), seen

    def at_most(self, depth: int) -> tuple[Operator, Seen]:
        """ATMOST.  Reading: R14."""
        drawn, seen = self.operands(depth, 2)
        disjoint = self.sc_modes and self.chance(5)
        weights = [self.draw(st.sampled_from((None, None, 2, 0))) for _ in drawn]
        weighted = (Parameter(p.expression, p.variable, weight=w) for p, w in zip(drawn, weights, strict=True))
        count = self.draw(st.integers(0, 3))
        return syntax.AtMost(count, tuple(weighted), self.scope(), disjoint=disjoint), seen

    def unless(self, depth: int, *, counted: bool) -> tuple[Operator, Seen]:
        """UNLESS and UNLESS'.  Readings: R15, R16."""
        first, seen = self.operand(depth - 1)
        second, hidden = self.operand(depth - 1)
        self.constrain(seen + hidden)
        most = fewest_contributors(first.expression)
        contributor = self.draw(st.integers(1, most)) if counted else None
        return syntax.Unless(first, second, self.scope(), contributor, disjoint=self.sc_modes and self.chance(5)), seen

    def negation(self, depth: int) -> tuple[Operator, Seen]:
        """NOT.  Reading: R17."""
        negated, hidden = self.operand(depth - 1)
        inside = [self.operand(max(0, depth - 2)) for _ in range(self.draw(st.integers(2, 3)))]
        seen = sum((one for _, one in inside), NOTHING)
        self.constrain(seen + hidden)
        sequence = syntax.Sequence(
            self.moded([p for p, _ in inside], ahead_from=len(inside) - 1, bounded=True),
            self.scope(),
            ties=self.chance(3),
        )
        return syntax.Not(negated, Parameter(sequence), disjoint=self.sc_modes and self.chance(5)), seen

    def cancel(self, depth: int) -> tuple[Operator, Seen]:
        """CANCEL-WHEN.  Reading: R18."""
        first, seen = self.operand(depth - 1)
        second, hidden = self.operand(depth - 1)
        self.constrain(seen + hidden)
        disjoint = self.sc_modes and self.chance(5)
        return syntax.CancelWhen(first, second, self.draw(st.booleans()), disjoint=disjoint), seen

    def keys(self) -> list[Conjunct]:
        """CorrelationKey and [a EQUAL v].  Reading: R22."""
        found: list[Conjunct] = []
        if self.chance(self.keyed):
            found.append(syntax.CorrelationKey("k", self.draw(st.sampled_from((KeyMode.EQUAL, *KeyMode)))))
        if self.chance(8):
            found.append(syntax.AttributeEquals("k", integer(1)))
        if self.chance(8):
            found.append(syntax.CorrelationKey("s", KeyMode.EQUAL))
        return found


def fewest_contributors(expression: TypeReference | Operator) -> int:
    """How far UNLESS' may count.  Reading: R16."""
    match expression:
        case syntax.Sequence() | syntax.All():
            return len(expression.parameters)
        case syntax.AtLeast():
            return expression.count
        case syntax.Not():
            return fewest_contributors(expression.sequence.expression)
        case syntax.CancelWhen():
            return fewest_contributors(expression.first.expression)
        case _:
            return 1


@st.composite
def pattern_bodies(
    draw: st.DrawFn,
    names: Sequence[str] = ("A", "B", "C"),
    *,
    depth: int = DEEPEST,
    sc_modes: bool = True,
    revisable: bool = False,
    named: bool = False,
    keyed: int = 4,
    family: str | None = None,
) -> PatternBody:
    """``WHEN … [VALID …] [WHERE …] [OUTPUT …]``.

    With ``named`` the output has k, v and s, so that other patterns can use it by name (R32).  Without ``sc_modes``
    there is neither selection, consumption nor DISJOINT.  With ``family`` the topmost operator is one of ``FAMILIES``.
    """
    pattern = _Pattern(draw, names, sc_modes, revisable, keyed)
    if family is None and pattern.chance(8):
        top, seen = pattern.operand(0)
    else:
        operator, seen = pattern.operator(depth, family)
        top = Parameter(operator)
    valid = draw(st.sampled_from((None, None, None, *Valid)))
    where = [*pattern.where, *pattern.keys()]
    output = as_small_type(draw, seen.leaves) if named else draw(_outputs(seen))
    return PatternBody(top, valid, tuple(draw(st.permutations(where))), output)


def as_small_type(draw: st.DrawFn, leaves: Sequence[str]) -> tuple[OutputItem, ...]:
    """OUTPUT of k, v and s, each of a variable or of the first that is bound."""
    one = draw(st.sampled_from(leaves))
    many = tuple(name(x, "k") for x in leaves)
    key: Expression = Call("COALESCE", many) if len(many) > 1 and draw(st.booleans()) else name(one, "k")
    value: Expression = Aggregate("MAX", (name("v"),)) if draw(st.booleans()) else name(one, "v")
    return OutputItem(key, "k"), OutputItem(value, "v"), OutputItem(name(one, "s"), "s")


_AGGREGATES = st.sampled_from(
    (
        Aggregate("COUNT", (), star=True),
        Aggregate("COUNT", (name("k"),)),
        Aggregate("SUM", (name("v"),)),
        Aggregate("MIN", (name("Vs"),)),
        Aggregate("COUNT", (name("s"),), distinct=True),
    )
)


def _outputs(seen: Seen) -> st.SearchStrategy[tuple[OutputItem, ...] | None]:
    """OUTPUT: none, or expressions over variables, header fields and contributors.  Reading: R23."""
    leaf, header = st.sampled_from(seen.leaves), st.sampled_from(("Vs", "Ve", "Rt", "ID"))
    item = st.one_of(
        leaf.map(lambda x: name(x, "k")),
        leaf.map(lambda x: Binary("+", name(x, "v"), integer(1))),
        st.builds(lambda x, h: name(x, h), leaf, header),
        _AGGREGATES,
    )
    items = st.lists(item, min_size=1, max_size=3).map(
        lambda found: tuple(OutputItem(expression, f"o{number}") for number, expression in enumerate(found))
    )
    return st.one_of(st.none(), items)
