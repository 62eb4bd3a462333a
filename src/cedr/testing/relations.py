"""Hypothesis strategies for FROM queries, as trees of the language that compile by construction.

Paper: Section 6.  Readings: R29 to R32, R45.  Every name that may stand in FROM has the attributes k, v and s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from cedr.expression.tree import Aggregate, Binary, Expression, Literal
from cedr.language import syntax
from cedr.language.syntax import AlgebraBody, GroupItem, OutputItem, RelationSource, Window
from cedr.model.modes import JoinKind
from cedr.model.schema import DataType
from cedr.testing.patterns import Seen, integer, name, predicates

_LENGTHS = st.integers(1, 5)


def windows(variables: Sequence[str]) -> st.SearchStrategy[Window]:
    """Every window, LIFETIME over times and payload included.  Reading: R31."""
    starts: st.SearchStrategy[Expression] = st.one_of(
        st.sampled_from((name("Vs"), name("Ve"))),
        st.integers(-2, 3).map(_shifted),
        st.sampled_from(variables).map(lambda x: name(x, "v")),
    )
    durations: st.SearchStrategy[Expression] = st.one_of(
        _LENGTHS.map(lambda length: Literal(length, DataType.INTEGER)), st.just(Binary("-", name("Ve"), name("Vs")))
    )
    return st.one_of(
        _LENGTHS.map(syntax.MovingWindow),
        st.builds(syntax.HoppingWindow, _LENGTHS, _LENGTHS),
        _LENGTHS.map(syntax.TumblingWindow),
        _LENGTHS.map(syntax.SessionWindow),
        st.builds(syntax.LifetimeWindow, starts, durations),
        st.sampled_from((syntax.InsertsWindow(), syntax.DeletesWindow(), syntax.CoalescedWindow())),
    )


def _shifted(by: int) -> Expression:
    return Binary("+" if by >= 0 else "-", name("Vs"), integer(abs(by)))


@dataclass
class _Relation:
    """One FROM clause in the making."""

    draw: st.DrawFn
    names: Sequence[str]
    variables: int = 0

    def chance(self, of: int) -> bool:
        return self.draw(st.integers(1, of)) == of

    def variable(self) -> str:
        self.variables += 1
        return f"r{self.variables}"

    def single(self, depth: int) -> tuple[RelationSource, str]:
        """A source that binds one variable with k, v and s."""
        kind = self.draw(st.integers(0, 4)) if depth else 0
        if kind in (2, 3):
            left, variable = self.single(depth - 1)
            right, _ = self.primary(depth - 1)
            made = syntax.UnionSource(left, right) if kind == 2 else syntax.ExceptSource(left, right)
            return made, variable
        return self.primary(depth)

    def primary(self, depth: int) -> tuple[RelationSource, str]:
        """A stream or a subquery."""
        if depth and self.chance(4):
            body, variable = self.body(depth - 1, named=True), self.variable()
            return syntax.Subquery(body, variable), variable
        variable = self.variable()
        return syntax.StreamSource(self.draw(st.sampled_from(self.names)), variable), variable

    def source(self, depth: int) -> tuple[RelationSource, tuple[str, ...]]:
        """A source, joined or not, and the variables that it binds."""
        source, variable = self.single(depth)
        seen: tuple[str, ...] = (variable,)
        while depth and len(seen) < 3 and self.chance(3):
            right, other = self.single(0)
            kind = self.draw(st.sampled_from(JoinKind))
            on = self.draw(predicates(Seen((*seen, other))))
            source = syntax.JoinSource(kind, source, right, on)
            seen = seen if kind is JoinKind.ANTI else (*seen, other)
        return source, seen

    def body(self, depth: int, *, named: bool) -> AlgebraBody:
        source, seen = self.source(depth)
        where = self.draw(predicates(Seen(seen))) if self.chance(3) else None
        window = self.draw(windows(seen)) if self.chance(2) else None
        if self.chance(2):
            return self.grouped(AlgebraBody(source, where, window), seen, named=named)
        one = self.draw(st.sampled_from(seen))
        columns = ("k", "v", "s") if named or self.chance(2) else ("k",)
        output = tuple(OutputItem(name(one, column), column) for column in columns)
        if self.chance(4):
            return self.top(AlgebraBody(source, where, window, output=output), seen)
        explicit = named or len(seen) > 1 or self.chance(2)
        distinct = explicit and self.chance(3)
        return AlgebraBody(source, where, window, output=output if explicit else None, distinct=distinct)

    def top(self, body: AlgebraBody, seen: Sequence[str]) -> AlgebraBody:
        """TOP, of groups or of everything.  Reading: R45."""
        keys = (GroupItem(name(self.draw(st.sampled_from(seen)), "k"), "key"),) if self.chance(2) else None
        by = self.draw(st.sampled_from([name(x, a) for x in seen for a in ("k", "v", "v", "s", "Vs")]))
        clause = syntax.TopClause(self.draw(st.integers(1, 2)), by, self.chance(2))
        return replace(body, group_by=keys, top=clause, distinct=self.chance(5))

    def grouped(self, body: AlgebraBody, seen: Sequence[str], *, named: bool) -> AlgebraBody:
        """GROUP BY, HAVING and aggregates.  Reading: R30."""
        one = self.draw(st.sampled_from(seen))
        items = (GroupItem(name(one, "k")), GroupItem(name(one, "s"), "s"))[: self.draw(st.integers(0, 2))]
        functions = ["COUNT", "SUM", "MIN", "MAX", "FIRST", "LAST", "MEDIAN"]
        functions += [] if named else ["AVG", "STDDEV", "VARIANCE", "LIST"]
        found: list[Expression] = [Aggregate("COUNT", (), star=True)]
        found += [Aggregate(self.draw(st.sampled_from(functions)), (name(one, "v"),), distinct=self.chance(3))]
        having = Binary(self.draw(st.sampled_from((">", "<="))), found[0], integer(1)) if self.chance(3) else None
        if named:
            key: Expression = name(one, "k") if items else Aggregate("MIN", (name(one, "k"),))
            text: Expression = name(one, "s") if len(items) > 1 else Aggregate("MAX", (name(one, "s"),))
            value = self.draw(st.sampled_from(found))
            output: tuple[OutputItem, ...] = OutputItem(key, "k"), OutputItem(value, "v"), OutputItem(text, "s")
        else:
            kept = tuple(found[: self.draw(st.integers(1, 2))])
            keys = tuple(OutputItem(item.expression, f"key{n}") for n, item in enumerate(items))
            output = (*keys, *(OutputItem(call, f"n{n}") for n, call in enumerate(kept)))
        group_by = items if items else None
        distinct = self.chance(5)
        return AlgebraBody(body.source, body.where, body.window, group_by, having, output, distinct)


@st.composite
def relation_bodies(
    draw: st.DrawFn, names: Sequence[str] = ("A", "B", "C"), *, depth: int = 2, named: bool = False
) -> AlgebraBody:
    """``FROM … [WHERE …] [WINDOW …] [GROUP BY …] [HAVING …] [OUTPUT …]``; with ``named`` the output has k, v and s."""
    return _Relation(draw, names).body(depth, named=named)
