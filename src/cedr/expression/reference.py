"""The page ``docs/reference/expressions.md``, made from the tables of operators, functions and aggregates.

``python -m cedr.expression.reference`` prints it; a test holds the page in the repository to it.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from cedr.expression.aggregate import AGGREGATES, aggregate_call
from cedr.expression.cast import SOURCES
from cedr.expression.functions import FUNCTIONS
from cedr.expression.lattice import ARITHMETIC, UNKNOWN
from cedr.expression.own import DEFINITIONS
from cedr.expression.render import RESERVED, render
from cedr.expression.signature import Function, literal
from cedr.expression.tree import Call
from cedr.model.schema import DataType

_INTRODUCTION: Final = """\
# Expressions

<!-- Made by `python -m cedr.expression.reference`; change the tables in `src/cedr/expression`, not this page. -->

Expressions stand in WHERE, OUTPUT, GROUP BY, HAVING, ON and LIFETIME. They follow SQL: NULL is the unknown, logic has
three values, and only *true* passes a predicate (R20).

## What happens to bad data

A standing query must not die of one row. So nothing in an expression fails on data; what has no answer is NULL:

- division and modulo by zero, the square root of a negative number, POWER without a real result;
- an INTEGER beyond 64 bits, a FLOAT that would be infinite or NaN (also one that comes in a payload), a DECIMAL beyond
  10^6144; a DECIMAL result has 38 digits;
- a CAST that fails, a regular expression or LIKE pattern from data that is none;
- a value of another kind than its place asks for, where the type was not declared: `x.code > 3` is NULL
  where the code is a text;
- an attribute that an event does not have, a variable that is not bound.

Mistakes in the text, such as types that cannot go together, are reported before the query runs.
"""

_NULLS: Final = """\
## NULL

| a | b | a AND b | a OR b | NOT a |
| --- | --- | --- | --- | --- |
| true | true | true | true | false |
| true | NULL | NULL | true | false |
| true | false | false | true | false |
| NULL | NULL | NULL | NULL | NULL |
| NULL | false | false | NULL | NULL |
| false | false | false | false | true |

