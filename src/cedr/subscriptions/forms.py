"""What filters have in common, and what they differ in: their tests, the rest to be verified, and their constants.

Reading: R20.  A test compares a value of the event with constants; an index looks it up for all filters of one form at
once.  Whatever is no test is verified on the filters that the tests leave, with constants in columns, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cedr.expression import tree
from cedr.expression.tree import Attribute, Expression, Literal, conjuncts, transform, variables, walk
from cedr.model.event import Value
from cedr.model.schema import DataType
from cedr.subscriptions.constants import FLOATS, INTEGERS, TEXTS, common_sort, sort_of

CONSTANTS: Final = "$"
"""The variable that stands for a filter: its attributes are the filter's constants, by their numbers."""

EQUAL, IN, RANGE = "equal", "in", "range"
PREFIX, EXACT = "prefix", "exact"
"""The signs of ``LIKE 'abc%'`` and of ``LIKE 'abc'``: their constant is the pattern without the %."""
_SIGNS: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The signs that an index knows, and what each is the other way round."""


@dataclass(frozen=True, slots=True)
class Test:
    """What an index can look up: a value of the event against constants, by their numbers."""

    value: Expression
    form: str
    sort: str
    parts: tuple[tuple[str, int], ...]
    """Signs, each with the number of its constant."""


@dataclass(frozen=True, slots=True)
class Form:
    """What filters have in common that differ in their constants only."""

    tests: tuple[Test, ...]
    rest: tuple[Expression, ...]
    """Conjuncts that are verified on what the tests leave."""
    sorts: tuple[str, ...]
    """Of each constant; of a list of them in brackets."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter taken apart: its form, and its constants, those of an IN as a tuple."""

    form: Form
    constants: tuple[Constant, ...]
    predicate: Expression


Constant = Literal | tuple[Literal, ...]
"""A constant of a filter; a tuple is those of an IN."""
Signed = list[tuple[str, Constant]]


class _Taking:
    """Takes one predicate apart."""

    def __init__(self) -> None:
        self.constants: list[Constant] = []
        self.sorts: list[str] = []
        self.tests: list[Test] = []
        self.rest: list[Expression] = []

    def take(self, part: Expression) -> None:
        """A conjunct."""
        found = self._test(part)
        if found is None:
            self.rest.append(part)
            return
        value, form, signs = found
        numbers = tuple((sign, self._number(constant)) for sign, constant in signs)
        for place, test in enumerate(self.tests):
            if form == RANGE and test.form == RANGE and test.value == value:
                parts = (*test.parts, *numbers)
                sort = self._sort(parts)
                if sort is not None:
                    self.tests[place] = Test(value, form, sort, parts)
                    return
        self.tests.append(Test(value, form, self._sort(numbers) or "", numbers))

    def _sort(self, parts: Iterable[tuple[str, int]]) -> str | None:
        """How the constants of a test are kept, which is alike; None where that cannot be."""
        numbers = [number for _, number in parts]
        sort = common_sort(value for number in numbers for value in values_of(self.constants[number]))
        for number in numbers if sort is not None else ():
            self.sorts[number] = f"[{sort}]" if isinstance(self.constants[number], tuple) else sort or ""
        return sort

    def _number(self, constant: Constant, sort: str = "") -> int:
        self.constants.append(constant)
        self.sorts.append(sort)
        return len(self.constants) - 1

    def _test(self, part: Expression) -> tuple[Expression, str, Signed] | None:
        match part:
            case tree.Binary(operator=sign, left=value, right=Literal() as constant) if sign in _SIGNS and known(value):
                signs: Signed = [(sign, constant)]
            case tree.Binary(operator=sign, left=Literal() as constant, right=value) if sign in _SIGNS and known(value):
                signs = [(_SIGNS[sign], constant)]
            case tree.Between(operand=value, low=Literal() as low, high=Literal() as high, negated=False) if known(
                value
            ):
                signs = [(">=", low), ("<=", high)]
            case tree.In(operand=value, items=items, negated=False) if known(value):
                chosen = tuple(i for i in items if isinstance(i, Literal) and i.value is not None)
                nulls = sum(isinstance(i, Literal) and i.value is None for i in items)
                if not chosen or len(chosen) + nulls < len(items):
                    return None
                signs = [(IN, chosen)]
            case tree.Like(operand=value, pattern=Literal() as pattern, negated=False) if known(value):
                like = prefix_of(pattern.value)
                if like is None:
                    return None
                signs = [(like[0], Literal(like[1], DataType.STRING, span=pattern.span))]
            case _:
                return None
        if common_sort(each for _, constant in signs for each in values_of(constant)) is None:
            return None
        first = signs[0][0]
        return value, IN if first == IN else EQUAL if first == "=" else RANGE, signs

    def form(self) -> Form:
        """What was found; the constants of the rest come last."""
        rest = tuple(transform(part, self._constant) for part in self.rest)
        return Form(tuple(self.tests), rest, tuple(self.sorts))

    def _constant(self, part: Expression) -> Expression | None:
        """In comparisons and arithmetic a constant is an attribute of the filter; anywhere else it stays."""
        if isinstance(part, Literal):
            sort = sort_of(part)
            if sort not in (INTEGERS, FLOATS, TEXTS) or part.type not in _TYPES[sort]:
                return part
            return Attribute(CONSTANTS, str(self._number(part, sort)), part.type)
        return None if isinstance(part, tree.Binary | tree.Between | tree.Unary | tree.Like) else part


_TYPES: Final = {
    INTEGERS: (DataType.INTEGER, DataType.TIMESTAMP, DataType.DURATION),
    FLOATS: (DataType.FLOAT,),
    TEXTS: (DataType.STRING,),
}


def taken_apart(predicate: Expression) -> Filter:
    """The tests and the rest of a predicate with its names resolved."""
    taking = _Taking()
    for part in conjuncts(predicate):
        if part != tree.TRUE:
            taking.take(part)
    form = taking.form()
    return Filter(form, tuple(taking.constants), predicate)


def known(value: Expression) -> bool:
    """Whether a value is one of the event alone, the same for all filters, and never raises."""
    if not variables(value):
        return False
    return not any(isinstance(part, Literal) or (isinstance(part, tree.Call) and part.own) for part in walk(value))


def values_of(constant: Constant) -> tuple[Value, ...]:
    """The values of a constant: several of an IN."""
    return tuple(each.value for each in constant) if isinstance(constant, tuple) else (constant.value,)


def prefix_of(pattern: Value) -> tuple[str, str] | None:
    r"""A pattern of LIKE as a prefix or a whole text, where it is one.

    >>> prefix_of("abc%"), prefix_of("abc"), prefix_of("a_c"), prefix_of("%c")
    (('prefix', 'abc'), ('exact', 'abc'), None, None)
    """
    if not isinstance(pattern, str) or "\\" in pattern or "_" in pattern:
        return None
    prefix = pattern.rstrip("%")
    if "%" in prefix:
        return None
    return (EXACT if prefix == pattern else PREFIX), prefix
