"""What a process loads before it answers: nothing that a small query does not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
HEAVY = ("numba", "llvmlite", "pandas", "scipy", "pyspark")
SHOW = f"print(*sorted({{name.partition('.')[0] for name in sys.modules}} & set({HEAVY!r} + given)))"

SMALL = """
import cedr
from pathlib import Path
from cedr.runtime.kernels.jit import KERNELS
for example, event in (
    ("machines", "CIDR07_Example"), ("machines", "SameByKey"), ("coupons", None), ("fire", None), ("mail", None)
):
    path = Path(EXAMPLES) / example
    result = cedr.evaluate(path.with_suffix(".cedr"), path.with_suffix(".jsonl"), host="local", event=event)
    print(example, len(result.rows), len(result.changes()))
print([kernel.__name__ for kernel in KERNELS if kernel.compiled])
"""


def loaded(lines: str, *given: str, **variables: str) -> str:
    """What a fresh process prints, and which of the packages that take long to load it has loaded."""
    whole = f"import sys\ngiven = {given!r}\nEXAMPLES = {str(EXAMPLES)!r}\n{lines}\n{SHOW}"
    environment = {**os.environ, **variables}
    found = subprocess.run(
        [sys.executable, "-c", whole], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert not found.returncode, found.stderr
    return found.stdout


def test_the_package_itself_loads_nothing() -> None:
    assert loaded("import cedr", "numpy", "pyarrow", "lark", "click", "rich") == "\n"


def test_small_queries_neither_load_numba_nor_pandas(tmp_path: Path) -> None:
    shown = loaded(SMALL, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert [line.split()[0] for line in shown[:-2]] == ["machines", "machines", "coupons", "fire", "mail"]
    assert all(int(line.split()[1]) > 0 for line in shown[:-2])
    assert shown[-2:] == ["[]", ""]


def test_the_command_loads_neither(tmp_path: Path) -> None:
    lines = """
from cedr.cli.main import main
sys.argv = ["cedr", "eval", EXAMPLES + "/machines.cedr", "--messages", EXAMPLES + "/machines.jsonl", "--host", "local"]
try:
    main()
except SystemExit as done:
    assert not done.code
"""
    shown = loaded(lines, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
    assert any("BARGA_XP03" in line or "s1" in line for line in shown)
    assert shown[-1] == ""


@pytest.mark.slow
def test_a_process_that_must_not_compile_says_the_same(tmp_path: Path) -> None:
    told = loaded(SMALL, NUMBA_DISABLE_JIT="1", CEDR_PATIENCE="0", NUMBA_CACHE_DIR=str(tmp_path))
    assert told.splitlines()[:-1] == loaded(SMALL, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()[:-1]