Every other operator, and every function unless it says otherwise, is NULL where an operand is NULL. `x IN (…)` is true
where one item is equal, else NULL where an item or x is NULL, else false. Aggregates leave NULLs out. `=` compares a
LIST or STRUCT as a whole: a NULL inside equals a NULL inside.
"""

_INSIDE: Final = '''\
## Fields and elements

`x.card.no` is the field `no` of the STRUCT `card` of the event `x`; `x.items[1]` is the first element of the LIST
`items`. Both go as deep as the data do: `x.stops[-1].place.city`. They stand wherever an expression may stand, and
`CorrelationKey(card.no, EQUAL)` and `[card.no EQUAL '7']` reach into structs too.

```python
import cedr

query = """
EVENT Twice
WHEN SEQUENCE(TX AS a, TX AS b, 10 minutes)
WHERE {a.card.no = b.card.no} AND {b.items[1] = 'gift card'}
OUTPUT a.card.no AS card, b.items[-1] AS last_item
"""
first = {"card": {"no": "7", "limit": 100.0}, "items": ["book"]}
second = {"card": {"no": "7", "limit": 100.0}, "items": ["gift card", "pen"]}
messages = [
    {"insert": {"type": "TX", "id": "t1", "vs": 1, "payload": first}},
    {"insert": {"type": "TX", "id": "t2", "vs": 2, "payload": second}},
]
[row] = cedr.evaluate(query, messages).rows
assert dict(row.payload) == {"card": "7", "last_item": "pen"}
```

- **A field** is NULL where the struct is NULL or has no such field. `x['name']` means the same as `x.name` and takes
  any name: `x.card['first name']`. A double-quoted name works too: `x.card."first name"`.
- **An element** has a number from 1, as in SQL; -1 is the last one, -2 the one before it. Beyond both ends it is
  NULL, and so is the element NULL or 0. The number may be any INTEGER expression: `x.items[x.chosen]`. The literal 0
  is an error.
- **A name** is read from the left: in `a.card.no` the variable is `a`, its attribute `card`, the field `no`. Without
  a variable, `card.no` is a field of the attribute `card` of the one event type that declares it. A variable called
  `card` comes first; `card['no']` and `(card).no` always mean the attribute. An attribute whose own name has a dot is
  written in double quotes: `a."card.no"`.
- **Types** inside are unknown (ANY) unless the TYPE tells them: `TYPE TX (card STRUCT(no STRING, limit FLOAT), items
  LIST(STRING))`. Then a field that does not exist and a comparison of the wrong types are errors before the query
  runs. Event types that come from a Spark DataFrame know the types of struct fields, array elements and map values.
- **A field of something else**, such as a number or a text, is an error where the type is known, and NULL where it is
  not.
- **Maps** are structs whose fields are not known in advance: `x.labels['env']`.
- **As a key**: an equality between fields, `a.card.no = b.card.no`, is a key as one between attributes is: engines
  look up candidates by it, and Spark splits the events by it. For that Spark must know the type of the field. An
  equality between elements of lists is only a condition.

In Python: `cedr.col("a.card.no")`, `cedr.col("a.items")[1]`, `cedr.col("a.card")["first name"]`.
'''

_OPERATORS: Final = (
    ("`OR`", "BOOLEAN", ""),
    ("`AND`", "BOOLEAN", ""),
    ("`NOT x`", "BOOLEAN", ""),
    ("`=` `<>` `<` `<=` `>` `>=`", "two of one kind", "text by code points; LIST and STRUCT only `=` and `<>`"),
    ("`x [NOT] BETWEEN low AND high`", "values that have an order", "both ends included"),
    ("`x [NOT] IN (item, …)`", "two of one kind", ""),
    ("`x [NOT] LIKE pattern`", "STRING", "`%` any text, `_` one character, a backslash escapes"),
    ("`x IS [NOT] NULL`", "everything", "never NULL itself"),
    ("`||`", "STRING, BINARY", "one after the other"),
    ("`+` `-`", "numbers, times, dates", "see below"),
    ("`*` `/`", "numbers, durations", "INTEGER / INTEGER is FLOAT"),
    ("`%`", "numbers, times", "the sign of the dividend: `-7 % 3` is -1"),
    ("`DIV`", "numbers, times", "floor division: `-7 DIV 3` is -3; INTEGER, or DURATION for DURATION DIV INTEGER"),
    ("`-x`", "numbers, DURATION", ""),
    ("`x.name` `x['name']`", "STRUCT", "NULL where there is no such field"),
    ("`x[n]`", "LIST and INTEGER", "from 1, from the end with -1; NULL beyond the ends"),
    ("`CASE WHEN c THEN x … [ELSE y] END`", "branches of one type", "NULL without ELSE"),
    ("`CAST(x AS type)`", "see below", "NULL where it fails"),
)

_TIMES: Final = """\
### Numbers and times

INTEGER < DECIMAL < FLOAT: the wider type of two operands is the type of the result. TIMESTAMP, DURATION and INTEGER are
all ticks (microseconds) and compare with each other; DURATION also compares with other numbers. A DATE does not compare
with a TIMESTAMP: cast one of them. Adding a number to a DATE adds days. A DURATION times or divided by a number is
rounded to the nearest tick, a half away from zero.

FOREVER absorbs: anything added to it or taken from it, and it times, divided by or DIV something positive, is FOREVER.
FOREVER taken from something else is the beginning of time; FOREVER % x is NULL.
"""

_NOTES: Final = """\
LEAST and GREATEST leave NULLs out, as PostgreSQL does, and are NULL only where all arguments are. DOW counts from 0,
Sunday; WEEK is that of ISO 8601; MILLISECOND and MICROSECOND include the seconds of the minute; EPOCH is the seconds
since 1970, a FLOAT. Times before the year 1 or after 9999, and FOREVER, have no parts: NULL.
"""

_AGGREGATES: Final = """\
## Aggregates

In the OUTPUT of a pattern an aggregate runs over its arguments, one for each contributor (R23): `AVG(price)` takes
every contributor that has a price, `AVG(x.price, y.price)` those named. After GROUP BY it runs over the events of the
group (R30). `DISTINCT` in front of the argument counts equal values once. Results are exact up to one last rounding,
so they do not depend on the order in which events came. Of nothing, COUNT is 0 and everything else NULL.
"""

_OWN: Final = """\
Functions and aggregates of one's own are declared in Python and called by their names:
[Write a function of your own](../how-to/own-functions.md).
"""

_NAMES: Final = """\
## Names and literals

