"""What a process loads that is started for nothing but the names of the state."""

from __future__ import annotations

import subprocess
import sys


def test_the_names_of_the_state_need_no_pipeline() -> None:
    """Spark starts such a process when a query begins: what it loads is waited for."""
    lines = "import sys; import cedr.spark.step.operator; print(*(name for name in sys.modules if 'numba' in name))"
    shown = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == ""
