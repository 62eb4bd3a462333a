"""What filters have in common, and what they differ in: their tests, the rest to be verified, and their constants.

Reading: R20.  A test compares a value of the event with constants; an index looks it up for all filters of one form at
once.  Whatever is no test is verified on the filters that the tests leave, with constants in columns, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cedr.expression import tree
from cedr.expression.tree import Attribute, Expression, Literal, conjuncts, transform, variables, walk
from cedr.model.event import Value
from cedr.model.schema import DataType
from cedr.subscriptions.constants import FLOATS, INTEGERS, TEXTS, sort_of

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
        sort = _sort(signs)
        numbers = tuple((sign, self._number(constant, sort)) for sign, constant in signs)
        for place, test in enumerate(self.tests):
            if form == RANGE and test.form == RANGE and test.value == value and test.sort == sort:
                self.tests[place] = Test(value, form, sort, (*test.parts, *numbers))
                return
        self.tests.append(Test(value, form, sort, numbers))

    def _number(self, constant: Constant, sort: str) -> int:
        self.constants.append(constant)
        self.sorts.append(f"[{sort}]" if isinstance(constant, tuple) else sort)
        return len(self.constants) - 1

    def _test(self, part: Expression) -> tuple[Expression, str, Signed] | None:
        match part:
            case tree.Binary(operator=sign, left=value, right=Literal() as constant) if sign in _SIGNS and known(value):
                signs: Signed = [(sign, constant)]
            case tree.Binary(operator=sign, left=Literal() as constant, right=value) if sign in _SIGNS and known(value):
                signs = [(_SIGNS[sign], constant)]
            case tree.Between(operand=value, low=Literal() as low, high=Literal() as high, negated=False) if known(value):
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
        if _sort(signs) == "":
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


def _sort(signs: Sequence[tuple[str, Constant]]) -> str:
    """How all the constants of a test are kept; nothing where they are not alike."""
    constants = [each for _, given in signs for each in (given if isinstance(given, tuple) else (given,))]
    sorts = {sort_of(each) for each in constants}
    return sorts.pop() or "" if len(sorts) == 1 else ""


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
