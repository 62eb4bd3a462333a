"""``cedr demo`` on Spark as it is called: its screen, to the letter, and its exit status.

Paper: Section 3.1, Section 5, Definitions 3 to 5.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.demo.test_demo import FEW, SCREENS
from tests.terminal import on_terminal

LYING = """
from cedr.cli.main import main
from cedr_demo import demo
from tests.demo.test_demo import Lying

demo.Watching = Lying
main()
"""
"""The demo, but for one row that MIDDLE has emitted and that is kept from the judge."""


@pytest.mark.slow
def test_the_screen_on_spark(golden: Callable[[Path, str], None]) -> None:
    command = [sys.executable, "-m", "cedr.cli.main", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    golden(SCREENS / "demo-spark.txt", done.stdout)
    assert done.stderr.startswith("starting Spark ...\n")
    told = r"\d+ seconds in all, first results after \d+\n(keeping what Java has loaded .*\n)?"
    assert re.search(rf"^{told}\Z", done.stderr, re.MULTILINE)


@pytest.mark.slow
def test_a_row_that_is_missing_is_found_and_ends_in_status_1_on_a_terminal() -> None:
    status, shown = on_terminal([sys.executable, "-c", LYING, "demo", *FEW, "--verbose"], columns=80)
    assert status == 1
    assert "starting Spark" in shown
    assert "file 6 of 6" in shown
    assert "\x1b[31m- M" in shown  # a retraction is red
    assert "MIDDLE promises all that is true up to the sync point: BROKEN" in shown
    assert "They do NOT agree at the sync point: MIDDLE differs from the oracle." in shown
