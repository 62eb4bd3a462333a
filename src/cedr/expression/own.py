"""Functions and aggregates that users define, over whole arrays.

Readings: R20, R30.  The contract: pure and deterministic, one result for each row, NULLs stay outside.  What can be
checked is checked: that nothing is raised, how many values come back, and that each is of the declared type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, TypeVar

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.expression.aggregate import AGGREGATES, AggregateFunction, aggregate_names
from cedr.expression.functions import FUNCTIONS
from cedr.expression.lattice import ANY, DECIMAL, FLOAT, NUMBERS
from cedr.expression.owned import Owned
from cedr.expression.signature import Function, Parameter, always, example
from cedr.expression.tree import Aggregate, Call, Expression, transform
from cedr.expression.values import fit, plain
from cedr.model.event import Payload, Value
from cedr.model.schema import TYPE_NAMES, DataType

TypeName = DataType | str
Column = Sequence[Value]

_DTYPES: Final = {
    **dict.fromkeys((DataType.INTEGER, DataType.TIMESTAMP, DataType.DURATION), "int64"),
    FLOAT: "float64",
    DataType.BOOLEAN: "bool",
}
_GIVEN: Final[dict[DataType, tuple[type, ...]]] = {
    **dict.fromkeys((DataType.INTEGER, DataType.TIMESTAMP, DataType.DURATION), (int,)),
    FLOAT: (int, float),
    DECIMAL: (int, Decimal),
    DataType.STRING: (str,),
    DataType.BOOLEAN: (bool,),
    DataType.DATE: (date,),
    DataType.BINARY: (bytes,),
    DataType.LIST: (tuple,),
    DataType.STRUCT: (Payload,),
}


class OwnFailure(Exception):
    """A definition that broke its contract: the code, what happened, and at which row of a call."""

    def __init__(self, code: str, primary: str, row: int = 0) -> None:
        super().__init__(primary)
        self.code, self.primary, self.row = code, primary, row

    def error(self, query: str = "", event: str = "") -> HostError:
        """The error for users, with the query and the event."""
        where = [f"in the query {query}"] * bool(query) + [f"at {event}"] * bool(event)
        hint = "a function gets arrays without NULLs, and gives as many values of its declared type"
        return HostError(Diagnostic(self.code, self.primary, detail=", ".join(where), hint=hint))


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """A scalar function: ``call`` takes one array for each argument."""

    name: str
    takes: tuple[DataType, ...]
    gives: DataType
    call: Callable[..., Any]
    arrow: bool = False

    @property
    def signature(self) -> Function:
        """The function as the language knows it."""
        parameters = tuple(Parameter(f"x{n}", _accepted(of)) for n, of in enumerate(self.takes, start=1))
        shown = (self.call.__doc__ or "").strip().partition("\n")[0]
        return Function(self.name, parameters, always(self.gives), self._alone, shown, example((), None))

    def _alone(self, *values: Value) -> Value:
        try:
            return self.apply([[value] for value in values])[0]
        except OwnFailure as failure:
            raise failure.error() from failure.__cause__

    def apply(self, columns: Sequence[Column]) -> list[Value]:
        """The results for some rows of which no value is NULL."""
        size = len(columns[0])
        given = [array_of(column, of, arrow=self.arrow) for column, of in zip(columns, self.takes, strict=True)]
        try:
            found = self.call(*given)
        except Exception as error:
            raise OwnFailure("function-failed", f"{self.name} raised {type(error).__name__}: {error}") from error
        return checked(self.name, values_in(self.name, found, size), self.gives)


@dataclass(frozen=True, slots=True)
class OwnAggregate:
    """An aggregate: ``accumulate`` makes a state of an array, ``merge`` one of two, ``value`` the result of a state.

    ``retract`` takes the values of an array out of a state; without it the state is made anew.
    """

    name: str
    takes: DataType
    gives: DataType
    accumulate: Callable[[Any], Any]
    merge: Callable[[Any, Any], Any]
    value: Callable[[Any], Any]
    retract: Callable[[Any, Any], Any] | None = None
    arrow: bool = False

    @property
    def signature(self) -> AggregateFunction:
        """The aggregate as the language knows it."""
        accepted = _accepted(self.takes)
        return AggregateFunction(
            self.name,
            self.compute,
            lambda of: self.gives if not accepted or of in accepted or of in (ANY, DataType.NULL) else None,
            (self.accumulate.__doc__ or "").strip().partition("\n")[0],
            expects=str(self.takes),
            ordered=True,
        )

    def compute(self, values: list[Value]) -> Value:
        """The aggregate of some values, none of them NULL; of nothing NULL."""
        parameter = Parameter("x", _accepted(self.takes))
        fitting = [value for value in values if parameter.takes(value)]
        if not fitting:
            return None
        try:
            found = self.value(self.accumulate(array_of(fitting, self.takes, arrow=self.arrow)))
        except Exception as error:
            raise OwnFailure("function-failed", f"{self.name} raised {type(error).__name__}: {error}") from error
        return checked(self.name, [_python(found)], self.gives)[0]


Definition = OwnFunction | OwnAggregate


def _accepted(of: DataType) -> tuple[DataType, ...]:
    """Narrower numbers go where wider ones are asked for."""
    if of is ANY:
        return ()
    return NUMBERS[: NUMBERS.index(of) + 1] if of in NUMBERS else (of,)


# -- arrays -----------------------------------------------------------------------------------------------------------


def array_of(column: Column, of: DataType, *, arrow: bool) -> Any:
    """Values as a NumPy or an Arrow array; times are whole numbers."""
    if arrow:
        arrays = import_module("pyarrow")
        known = {"int64": arrays.int64(), "float64": arrays.float64(), "bool": arrays.bool_()}
        return arrays.array(list(column), type=known.get(_DTYPES.get(of, "")))
    numpy = import_module("numpy")
    if of in _DTYPES:
        return numpy.asarray(column, dtype=_DTYPES[of])
    return numpy.fromiter(column, dtype=object, count=len(column))


def values_in(name: str, found: Any, size: int) -> list[Any]:
    """What a function gave, as Python values: one for each row."""
    if hasattr(found, "to_pylist"):
        values = found.to_pylist()
    elif hasattr(found, "tolist"):
        values = found.tolist()
    else:
        values = list(found) if isinstance(found, list | tuple) else None
    if not isinstance(values, list):
        raise OwnFailure("function-result", f"{name} gave a {type(found).__name__} where an array is wanted")
    if len(values) != size:
        raise OwnFailure("function-result", f"{name} gave {len(values)} values for {size}")
    return [_python(value) for value in values]


def _python(value: Any) -> Any:
    """A single value of an array as expressions use it."""
    if hasattr(value, "as_py"):
        value = value.as_py()
    elif hasattr(value, "item") and not isinstance(value, Payload):
        value = value.item()
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, list):
        return tuple(map(_python, value))
    return Payload({key: _python(part) for key, part in value.items()}) if type(value) is dict else value


def checked(name: str, values: Iterable[Any], gives: DataType) -> list[Value]:
    """The values where each is of the declared type or NULL; neither NaN nor an infinity is a value."""
    wanted, result = _GIVEN.get(gives), []
    for row, value in enumerate(values):
        known = plain(value)
        right = value is None or wanted is None or type(known) in wanted or (known is None and type(value) is float)
        if not right or (known is None and value is not None and type(value) not in (float, Decimal)):
            primary = f"{name} gave {value!r}, a {type(value).__name__}, where it declares {gives}"
            raise OwnFailure("function-result", primary, row)
        result.append(fit(_widened(known, gives)))
    return result


def _widened(value: Value, gives: DataType) -> Value:
    if type(value) is int and gives in (FLOAT, DECIMAL):
        return float(value) if gives is FLOAT else Decimal(value)
    return value


# -- declaring --------------------------------------------------------------------------------------------------------

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def function(*takes: TypeName, returns: TypeName, name: str = "", arrow: bool = False) -> Callable[[F], F]:
    """Declare a function over NumPy arrays, or Arrow arrays with ``arrow``, for use in queries by its name.

    ``takes`` are the types of its arguments.  Rows in which one is NULL are NULL, and the function does not see them.
    It must be pure and deterministic, and give one value for each row.
    """

    def declare(call: F) -> F:
        upper = _free(name or call.__name__, "a function")
        if not takes:
            message = f"{upper} needs at least one argument: without one, nothing says how many values to give"
            raise TypeError(message)
        own = OwnFunction(upper, tuple(map(_type, takes)), _type(returns), call, arrow)
        FUNCTIONS[upper] = own.signature
        DEFINITIONS[upper] = own
        return call

    return declare


def aggregate(takes: TypeName, *, returns: TypeName, name: str = "", arrow: bool = False) -> Callable[[C], C]:
    """Declare an aggregate, by a class with accumulate, merge, value, and retract if it can.

    ``accumulate(values)`` makes a state of an array, ``merge(state, state)`` one of two, ``value(state)`` the result;
    ``retract(state, values)`` takes values out again.  NULLs are left out; of nothing the result is NULL.
    """

    def declare(given: C) -> C:
        upper = _free(name or given.__name__, "an aggregate")
        lacking = [each for each in ("accumulate", "merge", "value") if not callable(getattr(given, each, None))]
        if lacking:
            message = f"the aggregate {upper} has no {' and no '.join(lacking)}"
            raise TypeError(message)
        made = given()
        own = OwnAggregate(
            upper,
            _type(takes),
            _type(returns),
            made.accumulate,
            made.merge,
            made.value,
            getattr(made, "retract", None),
            arrow,
        )
        AGGREGATES[upper] = own.signature
        DEFINITIONS[upper] = own
        return given

    return declare


DEFINITIONS: dict[str, Definition] = {}
"""What users have declared, by upper-case name; a later declaration takes the place of an earlier one."""

_BUILT_IN: Final = frozenset(FUNCTIONS) | aggregate_names()


def _free(name: str, what: str) -> str:
    upper = name.upper()
    if not upper.isidentifier() or upper in _BUILT_IN:
        message = f"{what} cannot be named {name!r}: it must be an identifier and none of the language's own"
        raise ValueError(message)
    FUNCTIONS.pop(upper, None)
    AGGREGATES.pop(upper, None)
    return upper


def _type(given: TypeName) -> DataType:
    found = given if isinstance(given, DataType) else TYPE_NAMES.get(given.upper())
    if found is None:
        message = f"there is no type {given!r}; types are {', '.join(map(str, DataType))}"
        raise ValueError(message)
    return found


def owned(expression: Expression, query: str) -> Expression:
    """The expression with the definitions that it calls now, as part of a query."""

    def carry(part: Expression) -> Expression | None:
        if isinstance(part, Call | Aggregate) and part.function in DEFINITIONS:
            arguments = tuple(owned(argument, query) for argument in part.arguments)
            return _with(part, arguments, Owned(DEFINITIONS[part.function], query))
        return None

    return transform(expression, carry) if DEFINITIONS else expression


def _with(call: Call | Aggregate, arguments: tuple[Expression, ...], own: Owned) -> Expression:
    if isinstance(call, Call):
        return Call(call.function, arguments, own, span=call.span)
    return Aggregate(
        call.function, arguments, call.distinct, call.star, call.parameter, call.starts, own, span=call.span
    )
