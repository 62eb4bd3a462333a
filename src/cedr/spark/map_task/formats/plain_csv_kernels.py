"""A compiled loop over lines of CSV without quotes; it reads values in their most common form, and no others.

At the first byte that it does not expect it gives up, and a slower reader reads the lines.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, kernel

Bytes = npt.NDArray[np.uint8]
Cells = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Small = npt.NDArray[np.int32]
Places = npt.NDArray[np.uint64]

SKIPPED, TEXT, CODE, WHOLE, REAL, TIME, DAY = range(7)
"""The kind of a column; CODE is a text with few different values."""
MOST_CODES: Final = 64
STRANGE: Final = np.uint64(2**64 - 1)
"""The place that a kernel returns when it gives up."""

_LINE_END, _RETURN, _QUOTE = np.uint8(10), np.uint8(13), np.uint8(34)
_ZERO, _NINE = np.uint8(48), np.uint8(57)
_MINUS, _POINT, _COLON, _SPACE, _T = np.uint8(45), np.uint8(46), np.uint8(58), np.uint8(32), np.uint8(84)
_ASCII, _BYTE = np.uint8(127), np.uint8(255)
_NONE, _ONE = np.uint64(0), np.uint64(1)
_DIGITS: Final = np.uint64(18)
"""A whole number with this many digits fits into 64 bits."""
_EXACT: Final = np.uint64(16)
"""A number of at most this many bytes is a quotient of two exact floats, so it is rounded only once."""
_TENS: Final = np.array([10.0**power for power in range(16)])
_DAYS: Final = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)
_DATE: Final = np.uint64(10)
_CLOCK: Final = np.uint64(9)
"""The bytes after a date, without a fraction."""
_DAY: Final = 86_400
_SECOND: Final = 1_000_000
_MICROS: Final = np.array([10 ** (6 - digits) for digits in range(7)], np.int64)
"""The microseconds of the last digit, by the number of digits after the point."""

# A kernel returns the place after a value, or ``STRANGE``, and the value.  Places are unsigned, so that indexing does
# not test for negative ones.


@inlined
def is_digit(byte: Any) -> Any:
    """Whether a byte is a digit."""
    return _ZERO <= byte <= _NINE


@inlined
def ends(byte: Any) -> Any:
    """Whether a byte ends a line."""
    return byte in (_LINE_END, _RETURN)


@inlined
def digit(byte: Any) -> Any:
    """The number of a digit."""
    return np.int64(byte) - 48


@kernel
def number(data: Bytes, at: Any, end: Any, value: int) -> Any:
    """Read digits before the place ``end``; they continue the digits of ``value``."""
    while at < end and is_digit(data[at]):
        value = value * 10 + digit(data[at])
        at += _ONE
    return at, value


@kernel
def pair(data: Bytes, at: Any) -> Any:
    """Read two digits; below zero if they are none."""
    if not (is_digit(data[at]) and is_digit(data[at + _ONE])):
        return -1000
    return digit(data[at]) * 10 + digit(data[at + _ONE])


@kernel
def day(data: Bytes, at: Any) -> Any:
    """Read a date like ``2026-01-31``: its place, and its days since the epoch."""
    year = pair(data, at) * 100 + pair(data, at + np.uint64(2))
    month, of_month = pair(data, at + np.uint64(5)), pair(data, at + np.uint64(8))
    if year < 1 or data[at + np.uint64(4)] != _MINUS or data[at + np.uint64(7)] != _MINUS or not 1 <= month <= 12:
        return STRANGE, 0
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= of_month <= _DAYS[month] + (1 if leap and month == 2 else 0):
        return STRANGE, 0
    years = year - (1 if month <= 2 else 0)  # counted from March
    since = (153 * ((month + 9) % 12) + 2) // 5 + of_month - 1
    return at, years * 365 + years // 4 - years // 100 + years // 400 + since - 719_468


@kernel
def clock(data: Bytes, at: Any) -> Any:
    """Read a time like ``23:59:59``: seconds since midnight; below zero if it is none."""
    hour, minute, second = pair(data, at), pair(data, at + np.uint64(3)), pair(data, at + np.uint64(6))
    if data[at + np.uint64(2)] != _COLON or data[at + np.uint64(5)] != _COLON:
        return -1
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59):
        return -1
    return hour * 3600 + minute * 60 + second


@kernel
def instant(data: Bytes, at: Any, date: int) -> Any:
    """Read a time like `` 23:59:59.123`` on a day: microseconds since the epoch."""
    seconds = clock(data, at + _ONE)
    if seconds < 0 or (data[at] != _SPACE and data[at] != _T):
        return STRANGE, 0
    at += _CLOCK
    micros = 0
    if data[at] == _POINT:
        begin = at + _ONE
        at, fraction = number(data, begin, begin + np.uint64(6), 0)
        if at == begin:
            return STRANGE, 0
        micros = fraction * _MICROS[at - begin]
    return at, (date * _DAY + seconds) * _SECOND + micros


@kernel
def whole(data: Bytes, at: Any) -> Any:
    """Read a whole number."""
    negative = data[at] == _MINUS
    if negative:
        at += _ONE
    begin = at
    at, value = number(data, begin, begin + _DIGITS, 0)
    return at if at > begin else STRANGE, -value if negative else value


@kernel
def real(data: Bytes, at: Any) -> Any:
    """Read a number that may have a fraction, with at most ``_EXACT`` bytes."""
    negative = data[at] == _MINUS
    if negative:
        at += _ONE
    begin, end = at, at + _EXACT + _ONE
    point, value = number(data, begin, end, 0)
    at, digits = point, _NONE
    if data[point] == _POINT:
        at, value = number(data, point + _ONE, end, value)
        digits = at - point - _ONE
    if point == begin or at == end or (at > point and digits == _NONE):
        return STRANGE, 0.0
    found = np.float64(value) / _TENS[digits]
    return at, -found if negative else found


@kernel
def same(data: Bytes, first: Any, second: Any, size: Any) -> bool:
    """Whether the bytes at two places are the same."""
    for step in range(size):
        if data[first + step] != data[second + step]:
            return False
    return True


@kernel
def text(data: Bytes, at: Any, separator: Any, letters: Any) -> Any:
    """The place after a text without quotes, whose bytes are at most ``letters``."""
    while data[at] != separator and not ends(data[at]):
        if data[at] == _QUOTE or data[at] > letters:
            return STRANGE
        at += _ONE
    return at


@kernel
def code(data: Bytes, first: Any, size: Any, codes: Places, count: int) -> int:
    """The number of a text among the different texts so far; a new text is added to them."""
    for known in range(count):
        if codes[1, known] == size and same(data, codes[0, known], first, size):
            return known
    if count < MOST_CODES:
        codes[0, count], codes[1, count] = first, size
    return count


@kernel
def time(data: Bytes, at: Any, kind: int, seen: Any, date: int) -> Any:
    """Read a date or a timestamp; the date of the last value and its place save work, since dates repeat."""
    if at + _DATE + (_NONE if kind == DAY else _CLOCK) >= np.uint64(len(data)):
        return STRANGE, 0, seen, date
    if seen == STRANGE or not same(data, seen, at, _DATE):
        seen, date = day(data, at)
        if seen == STRANGE:
            return STRANGE, 0, seen, date
    if kind == DAY:
        return at + _DATE, date, seen, date
    at, micros = instant(data, at + _DATE, date)
    return at, micros, seen, date


@kernel
def parsed(
    data: Bytes, separator: Any, kinds: Small, slots: Small, cells: Cells, reals: Reals, sizes: Small, codes: Places
) -> Any:
    """Read lines: returns the number of rows, below zero if it gives up, and the number of codes.

    It writes values to the slots of their columns: numbers, or the offsets and sizes of texts; the size of NULL is -1.
    The last byte ends a line.  ``reals`` has the same memory as ``cells``.
    """
    at, row, known, last = _NONE, 0, 0, len(kinds) - 1
    seen, date = STRANGE, 0
    while at < np.uint64(len(data)):
        if data[at] == _LINE_END or (data[at] == _RETURN and data[at + _ONE] == _LINE_END):
            at += _ONE
            continue
        for column in range(len(kinds)):
            kind, slot, first = kinds[column], slots[column], at
            if kind == SKIPPED:
                at = text(data, at, separator, _BYTE)
            elif data[at] == separator or ends(data[at]):
                sizes[slot, row], cells[slot, row] = -1, 0
            elif kind == WHOLE:
                at, cells[slot, row] = whole(data, at)
            elif kind == REAL:
                at, reals[slot, row] = real(data, at)
            elif kind == TEXT:
                at = text(data, at, separator, _ASCII)
                sizes[slot, row], cells[slot, row] = np.int64(at - first), np.int64(first)
            elif kind == CODE:
                at = text(data, at, separator, _ASCII)
                kept = MOST_CODES if at == STRANGE else code(data, first, at - first, codes, known)
                at = STRANGE if kept == MOST_CODES else at
                known, cells[slot, row] = max(known, kept + 1), kept
            else:
                at, cells[slot, row], seen, date = time(data, at, kind, seen, date)
            if at != STRANGE and column == last and data[at] == _RETURN:
                at += _ONE
            if at == STRANGE or data[at] != (_LINE_END if column == last else separator):
                return -1, 0
            at += _ONE
        row += 1
    return row, known


@kernel
def put_together(data: Bytes, starts: Cells, sizes: Small, offsets: Small, out: Bytes) -> int:
    """Copy texts one after the other, and write their ``offsets``; returns the number of bytes."""
    at = 0
    for row in range(len(starts)):
        offsets[row] = at
        first = starts[row]
        for step in range(sizes[row]):
            out[at + step] = data[first + step]
        at += max(sizes[row], 0)
    offsets[len(starts)] = at
    return at
