"""Random trees of the language: every construct, names of every kind, constants of every type.

The trees are what a parser can give, so ``parse(render(tree)) == tree``; they need not make sense to ``check``.
"""

from __future__ import annotations

import datetime

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from cedr.expression import tree
from cedr.expression.tree import Expression
from cedr.language import syntax
from cedr.language.options import OPTIONS, Kind, is_constant
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.modes import Consumption, JoinKind, KeyMode, Selection, Valid
from cedr.model.schema import DataType, Shape
from cedr.model.time import DAY, FOREVER, HOUR, MILLISECOND, SECOND

_WORDS = [
    "x",
    "Machine_Id",
    "größe",
    "λ1",
    "when",
    "SELECT",
    "first",
    "Last",
    "of",
    "end",
    "date",
    "forever",
    "NOT",
    "as",
]
_WORDS += [
    "type",
    "Event",
    "count",
    "window",
    "left",
    "distinct",
    "any",
    "sequence",
    "decimal",
    "CorrelationKey",
    "weight",
]


def names() -> SearchStrategy[str]:
    """Plain names, keywords, and names that only quotes make possible."""
    return st.one_of(st.sampled_from(_WORDS), st.text(min_size=1, max_size=5))


def options(strategy: SearchStrategy[object]) -> SearchStrategy[object]:
    return st.none() | strategy


# -- expressions ------------------------------------------------------------------------------------------------------


def literals() -> SearchStrategy[tree.Literal]:
    def of(data_type: DataType, values: SearchStrategy[object]) -> SearchStrategy[tree.Literal]:
        return values.map(lambda value: tree.Literal(value, data_type))  # type: ignore[arg-type]

    return st.one_of(
        of(DataType.INTEGER, st.integers(-(2**63), FOREVER)),
        of(DataType.FLOAT, st.floats(allow_nan=False, allow_infinity=False)),
        of(DataType.STRING, st.text(max_size=6)),
        of(DataType.BOOLEAN, st.booleans()),
        of(DataType.NULL, st.none()),
        of(DataType.TIMESTAMP, st.integers(-(10**15), 10**15) | st.just(FOREVER)),
        of(DataType.DURATION, st.integers(-FOREVER, FOREVER) | st.sampled_from([1, 1500, -HOUR, 3 * DAY])),
        of(DataType.DATE, st.dates(datetime.date(1, 1, 1))),
        of(DataType.BINARY, st.binary(max_size=4)),
    )


def named() -> SearchStrategy[tree.Name]:
    return st.lists(names(), min_size=1, max_size=3).map(lambda parts: tree.Name(tuple(parts)))


