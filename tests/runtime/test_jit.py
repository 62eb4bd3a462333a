"""Kernels: when they are interpreted, when they become machine code, and that nobody can tell by the results."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.plan.compile import compile_text
from cedr.runtime.kernels import gather as gather_kernels
from cedr.runtime.kernels import jit
from tests.consistency.scenarios import Scenario, scenarios

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@jit.kernel
def mixed(word: Any, other: Any) -> Any:
    word *= np.uint64(0x9E3779B97F4A7C15)
    return word ^ other


@jit.inlined
def shifted(word: Any) -> Any:
    return word >> np.uint64(1)


@jit.kernel
def folded(words: Any, out: Any) -> tuple[Any, int, bool, float]:
    """Calls another kernel and an inlined one, wraps around, and returns one of each kind of number."""
    word = np.uint64(1)
    for place in range(len(words)):
        word = mixed(word, words[place])
        out[place] = shifted(word)
    return word, len(words), word > np.uint64(7), np.float64(word & np.uint64(7)) / 2


@jit.lookup("table")
def found(table: Numbers, rows: Numbers) -> int:
    """The work follows the rows."""
    total = 0
    for row in rows:
        total += table[row]
    return total


def kernel_of(function: Callable[..., Any]) -> jit.Kernel:
    return cast("jit.Kernel", function)


@pytest.fixture(autouse=True)
def _anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every kernel begins as a plain function, and no machine code is known to be on disk."""
    monkeypatch.setattr(jit.Kernel, "_kept", False)
    monkeypatch.setattr(jit.patience, "spent", 0.0)
    for kernel in jit.KERNELS:
        kernel.restart()
    yield
    for kernel in jit.KERNELS:
        kernel.restart()


def words(count: int) -> Any:
    return np.arange(count, dtype=np.uint64) * np.uint64(0xDEADBEEFCAFEF00D)


def test_few_elements_are_interpreted_and_many_are_not() -> None:
    out = np.zeros(5, np.uint64)
    few = folded(words(5), out)
    assert not kernel_of(folded).compiled
    many = folded(words(10_000_000), np.zeros(10_000_000, np.uint64))
    assert kernel_of(folded).compiled
    assert many[1] == 10_000_000
    again = np.zeros(5, np.uint64)
    assert folded(words(5), again) == few
    assert again.tolist() == out.tolist()


def test_both_forms_return_numbers_of_python() -> None:
    interpreted = folded(words(9), np.zeros(9, np.uint64))
    kernel_of(folded).compile()
    compiled = folded(words(9), np.zeros(9, np.uint64))
    assert compiled == interpreted
    assert [type(each) for each in interpreted] == [type(each) for each in compiled] == [int, int, bool, float]


def test_the_size_of_a_table_does_not_count() -> None:
    table = np.arange(10_000_000)
    assert found(table, np.array([3, 4])) == 7
    assert not kernel_of(found).compiled


def test_a_kernel_is_compiled_once_interpreting_it_took_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "COMPILING", 1e-3)
    monkeypatch.setattr(jit, "FIRST_COMPILING", 1e-3)
    calls = 0
    while not kernel_of(folded).compiled:
        folded(words(5), np.zeros(5, np.uint64))
        calls += 1
    assert 2 < calls < 10_000


def test_without_patience_the_first_call_is_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.patience, "factor", 0.0)
    folded(words(1), np.zeros(1, np.uint64))
    assert kernel_of(folded).compiled


def test_what_is_on_disk_is_loaded_where_numba_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba  # noqa: F401 - what a kernel looks for

    monkeypatch.setattr(jit.Kernel, "_kept", True)
    folded(words(1), np.zeros(1, np.uint64))
    assert kernel_of(folded).compiled


def test_machine_code_is_called_without_anything_between() -> None:
    called = kernel_of(folded).compile()
    assert vars(type(folded))["__call__"].__func__ is called is kernel_of(folded).machine_code


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(gather_kernels.follow)) is gather_kernels.follow
    assert gather_kernels.follow.__name__ == "follow"
    assert gather_kernels.follow.__doc__


QUERIES = (
    "SEQUENCE(A AS x, B AS y, 3) WHERE {x.k = y.k} OUTPUT x.k AS k, y.s AS s",
    "UNLESS(SEQUENCE(A AS x, B AS y, 3), A AS z, 2) WHERE CorrelationKey(k, EQUAL)",
    "SEQUENCE(FIRST A AS x, LAST B AS y, 4) WHERE {x.s = y.s}",
)


def said(scenario: Scenario, query: str, choices: Iterator[bool], patch: pytest.MonkeyPatch) -> list[object]:
    """What a query says where each call of a kernel is interpreted or compiled as the choices have it."""
    for kernel in jit.KERNELS:
        kernel.restart()
    patch.setattr(jit.Kernel, "_worth", lambda *_: next(choices))
    arrival = scenario.arrival
    plan = compile_text(f"EVENT Q WHEN {query}", arrival.catalog).queries["Q"].plan
    pipeline = Pipeline(plan, (MIDDLE,), arrival.catalog)
    steps = (pipeline.step(batch, number) for number, batch in enumerate(arrival.batches, 1))
    return [(found.to_arrow().to_pylist(), found.guarantee) for (found,) in steps]


@settings(max_examples=10)
@given(scenarios(), st.sampled_from(QUERIES), st.lists(st.booleans(), max_size=300))
def test_what_is_said_does_not_depend_on_who_is_compiled_when(
    scenario: Scenario, query: str, choices: list[bool]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        interpreted = said(scenario, query, repeat(True), patch)
        assert not any(kernel.compiled for kernel in jit.KERNELS)
        assert said(scenario, query, iter([*choices, *[True] * 100_000]), patch) == interpreted
        assert said(scenario, query, repeat(False), patch) == interpreted


def in_a_process(lines: str, **variables: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", lines], env=variables, capture_output=True, text=True, check=False, timeout=300
    )
    assert not found.returncode, found.stderr
    return found.stdout.strip()


FOLLOWED = """
import numpy as np
from cedr.runtime.kernels.gather import follow
out = np.zeros(3, np.int64)
for _ in range(2):
    follow(np.array([5, 6, 7]), np.array([2, -1, 0]), out)
print(out.tolist(), follow.compiled)
try:
    follow(np.array([5]), np.array([8]), out)
except IndexError:
    print("beyond")
"""


def test_where_numba_must_not_compile_a_kernel_stays_what_it_is() -> None:
    shown = in_a_process(FOLLOWED, NUMBA_DISABLE_JIT="1", CEDR_PATIENCE="0")
    assert shown == "[7, -1, 5] False\nbeyond"


def test_numba_checks_bounds_where_it_is_told_to(tmp_path: Any) -> None:
    shown = in_a_process(FOLLOWED, NUMBA_BOUNDSCHECK="1", CEDR_PATIENCE="0", NUMBA_CACHE_DIR=str(tmp_path))
    assert shown == "[7, -1, 5] True\nbeyond"


def test_machine_code_on_disk_is_found(tmp_path: Any) -> None:
    lines = "from cedr.runtime.kernels.gather import follow\nprint(follow._kept)\n"
    assert in_a_process(lines, NUMBA_CACHE_DIR=str(tmp_path)) == "False"
    in_a_process(FOLLOWED, CEDR_PATIENCE="0", NUMBA_CACHE_DIR=str(tmp_path))
    assert in_a_process(lines, NUMBA_CACHE_DIR=str(tmp_path)) == "True"
