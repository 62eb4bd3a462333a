"""Memory that is freed is kept for the next step.

A step makes many arrays of a size that the next step needs again.  GNU's allocator hands such arrays back to the
system at once, and every page of the next one is then touched for the first time, which is dear: half of the time of a
step.  Here it is told not to, once for the process; where there is no such allocator nothing happens.
"""

from __future__ import annotations

import ctypes
import gc
import os
from functools import cache
from itertools import count
from typing import Final

import pyarrow as pa

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENAS = -1, -2, -3, -8
_LARGEST: Final = 2**31 - 1
_PAD: Final = 1 << 26
SWITCH: Final = "CEDR_KEEP_MEMORY"
"""With 0 in this variable of the environment the allocator is left as it is."""


@cache
def keep_freed_memory() -> bool:
    """Tell the allocator; whether it listens."""
    if os.environ.get(SWITCH) == "0":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another allocator, another system
        return False
    told = [mallopt(option, value) for option, value in ((_MMAP_THRESHOLD, _LARGEST), (_TRIM_THRESHOLD, _LARGEST))]
    mallopt(_TOP_PAD, _PAD)
    return all(told)


@cache
def one_heap() -> None:
    """Have all threads take memory from the one heap whose freed memory is kept; for processes that are ours alone."""
    if keep_freed_memory():
        ctypes.CDLL(None).mallopt(_ARENAS, 1)


_SETTLING: Final = count(1)


def settle() -> None:
    """What there is now stays: the collector need not look at it again, which after many imports takes it long.

    For processes that do one task after the other, each of which ends with a collection; to be called as a task begins.
    It is done at the first task, the second, the fourth and so on: some modules are loaded later than others.
    """
    one_heap()
    number = next(_SETTLING)
    if number & (number - 1) == 0:
        gc.collect()
        gc.freeze()


def unsettle() -> None:
    """Something large that may have been there when the process settled is held no longer."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def give_back(most: int) -> bool:
    """Give memory that is free back to the system if this process has more than so many bytes; whether that was done.

    For processes that are reused for other work: what the last piece needed at its height is not kept for ever.
    """
    gc.collect()
    if resident() <= most:
        return False
    pa.default_memory_pool().release_unused()
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (AttributeError, OSError):  # another allocator, another system
        return False


def resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as told:
            return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
