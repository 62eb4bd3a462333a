"""Compiled loops over segments: pieces of two arrays, one piece for each group, sorted by time, with room to grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from cedr.runtime.jit import kernel

Array = np.ndarray[Any, np.dtype[np.int64]]


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


@kernel
def room_needed(size: Array, room: Array, groups: Array) -> int:
    """How much more space a batch, sorted by group, takes at the end of the arrays."""
    needed = 0
    i = 0
    while i < len(groups):
        group = groups[i]
        j = i
        while j < len(groups) and groups[j] == group:
            j += 1
        total = size[group] + (j - i)
        if total > room[group]:
            needed += max(4, 2 * total)
        i = j
    return needed


@kernel
def put_in(
    start: Array, size: Array, room: Array, times: Array, rows: Array, end: int, groups: Array, at: Array, new: Array
) -> int:
    """Merge a batch, sorted by (group, time), into the segments; the new end of what is used of the arrays."""
    i = 0
    while i < len(groups):
        group = groups[i]
        j = i
        while j < len(groups) and groups[j] == group:
            j += 1
        held, total = size[group], size[group] + (j - i)
        if total > room[group]:
            old = start[group]
            for k in range(held):
                times[end + k] = times[old + k]
                rows[end + k] = rows[old + k]
            start[group] = end
            room[group] = max(4, 2 * total)
            end += room[group]
        first = start[group]
        last, place, k = first + held - 1, first + total - 1, j - 1
        while k >= i:
            if last >= first and times[last] > at[k]:
                times[place] = times[last]
                rows[place] = rows[last]
                last -= 1
            else:
                times[place] = at[k]
                rows[place] = new[k]
                k -= 1
            place -= 1
        size[group] = total
        i = j
    return end


@kernel
def take_out(start: Array, size: Array, times: Array, rows: Array, groups: Array, at: Array, old: Array) -> int:
    """Remove rows from their segments, a batch sorted by (group, time); how many were found."""
    removed = 0
    i = 0
    while i < len(groups):
        group = groups[i]
        j = i
        while j < len(groups) and groups[j] == group:
            j += 1
        if group >= len(start):
            i = j
            continue
        first, end = start[group], start[group] + size[group]
        least = end
        for k in range(i, j):
            low, high = first, end
            while low < high:
                middle = (low + high) // 2
                if times[middle] < at[k]:
                    low = middle + 1
                else:
                    high = middle
            while low < end and times[low] == at[k]:
                if rows[low] == old[k]:
                    rows[low] = -1
                    least = min(least, low)
                    break
                low += 1
        place = least
        for k in range(least, end):
            if rows[k] >= 0:
                times[place] = times[k]
                rows[place] = rows[k]
                place += 1
        removed += end - place
        size[group] = place - first
        i = j
    return removed


@kernel
def locate(
    start: Array, size: Array, times: Array, groups: Array, low: Array, high: Array, begin: Array, end: Array
) -> int:
    """For each group the places [begin, end) with low <= time <= high; the sum of their numbers."""
    total = 0
    for i in range(len(groups)):
        group = groups[i]
        if group < 0 or group >= len(start) or low[i] > high[i]:
            begin[i] = 0
            end[i] = 0
            continue
        left, right = start[group], start[group] + size[group]
        stop = right
        while left < right:
            middle = (left + right) // 2
            if times[middle] < low[i]:
                left = middle + 1
            else:
                right = middle
        begin[i] = left
        right = stop
        while left < right:
            middle = (left + right) // 2
            if times[middle] <= high[i]:
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
def forget(start: Array, size: Array, room: Array, times: Array, line: int) -> int:
    """Drop from every group what is not after the line; how many rows went."""
    gone = 0
    for group in range(len(start)):
        count, first = 0, start[group]
        while count < size[group] and times[first + count] <= line:
            count += 1
        if count:
            start[group] += count
            size[group] -= count
            room[group] -= count
            gone += count
    return gone


@kernel
def copied(start: Array, size: Array, times: Array, rows: Array, new_times: Array, new_rows: Array) -> None:
    """Copy all segments side by side into other arrays, without spare room."""
    end = 0
    for group in range(len(start)):
        first = start[group]
        for k in range(size[group]):
            new_times[end + k] = times[first + k]
            new_rows[end + k] = rows[first + k]
        start[group] = end
        end += size[group]


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
