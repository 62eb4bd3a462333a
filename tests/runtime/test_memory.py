"""Memory that is freed is kept, and given back when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

GIVEN_BACK = """
import numpy as np
from cedr.runtime import memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

memory.keep_freed_memory()
before = resident()
arrays = [np.ones(1 << 20) for _ in range(32)]  # 256 MiB
del arrays
assert resident() - before > 200 << 20, "freed memory is kept"
assert not memory.give_back(1 << 30), "that is not too much"
assert resident() - before > 200 << 20
assert memory.give_back(1 << 20)
assert resident() - before < 100 << 20, "it was given back"
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's allocator is asked")
def test_memory_is_given_back() -> None:
    found = subprocess.run([sys.executable, "-c", GIVEN_BACK], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
