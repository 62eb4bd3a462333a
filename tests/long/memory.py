"""The peak of memory of a function, measured in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1 << 20


def peak() -> int:
    """Bytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measured(function: Callable[[bool], int]) -> tuple[int, int]:
    """What a function of a module gives, and how much its call raised the peak of memory.

    It is called twice in the other process: once with ``False``, small, so that imports and compiled kernels are not
    counted, and once with ``True``.
    """
    module, name = function.__module__, function.__qualname__
    text = (
        "import json\n"
        f"from {module} import {name}\n"
        "from tests.long.memory import peak\n"
        f"{name}(False)\n"
        "before = peak()\n"
        f"found = {name}(True)\n"
        "print(json.dumps([found, peak() - before]))\n"
    )
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, raised = json.loads(done.stdout.splitlines()[-1])
    return found, raised
