"""Compiled loops over segments: one piece of the entries for each group, sorted by time, with room to grow."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from cedr.runtime.kernels.jit import inlined, kernel

Array = np.ndarray[Any, np.dtype[np.int64]]

START, SIZE, ROOM, BASE = range(4)
"""The columns of pieces: where a group's entries begin, how many there are, how many fit, and from where on."""
TIME, ROW = 0, 1
"""The columns of entries.  What is read together lies together: one line of the cache instead of two."""
_BLOCK: Final = 64


@kernel
def stable_order(codes: Array, first: Array) -> Array:
    """The numbers ``first`` reordered by their codes, stable: a radix sort of non-negative codes."""
    n = len(first)
    largest = 0
    for code in codes:
        largest = max(largest, code)
    source, target = first.copy(), np.empty_like(first)
    shift = 0
    while largest >> shift:
        counts = np.zeros(2049, dtype=np.int64)
        for i in range(n):
            counts[((codes[source[i]] >> shift) & 2047) + 1] += 1
        for digit in range(2048):
            counts[digit + 1] += counts[digit]
        for i in range(n):
            digit = (codes[source[i]] >> shift) & 2047
            target[counts[digit]] = source[i]
            counts[digit] += 1
        source, target = target, source
        shift += 11
    return source


@kernel
def counted(groups: Array, times: Array, rows: Array, count: int, out: Any) -> None:
    """Rows by group, in their order within a group: a sort by counting."""
    out_groups, out_times, out_rows = out
    begin = np.zeros(count + 1, dtype=np.int64)
    for group in groups:
        begin[group + 1] += 1
    for group in range(count):
        begin[group + 1] += begin[group]
    for i in range(len(groups)):
        place = begin[groups[i]]
        begin[groups[i]] = place + 1
        out_groups[place], out_times[place], out_rows[place] = groups[i], times[i], rows[i]


@kernel
def is_sorted(values: Array) -> bool:
    """Whether values never fall."""
    for i in range(1, len(values)):
        if values[i] < values[i - 1]:
            return False
    return True


@kernel
def in_groups(groups: Array, times: Array) -> bool:
    """Whether rows are in the order of (group, time) already."""
    for i in range(1, len(groups)):
        if groups[i] < groups[i - 1] or (groups[i] == groups[i - 1] and times[i] < times[i - 1]):
            return False
    return True


@inlined
def fits(pieces: Array, group: int, total: int) -> Any:
    """Whether so many entries find room where a group has its own.

    What was forgotten leaves room before the others.  These are moved there only if it is much: so a row is not moved
    more often, over all, than rows come.
    """
    room, before = pieces[group, ROOM], pieces[group, START] - pieces[group, BASE]
    return before + total <= room or (total <= room and 4 * before >= total)


@inlined
def roomy(size: int) -> int:
    """Room for so many entries and half as many more."""
    return size + (size + 1) // 2


@kernel
def room_needed(pieces: Array, groups: Array, moved: bool) -> int:  # noqa: FBT001 - kernels know no keywords
    """How much more space a batch, sorted by group, takes at the end of the entries; ``moved``: once all are moved."""
    needed = 0
    i = 0
    while i < len(groups):
        group = groups[i]
        j = i
        while j < len(groups) and groups[j] == group:
            j += 1
        total = pieces[group, SIZE] + (j - i)
        if total > roomy(pieces[group, SIZE]) if moved else not fits(pieces, group, total):
            needed += max(4, 2 * total)
        i = j
    return needed


@inlined
def fetched(pieces: Array, entries: Array, groups: Array) -> int:
    """Reads where each group ends, so that it is near when it is needed; the number means nothing."""
    touched = 0
    for group in groups:
        if group < len(pieces):
            end = pieces[group, START] + pieces[group, SIZE]
            touched ^= entries[max(end - 1, 0), TIME] if end else 0
    return touched


@kernel
def put_in(pieces: Array, entries: Array, end: int, groups: Array, at: Array, new: Array) -> tuple[int, int]:
    """Merge a batch, sorted by (group, time), into the pieces; the new end of what is used of the entries.

    The other number means nothing.
    """
    i, ahead, touched = 0, 0, 0
    while i < len(groups):
        if i >= ahead:
            ahead = i + _BLOCK
            touched ^= fetched(pieces, entries, groups[i:ahead])
        group = groups[i]
        j = i
        while j < len(groups) and groups[j] == group:
            j += 1
        first, held = pieces[group, START], pieces[group, SIZE]
        total, base = held + (j - i), pieces[group, BASE]
        if not fits(pieces, group, total):
            base = end
            pieces[group, BASE], pieces[group, ROOM] = end, max(4, 2 * total)
            end += pieces[group, ROOM]
        if first + total > base + pieces[group, ROOM] or first < base:
            for k in range(held):
                entries[base + k, TIME] = entries[first + k, TIME]
                entries[base + k, ROW] = entries[first + k, ROW]
            first = pieces[group, START] = base
        last, place, k = first + held - 1, first + total - 1, j - 1
        while k >= i:
            if last >= first and entries[last, TIME] > at[k]:
                entries[place, TIME] = entries[last, TIME]
                entries[place, ROW] = entries[last, ROW]
                last -= 1
            else:
                entries[place, TIME] = at[k]
                entries[place, ROW] = new[k]
                k -= 1
            place -= 1
        pieces[group, SIZE] = total
        i = j
    return end, touched


