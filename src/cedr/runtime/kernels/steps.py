"""What groups amount to over time, as steps: from each instant on something accumulated, until the next step.

Paper: Section 6 (group-by).  Reading: R30.  A change at an instant holds from there on, so the steps behind it change
by as much, until other changes have taken it back.  The steps of a group lie side by side in a pool that all groups
share.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel

Numbers = npt.NDArray[np.int64]

Pool = tuple[Numbers, Numbers, Numbers]
"""When steps begin, what they amount to, and the rows that they belong to."""
NO_ROW = -1


@kernel
def first_from(times: Numbers, first: int, count: int, time: int) -> int:
    """How many of some steps begin before a time; looked for from the end, where changes are most often."""
    low, high, reach = 0, count, 1
    while count - reach >= 0 and times[first + count - reach] >= time:
        high = count - reach
        reach *= 2
    low = max(0, count - reach + 1) if count - reach >= 0 else 0
    while low < high:
        middle = (low + high) // 2
        if times[first + middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def same_sums(one: Numbers, row: int, other: Numbers, other_row: int) -> bool:
    """Whether two accumulated rows are the same."""
    for place in range(one.shape[1]):
        if one[row, place] != other[other_row, place]:
            return False
    return True


@kernel
def room(groups: Numbers, first: Numbers, count: Numbers, capacity: Numbers, used: int, moves: Numbers) -> int:
    """Gives groups that get more changes than they have room for another place in the pool, behind what is used.

    ``groups``: that of each change, in order; ``moves``: for each move the group, its old place and its new one.
    Returns how many moves there are; the last row of ``moves`` says how much of the pool is used then.
    """
    place, found = 0, 0
    while place < len(groups):
        group, start = groups[place], place
        while place < len(groups) and groups[place] == group:
            place += 1
        needed = count[group] + place - start
        if needed > capacity[group]:
            capacity[group] = 2 * needed + 2
            moves[found, 0], moves[found, 1], moves[found, 2] = group, first[group], used
            first[group] = used
            used += capacity[group]
            found += 1
    moves[len(moves) - 1, 0] = used
    return found


@kernel
def moved(moves: Numbers, found: int, count: Numbers, times: Numbers, sums: Numbers, rows: Numbers) -> None:
    """Copies the steps of groups to their new places."""
    for number in range(found):
        group, old, new = moves[number, 0], moves[number, 1], moves[number, 2]
        for step in range(count[group]):
            times[new + step], rows[new + step] = times[old + step], rows[old + step]
            for place in range(sums.shape[1]):
                sums[new + step, place] = sums[old + step, place]


@kernel
def packed(first: Numbers, count: Numbers, capacity: Numbers, pool: Pool, into: Pool) -> int:
    """Copies the steps of all groups into another pool, without room between them; how much of it is used."""
    used = 0
    for group in range(len(first)):
        for step in range(count[group]):
            into[0][used + step], into[2][used + step] = pool[0][first[group] + step], pool[2][first[group] + step]
            for place in range(pool[1].shape[1]):
                into[1][used + step, place] = pool[1][first[group] + step, place]
        first[group], capacity[group] = used, count[group]
        used += count[group]
    return used


@kernel
def most_steps(groups: Numbers, count: Numbers) -> int:
    """How many steps a group may have at most, once its changes are there."""
    most, place = 1, 0
    while place < len(groups):
        start, group = place, groups[place]
        while place < len(groups) and groups[place] == group:
            place += 1
        most = max(most, count[group] + place - start)
    return most


@kernel
def row_begins(rows: Numbers, base: int, step: int) -> int:
    """The first step of the row that a step belongs to."""
    while step > 0 and rows[base + step] >= 0 and rows[base + step - 1] == rows[base + step]:
        step -= 1
    return step


@kernel
def row_ends(rows: Numbers, base: int, step: int, size: int) -> int:
    """The step behind the last one of the row that a step belongs to."""
    step += 1
    while step < size and rows[base + step] >= 0 and rows[base + step - 1] == rows[base + step]:
        step += 1
    return step


@kernel
def rows_of(rows: Numbers, begin: int, end: int, gone: Numbers, lost: int) -> int:
    """Writes down the rows that some steps belong to, each once; how many there are by now."""
    last = NO_ROW
    for step in range(begin, end):
        if rows[step] >= 0 and rows[step] != last:
            last = rows[step]
            gone[lost] = last
            lost += 1
    return lost


@kernel
def shifted(pool: Pool, begin: int, end: int, by: int) -> None:
    """Moves some steps up or down."""
    times, sums, rows = pool
    for number in range(end - begin):
        step = begin + number if by < 0 else end - 1 - number
        times[step + by], rows[step + by] = times[step], rows[step]
        for column in range(sums.shape[1]):
            sums[step + by, column] = sums[step, column]


@kernel
def copied(source: Pool, size: int, pool: Pool, first: int) -> None:
    """Copies the first steps of one pool to a place of another one."""
    for step in range(size):
        pool[0][first + step], pool[2][first + step] = source[0][step], source[2][step]
        for column in range(pool[1].shape[1]):
            pool[1][first + step, column] = source[1][step, column]


@kernel
def added(delta: Numbers, changes: Numbers, place: int) -> None:
    """Adds a change to what changes from here on."""
    for column in range(delta.shape[1]):
        delta[0, column] += changes[place, column]


@kernel
def total(delta: Numbers, sums: Numbers, source: int, into: Numbers, made: int) -> None:
    """What a step amounts to, by what it did before, if there was a step."""
    for column in range(delta.shape[1]):
        into[made, column] = delta[0, column] + (sums[source, column] if source >= 0 else 0)


@kernel
def change(
    groups: Numbers,
    at: Numbers,
    changes: Numbers,
    steps: tuple[Numbers, Numbers],
    pool: Pool,
    spans: Numbers,
    gone: Numbers,
) -> tuple[int, int]:
    """Adds changes, in the order of groups and times, to the steps of their groups.

    ``steps``: first step and count of each group; ``pool``: times, sums and rows.  ``spans``: for each group that
    changes where the steps that may belong to other rows than before begin and end in the pool; ``gone``: the rows that
    they belonged to.  Returns how many spans and rows there are.
    """
    first, count = steps
    rows = pool[2]
    most, width = most_steps(groups, count), changes.shape[1]
    new = (np.empty(most, np.int64), np.empty((most, width), np.int64), np.empty(most, np.int64))
    delta = np.zeros((1, width), np.int64)
    found, lost, place = 0, 0, 0
    while place < len(groups):
        group = groups[place]
        base, size = first[group], count[group]
        begin = first_from(pool[0], base, size, at[place])
        left = row_begins(rows, base, begin - 1) if begin else 0
        old, made, place = merged(place, begin, base, size, groups, at, changes, pool, new, delta)
        right = row_ends(rows, base, old, size) if old < size else size
        lost = rows_of(rows, base + left, base + right, gone, lost)
        shift = made - (old - begin)
        if shift:
            shifted(pool, base + old, base + size, shift)
        copied(new, made, pool, base + begin)
        count[group] = size + shift
        spans[found, 0], spans[found, 1], spans[found, 2] = group, base + left, base + right + shift
        found += 1
    return found, lost


@kernel
def merged(
    place: int,
    begin: int,
    base: int,
    size: int,
    groups: Numbers,
    at: Numbers,
    changes: Numbers,
    pool: Pool,
    new: Pool,
    delta: Numbers,
) -> tuple[int, int, int]:
    """The steps of a group from its first change on, until all changes have been taken back.

    Returns the first old step that stays as it is, how many new ones there are before it, and the next change.
    """
    times, sums, rows = pool
    group, old, made = groups[place], begin, 0
    zero = np.zeros((1, delta.shape[1]), np.int64)
    delta[:] = 0
    while True:
        more = place < len(groups) and groups[place] == group
        if not more and (old >= size or same_sums(delta, 0, zero, 0)):
            return old, made, place
        time = times[base + old] if old < size else at[place]
        if more and at[place] < time:
            time = at[place]
        here = old < size and times[base + old] == time
        while place < len(groups) and groups[place] == group and at[place] == time:
            added(delta, changes, place)
            place += 1
        source = base + old if here else base + old - 1
        total(delta, sums, source if here or old > 0 else -1, new[1], made)
        if made:
            repeats = same_sums(new[1], made, new[1], made - 1)
        elif begin:
            repeats = same_sums(new[1], made, sums, base + begin - 1)
        else:
            repeats = same_sums(new[1], made, zero, 0)
        if not repeats:
            new[0][made], new[2][made] = time, (rows[base + old] if here else NO_ROW)
            made += 1
        old += here


@kernel
def drop_before(first: Numbers, count: Numbers, capacity: Numbers, times: Numbers, rows: Numbers, line: int) -> int:
    """Drops the steps of each group that end up to an instant.

    What holds there from then on stands for all of the row that it belongs to: it begins where the row does.  How many
    steps are left.
    """
    total = 0
    for group in range(len(first)):
        base, size = first[group], count[group]
        drop = 0
        while drop + 1 < size and times[base + drop + 1] <= line:
            drop += 1
        times[base + drop] = times[base + row_begins(rows, base, drop)]
        if drop + 1 == size and rows[base + drop] < 0 and times[base + drop] <= line:
            drop += 1
        first[group] += drop
        count[group] -= drop
        capacity[group] -= drop
        total += count[group]
    return total
