"""Memory that is freed is kept for the next step.

A step makes many arrays of a size that the next step needs again.  GNU's allocator hands such arrays back to the
system at once, and every page of the next one is then touched for the first time, which is dear: half of the time of a
step.  Here it is told not to, once for the process; where there is no such allocator nothing happens.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Final

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
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