@kernel
def take_out(pieces: Array, entries: Array, groups: Array, at: Array, old: Array) -> int:
    """Remove rows from their pieces, a batch sorted by (group, time); how many were found."""
    removed = 0
    i = 0
    while i < len(groups):
        group = groups[i]
        j = i
        while j < len(groups) and groups[j] == group:
            j += 1
        if group >= len(pieces):
            i = j
            continue
        first = pieces[group, START]
        end = first + pieces[group, SIZE]
        least = end
        for k in range(i, j):
            low, high = first, end
            while low < high:
                middle = (low + high) // 2
                if entries[middle, TIME] < at[k]:
                    low = middle + 1
                else:
                    high = middle
            while low < end and entries[low, TIME] == at[k]:
                if entries[low, ROW] == old[k]:
                    entries[low, ROW] = -1
                    least = min(least, low)
                    break
                low += 1
        place = least
        for k in range(least, end):
            if entries[k, ROW] >= 0:
                entries[place, TIME] = entries[k, TIME]
                entries[place, ROW] = entries[k, ROW]
                place += 1
        removed += end - place
        pieces[group, SIZE] = place - first
        i = j
    return removed


@kernel
def locate(pieces: Array, entries: Array, groups: Array, low: Array, high: Array, begin: Array, end: Array) -> int:
    """For each group the places [begin, end) with low <= time <= high; the sum of their numbers."""
    total = 0
    for i in range(len(groups)):
        group = groups[i]
        if group < 0 or group >= len(pieces) or low[i] > high[i]:
            begin[i] = 0
            end[i] = 0
            continue
        left = pieces[group, START]
        right = left + pieces[group, SIZE]
        stop = right
        while left < right:
            middle = (left + right) // 2
            if entries[middle, TIME] < low[i]:
                left = middle + 1
            else:
                right = middle
        begin[i] = left
        right = stop
        while left < right:
            middle = (left + right) // 2
            if entries[middle, TIME] <= high[i]:
                left = middle + 1
            else:
                right = middle
        end[i] = left
        total += left - begin[i]
    return total


@kernel
def expand(begin: Array, end: Array, total: int) -> tuple[Array, Array]:
    """All places of some ranges: which range each belongs to, and the place."""
    owner, place = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    n = 0
    for i in range(len(begin)):
        for k in range(begin[i], end[i]):
            owner[n] = i
            place[n] = k
            n += 1
    return owner, place


@kernel
def forget(pieces: Array, entries: Array, line: int) -> int:
    """Drop from every group what is not after the line; how many rows went."""
    gone = 0
    for group in range(len(pieces)):
        count, first = 0, pieces[group, START]
        while count < pieces[group, SIZE] and entries[first + count, TIME] <= line:
            count += 1
        if count:
            pieces[group, SIZE] -= count
            pieces[group, START] = first + count if pieces[group, SIZE] else pieces[group, BASE]
            gone += count
    return gone


@kernel
def room_side_by_side(pieces: Array) -> int:
    """How much room all pieces take when each has room to grow by half."""
    total = 0
    for group in range(len(pieces)):
        total += roomy(pieces[group, SIZE])
    return total


@kernel
def moved(pieces: Array, entries: Array, target: Array) -> int:
    """Move all pieces to other entries, side by side, each with room to grow by half; where they end."""
    end = 0
    for group in range(len(pieces)):
        first, size = pieces[group, START], pieces[group, SIZE]
        for k in range(size):
            target[end + k, TIME] = entries[first + k, TIME]
            target[end + k, ROW] = entries[first + k, ROW]
        pieces[group, START] = pieces[group, BASE] = end
        pieces[group, ROOM] = roomy(size)
        end += pieces[group, ROOM]
    return end


@kernel
def all_rows(pieces: Array, entries: Array, out: Array) -> None:
    """The rows of all pieces."""
    n = 0
    for group in range(len(pieces)):
        first = pieces[group, START]
        for place in range(first, first + pieces[group, SIZE]):
            out[n] = entries[place, ROW]
            n += 1


@kernel
def renumber(pieces: Array, entries: Array, new_rows: Array) -> None:
    """The rows have other numbers."""
    for group in range(len(pieces)):
        first = pieces[group, START]
        for place in range(first, first + pieces[group, SIZE]):
            entries[place, ROW] = new_rows[entries[place, ROW]]


@kernel
def renumber_references(references: Array, new_rows: Array) -> None:
    """What is referred to has other numbers; -1 is nothing."""
    for place in range(len(references)):
        if references[place] >= 0:
            references[place] = new_rows[references[place]]


@kernel
def merged(
    groups: Array, low: Array, high: Array, more_groups: Array, more_low: Array, more_high: Array
) -> tuple[Array, Array, Array]:
    """Two lists of intervals, each in the order of (group, low), as one."""
    n, m = len(groups), len(more_groups)
    all_groups = np.empty(n + m, dtype=np.int64)
    all_low = np.empty(n + m, dtype=np.int64)
    all_high = np.empty(n + m, dtype=np.int64)
    i, j = 0, 0
    while i < n or j < m:
        if i == n:
            first = False
        elif j == m or groups[i] != more_groups[j]:
            first = j == m or groups[i] < more_groups[j]
        else:
            first = low[i] <= more_low[j]
        if first:
            all_groups[i + j], all_low[i + j], all_high[i + j] = groups[i], low[i], high[i]
            i += 1
        else:
            all_groups[i + j], all_low[i + j], all_high[i + j] = more_groups[j], more_low[j], more_high[j]
            j += 1
    return all_groups, all_low, all_high


@kernel
def united(groups: Array, low: Array, high: Array) -> int:
    """Unite overlapping intervals of one group in place, sorted by (group, low); how many are left."""
    n = 0
    for i in range(len(groups)):
        if n and groups[n - 1] == groups[i] and low[i] <= high[n - 1]:
            high[n - 1] = max(high[n - 1], high[i])
        else:
            groups[n] = groups[i]
            low[n] = low[i]
            high[n] = high[i]
            n += 1
    return n
