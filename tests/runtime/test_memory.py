"""Memory that is freed is kept, and given back when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

GIVEN_BACK = """
import numpy as np
from cedr.runtime.values import memory

resident = memory.resident
memory.keep_freed_memory()
before = resident()
arrays = [np.ones(1 << 20) for _ in range(32)]  # 256 MiB
del arrays
assert resident() - before > 200 << 20, "freed memory is kept"
assert not memory.give_back(1 << 40), "that is not too much"
assert resident() - before > 200 << 20
assert memory.give_back(before)
assert resident() - before < 100 << 20, "it was given back"
"""

SETTLED = """
import gc, weakref
from cedr.runtime.values import memory

class Ring:
    def __init__(self):
        self.own = self

def ring():
    made = Ring()
    return made, weakref.ref(made)

made, seen = ring()
memory.settle()
assert len(gc.get_objects()) < 100, "what there was is not looked at"
del made
gc.collect()
assert seen() is not None, "not even once nobody holds it"
made, seen_later = ring()
del made
gc.collect()
assert seen_later() is None, "what came later is"
memory.unsettle()
assert seen() is None
made, seen = ring()
memory.settle()
assert gc.get_freeze_count() and not any(each is made for each in gc.get_objects()), "the second time counts"
made, seen = ring()
memory.settle()
assert any(each is made for each in gc.get_objects()), "the third does not"
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's allocator is asked")
def test_memory_is_given_back() -> None:
    assert_runs(GIVEN_BACK)


def test_what_has_settled_is_not_collected() -> None:
    assert_runs(SETTLED)


def assert_runs(script: str) -> None:
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