def _compound(inner: SearchStrategy[Expression]) -> SearchStrategy[Expression]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    types = st.sampled_from([of for of in DataType if of is not DataType.NULL])
    signs = st.sampled_from(["+", "-", "*", "/", "%", "DIV", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR"])
    units = st.sampled_from(["hour", "DAY", "Minute"]).map(lambda unit: tree.Literal(unit, DataType.STRING))
    branches = st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)
    return st.one_of(
        st.builds(tree.Unary, st.sampled_from(["-", "NOT"]), inner),
        st.builds(tree.Binary, signs, inner, inner),
        st.builds(tree.Between, inner, inner, inner, st.booleans()),
        st.builds(tree.In, inner, several, st.booleans()),
        st.builds(tree.Like, inner, inner, st.booleans()),
        st.builds(tree.IsNull, inner, st.booleans()),
        st.builds(tree.Case, branches, options(inner)),  # type: ignore[arg-type]
        st.builds(tree.Cast, inner, types),
        st.builds(tree.Field, inner, names()),
        st.builds(tree.Item, inner, inner),
        st.builds(tree.Call, st.sampled_from(["ABS", "LEAST", "NOSUCH"]), st.just(()) | several),
        st.builds(lambda unit, time: tree.Call("EXTRACT", (unit, time)), units, inner),
        st.builds(lambda unit, time: tree.Call("DATE_TRUNC", (unit, time)), units, inner),
        st.builds(tree.Aggregate, st.sampled_from(["COUNT", "SUM", "MAX"]), several, st.booleans()),
        st.just(tree.Aggregate("COUNT", (), star=True)),
    )


def expressions(leaves: int = 8) -> SearchStrategy[Expression]:
    return st.recursive(literals() | named(), _compound, max_leaves=leaves)


# -- patterns ---------------------------------------------------------------------------------------------------------


def durations() -> SearchStrategy[int]:
    return st.sampled_from([1, 7, 250 * MILLISECOND, SECOND, 90 * SECOND, 12 * HOUR, 14 * DAY, FOREVER, 0, -5, -HOUR])


def _parameters(expression: SearchStrategy[object]) -> SearchStrategy[syntax.Parameter]:
    return st.builds(
        syntax.Parameter,
        expression,  # type: ignore[arg-type]
        options(names()),  # type: ignore[arg-type]
        options(st.sampled_from(Selection)),  # type: ignore[arg-type]
        options(st.sampled_from(Consumption)),  # type: ignore[arg-type]
        options(st.integers(-2, 9)),  # type: ignore[arg-type]
    )


def _operators(inner: SearchStrategy[syntax.Parameter]) -> SearchStrategy[syntax.Parameter]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    flags, counts, scopes = st.booleans(), st.integers(-1, 5), durations()
    return _parameters(
        st.one_of(
            st.builds(syntax.Sequence, several, scopes, disjoint=flags),
            st.builds(syntax.All, several, scopes, disjoint=flags),
            st.builds(syntax.Any, several, disjoint=flags),
            st.builds(syntax.AtLeast, counts, several, scopes, disjoint=flags),
            st.builds(syntax.Exactly, counts, several, scopes, disjoint=flags),
            st.builds(syntax.AtMost, counts, several, scopes, disjoint=flags),
            st.builds(syntax.Unless, inner, inner, scopes, options(counts), disjoint=flags),  # type: ignore[arg-type]
            st.builds(syntax.Not, inner, inner, disjoint=flags),
            st.builds(syntax.CancelWhen, inner, inner, flags, disjoint=flags),
        )
    )


def patterns() -> SearchStrategy[syntax.Parameter]:
    return st.recursive(_parameters(names().map(syntax.TypeReference)), _operators, max_leaves=5)


def _conjunction(expression: Expression) -> bool:
    return isinstance(expression, tree.Binary) and expression.operator == "AND"


def conjuncts() -> SearchStrategy[syntax.Conjunct]:
    bare = expressions(4).filter(lambda expression: not _conjunction(expression))
    ways = st.lists(names(), max_size=2).map(tuple)
    return st.one_of(
        st.builds(syntax.Predicate, expressions(4), st.just(True)),
        st.builds(syntax.Predicate, bare, st.just(False)),
        st.builds(syntax.CorrelationKey, names(), st.sampled_from(KeyMode), ways),
        st.builds(syntax.AttributeEquals, names(), literals(), ways),
    )


def outputs() -> SearchStrategy[tuple[syntax.OutputItem, ...]]:
    item = st.builds(syntax.OutputItem, expressions(4), options(names()))  # type: ignore[arg-type]
    return st.lists(item, min_size=1, max_size=3).map(tuple)


def pattern_bodies() -> SearchStrategy[syntax.PatternBody]:
    return st.builds(
        syntax.PatternBody,
        patterns(),
        options(st.sampled_from(Valid)),  # type: ignore[arg-type]
        st.lists(conjuncts(), max_size=3).map(tuple),
        options(outputs()),  # type: ignore[arg-type]
    )


# -- algebra ----------------------------------------------------------------------------------------------------------


def windows() -> SearchStrategy[syntax.Window]:
    return st.one_of(
        st.builds(syntax.MovingWindow, durations()),
        st.builds(syntax.HoppingWindow, durations(), durations()),
        st.builds(syntax.TumblingWindow, durations()),
        st.builds(syntax.SessionWindow, durations()),
        st.builds(syntax.LifetimeWindow, expressions(3), expressions(3)),
        st.sampled_from([syntax.InsertsWindow(), syntax.DeletesWindow(), syntax.CoalescedWindow()]),
    )


def _bodies(source: SearchStrategy[syntax.RelationSource]) -> SearchStrategy[syntax.AlgebraBody]:
    group = st.builds(syntax.GroupItem, expressions(3), options(names()))  # type: ignore[arg-type]
    with_output = st.tuples(outputs(), st.booleans()) | st.just((None, False))
    return st.builds(
        lambda source, where, window, groups, having, top, output: syntax.AlgebraBody(
            source, where, window, groups, having, output[0], output[1], top
        ),
        source,
        options(expressions(4)),
        options(windows()),
        options(st.lists(group, min_size=1, max_size=2).map(tuple)),
        options(expressions(4)),
        options(st.builds(syntax.TopClause, st.integers(0, 9), expressions(3), st.booleans())),
        with_output,
    )


def _streams() -> SearchStrategy[syntax.RelationSource]:
    return st.builds(syntax.StreamSource, names(), options(names()))  # type: ignore[arg-type]


def _sources(inner: SearchStrategy[syntax.RelationSource]) -> SearchStrategy[syntax.RelationSource]:
    primary = _streams() | st.builds(syntax.Subquery, _bodies(inner), names())
    return st.one_of(
        primary,
        st.builds(syntax.JoinSource, st.sampled_from(JoinKind), inner, primary, expressions(3)),
        st.builds(syntax.UnionSource, inner, primary),
        st.builds(syntax.ExceptSource, inner, primary),
    )


def algebra_bodies() -> SearchStrategy[syntax.AlgebraBody]:
    return _bodies(st.recursive(_streams(), _sources, max_leaves=3))


# -- statements -------------------------------------------------------------------------------------------------------


def levels() -> SearchStrategy[ConsistencyLevel]:
    bounds = st.builds(Bound, durations().filter(lambda duration: duration >= 0), st.booleans())
    return st.sampled_from([STRONG, MIDDLE, WEAK]) | st.builds(ConsistencyLevel, bounds, bounds)


def times() -> SearchStrategy[int]:
    return st.integers(-(2**63), FOREVER) | st.integers(-9, 9) | st.just(1_767_225_600_000_000)


def queries() -> SearchStrategy[syntax.Query]:
    return st.builds(
        syntax.Query,
        names(),
        pattern_bodies() | algebra_bodies(),
        options(levels()),  # type: ignore[arg-type]
        options(st.tuples(times(), times())),  # type: ignore[arg-type]
        options(st.tuples(times(), times())),  # type: ignore[arg-type]
        options(times()),  # type: ignore[arg-type]
    )


def shapes() -> SearchStrategy[Shape]:
    types = st.sampled_from([of for of in DataType if of is not DataType.NULL])
    return st.recursive(
        types.map(Shape),
        lambda inner: (
            st.dictionaries(names(), inner, min_size=1, max_size=2).map(lambda inside: Shape(DataType.STRUCT, inside))
            | inner.map(lambda element: Shape(DataType.LIST, element=element))
        ),
        max_leaves=4,
    )


def _attribute(name: str, shape: Shape) -> syntax.AttributeDeclaration:
    return syntax.AttributeDeclaration(name, shape.type, shape if shape.nested else None)


def type_declarations() -> SearchStrategy[syntax.TypeDeclaration]:
    attributes = st.lists(st.builds(_attribute, names(), shapes()), max_size=3).map(tuple)
    revisable = durations().filter(lambda duration: duration >= 0)
    return st.builds(syntax.TypeDeclaration, names(), attributes, revisable, options(origins()))  # type: ignore[arg-type]


def origins() -> SearchStrategy[syntax.Origin]:
    """Paths and options, each option at most once."""
    values: dict[Kind, SearchStrategy[object]] = {
        Kind.COLUMN: names(),
        Kind.COLUMN_OR_CONSTANT: names().filter(lambda name: not is_constant(name)) | names().map(lambda n: f"'{n}'"),
        Kind.TEXT: st.text(min_size=1, max_size=5),
        Kind.FLAG: st.booleans(),
        Kind.DURATION: st.integers(0, FOREVER) | st.sampled_from(["10 minutes", "1.5 s", "FOREVER"]),
    }
    each = [
        st.builds(syntax.Option, st.just(name), st.sampled_from(known.words) if known.words else values[known.kind])
        for name, known in OPTIONS.items()
    ]
    several = st.lists(st.one_of(each), max_size=4, unique_by=lambda option: option.name).map(tuple)
    paths = st.text(min_size=1, max_size=8).filter(lambda path: bool(path.strip()))
    return st.builds(syntax.Origin, options(paths), several)  # type: ignore[arg-type]


def files() -> SearchStrategy[syntax.File]:
    """Whole files."""
    statement = st.one_of(queries(), type_declarations())
    return st.lists(statement, min_size=1, max_size=3).map(lambda statements: syntax.File(tuple(statements)))
