"""What a scalar function takes and gives: the shape of an entry in the table of functions.

Reading: R20.  ``typing`` checks calls against it, ``evaluate`` guards the implementation with it, ``reference`` prints
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cedr.expression.lattice import unify
from cedr.expression.tree import Call, Expression, Literal
from cedr.expression.values import fit, kind
from cedr.model.event import Value
from cedr.model.schema import DataType

Implementation = Callable[..., Value]
Result = Callable[[Call, Sequence[DataType]], DataType | None]
Check = Callable[[Call], tuple[str, str, str] | None]

KIND_OF_TYPE = {
    DataType.INTEGER: "number",
    DataType.FLOAT: "number",
    DataType.DECIMAL: "number",
    DataType.TIMESTAMP: "number",
    DataType.DURATION: "number",
    DataType.STRING: "text",
    DataType.BOOLEAN: "boolean",
    DataType.DATE: "date",
    DataType.BINARY: "binary",
    DataType.STRUCT: "struct",
    DataType.LIST: "list",
}
"""The kind of the values of a type."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: its name, and the types it takes; no types means every type."""

    name: str
    types: tuple[DataType, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of values that it takes."""
        return frozenset(KIND_OF_TYPE[item] for item in self.types)

    @property
    def integral(self) -> bool:
        """Takes whole numbers only."""
        return DataType.INTEGER in self.types and DataType.FLOAT not in self.types

    def takes(self, value: Value) -> bool:
        """Whether a value that is not NULL may be given."""
        if not self.types:
            return True
        return kind(value) in self.kinds and not (self.integral and type(value) not in (int,))


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function.

    The last ``optional`` parameters may be left out; with ``variadic`` the last one may be repeated.  A ``strict``
    function is NULL as soon as one argument is.  ``check`` looks at a call before it runs and gives code, message and
    detail of an error.  ``example`` is a list of arguments and what comes of them.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: Result
    implementation: Implementation
    document: str
    example: tuple[tuple[Literal, ...], Literal]
    optional: int = 0
    variadic: bool = False
    strict: bool = True
    check: Check | None = None

    @property
    def least(self) -> int:
        """The smallest number of arguments."""
        return len(self.parameters) - self.optional

    def takes(self, count: int) -> bool:
        """Whether the function can have that many arguments."""
        return count >= self.least and (self.variadic or count <= len(self.parameters))

    def parameter(self, place: int) -> Parameter:
        """The parameter for the argument at a place, from 0."""
        return self.parameters[min(place, len(self.parameters) - 1)]

    @property
    def form(self) -> str:
        """How a call is written.

        >>> Function("F", (Parameter("x"), Parameter("n")), same, max, "", ((), None), optional=1).form
        'F(x[, n])'
        """
        if self.name == "EXTRACT":
            return "EXTRACT(unit FROM t)"
        names = [item.name for item in self.parameters]
        text = ", ".join(names[: self.least])
        text += "".join(f"[, {name}]" for name in names[self.least :]) + (", …" if self.variadic else "")
        return f"{self.name}({text})"

    def call(self, values: Sequence[Value]) -> Value:
        """The function of some values; whatever goes wrong on data is NULL."""
        if self.strict:
            for place, value in enumerate(values):
                if value is None or not self.parameter(place).takes(value):
                    return None
        try:
            return fit(self.implementation(*values))
        except (ArithmeticError, ValueError):
            return None


def same(_: Call, types: Sequence[DataType]) -> DataType | None:
    """The result has the type of the first argument."""
    return DataType.ANY if types[0] is DataType.NULL else types[0]


def common(_: Call, types: Sequence[DataType]) -> DataType | None:
    """The result has the one type that all arguments go together in."""
    return unify(types)


def always(result: DataType) -> Result:
    """The result always has the same type."""
    return lambda _call, _types: result


def constant(expression: Expression) -> Any:
    """The value of a literal; None for NULL and for everything else."""
    return expression.value if isinstance(expression, Literal) else None


def example(arguments: tuple[Any, ...], result: Any) -> tuple[tuple[Literal, ...], Literal]:
    """Arguments and result of an example; plain Python values become literals of their type."""
    return tuple(literal(item) for item in arguments), literal(result)


_TYPES = {
    type(None): DataType.NULL,
    bool: DataType.BOOLEAN,
    int: DataType.INTEGER,
    float: DataType.FLOAT,
    str: DataType.STRING,
    bytes: DataType.BINARY,
}


def literal(value: Any, of: DataType | None = None) -> Literal:
    """A literal of a value, of the type that its Python type suggests; a literal stays as it is.

    >>> literal(5).type, literal(5, DataType.TIMESTAMP).type
    (<DataType.INTEGER: 'INTEGER'>, <DataType.TIMESTAMP: 'TIMESTAMP'>)
    """
    if isinstance(value, Literal):
        return value if of is None else replace(value, type=of)
    return Literal(value, _guess(value) if of is None else of)


def _guess(value: Value) -> DataType:
    found = _TYPES.get(type(value))
    if found is not None:
        return found
    of_kind = {kind: name for name, kind in KIND_OF_TYPE.items() if name is not DataType.DURATION}
    return DataType.DECIMAL if kind(value) == "number" else of_kind.get(kind(value), DataType.ANY)