| literal | type |
| --- | --- |
| `42` `-7` | INTEGER |
| `1.5` `2e10` | FLOAT |
| `CAST('1.10' AS DECIMAL)` | DECIMAL |
| `'it''s'` | STRING |
| `TRUE` `FALSE` | BOOLEAN |
| `TIMESTAMP '2026-01-31 12:00:00Z'` `FOREVER` | TIMESTAMP |
| `12 hours` `1.5 seconds` `250 ms` | DURATION |
| `DATE '2026-01-31'` | DATE |
| `X'00ff'` | BINARY |
| `NULL` | fits everywhere |

Names in double quotes may be anything: `x."first name"`. These words are safe as names only in double quotes:
"""


def reference_page() -> str:
    """The whole page, in Markdown."""
    parts = (
        _INTRODUCTION,
        _NULLS,
        "## Operators\n\nFrom the loosest to the tightest.\n\n" + _table(("form", "takes", "note"), _OPERATORS),
        _TIMES,
        _table(("left", "operator", "right", "result"), _arithmetic_rows()),
        "### Casts\n\n" + _table(("to", "from", "note"), _cast_rows()),
        _INSIDE,
        "## Functions\n\n" + _table(("form", "result", "meaning", "example"), map(_function_row, _built_in(FUNCTIONS))),
        _NOTES,
        _AGGREGATES,
        _table(("form", "takes", "meaning", "example"), _aggregate_rows()),
        _OWN,
        _NAMES + "\n" + textwrap.fill(", ".join(sorted(RESERVED)), 120) + ".\n",
    )
    return "\n".join(parts)


_BAR: Final = chr(92) + "|"  # a bar inside a cell


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', _BAR) for cell in row)} |\n" for row in lines)


def _arithmetic_rows() -> Iterable[tuple[str, str, str, str]]:
    """Arithmetic other than between two numbers, the operators of one kind of operands in one row."""
    rows: dict[tuple[DataType, DataType, DataType], list[str]] = {}
    times = {DataType.TIMESTAMP, DataType.DURATION, DataType.DATE}
    for (sign, left, right), result in ARITHMETIC.items():
        if times & {left, right}:
            rows.setdefault((left, right, result), []).append(f"`{sign}`")
    for (left, right, result), signs in sorted(rows.items(), key=lambda row: [str(item) for item in row[0]]):
        yield str(left), " ".join(signs), str(right), str(result)


_CAST_NOTES: Final = {
    DataType.INTEGER: "cuts off what follows the point; times as ticks; true is 1",
    DataType.DECIMAL: "38 digits",
    DataType.STRING: "times as ISO 8601 in UTC, durations as `12 hours`, bytes as UTF-8",
    DataType.BOOLEAN: "0 is false; 'true', 't', 'yes', 'y', '1' and their opposites in any case",
    DataType.TIMESTAMP: "a number as ticks, a date as its midnight, in UTC",
    DataType.DURATION: "a number as ticks, a text as `12 hours`",
    DataType.DATE: "of a time: the day in UTC",
    DataType.BINARY: "a text as UTF-8",
}


def _cast_rows() -> Iterable[tuple[str, str, str]]:
    for target, sources in SOURCES.items():
        if target not in UNKNOWN:
            shown = ", ".join(sorted(str(source) for source in sources - UNKNOWN))
            yield str(target), shown, _CAST_NOTES.get(target, "")


def _function_row(function: Function) -> tuple[str, str, str, str]:
    arguments, result = function.example
    call = Call(function.name, arguments)
    of = function.result(call, [argument.type for argument in arguments])
    shown = str(of) if function.result.__name__ not in ("same", "common") else f"as {function.parameters[0].name}"
    return f"`{function.form}`", shown, function.document, f"`{render(call)}` is `{render(result)}`"


F = TypeVar("F")


def _built_in(known: Mapping[str, F]) -> list[F]:
    return [function for name, function in known.items() if name not in DEFINITIONS]


def _aggregate_rows() -> Iterable[tuple[str, str, str, str]]:
    for function in _built_in(AGGREGATES):
        if function.example is not None:
            call = aggregate_call(function.name, tuple(literal(value) for value in function.example[0]))
            shown = f"`{render(call)}` is `{render(literal(function.example[1]))}`"
        else:
            shown = ""
        yield f"`{function.form}`", function.expects, function.document, shown


if __name__ == "__main__":
    sys.stdout.write(reference_page())
