"""``cedr demo`` as it is called: its closing table, its exit status, and what the README shows of it.

Paper: Section 3.1, Section 5, Definitions 3 to 5.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.docs.console import commands, matches
from tests.docs.pages import ROOT, blocks
from tests.terminal import on_terminal

FEW = ("--events", "400", "--machines", "40", "--files", "4", "--seed", "15")
LYING = """
import sys
from cedr.cli.main import main
from cedr.model.level import MIDDLE
from cedr.spark.demo import watching

class Lying(watching.Watching):
    def judged(self, meant):
        rows = self.accounts[MIDDLE].rows
        del rows[next(iter(rows))]
        return super().judged(meant)

watching.Watching = Lying
main()
"""
"""The demo, but for one row that MIDDLE has said and that is kept from the judge."""


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cedr.cli.main", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.slow
def test_a_few_events_are_said_at_three_levels_that_agree() -> None:
    done = called(*FEW)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "starting Spark ..."
    first = next(number for number, line in enumerate(lines) if line.startswith("-----"))
    table = {line[10:36].strip(): line[36:].split() for line in lines[first + 1 : first + 14]}
    assert len([line for line in lines if re.match(r" +\d+ +\d\d:\d\d:\d\d ", line)]) == 6
    strong, middle, weak = (int(each.replace(",", "")) for each in table["alerts said"])
    back = [int(each) for each in table["taken back"]]
    held = [int(each) for each in table["messages held, at most"]]
    assert held[0] > 0
    assert held[1:] == [0, 0]
    assert back[0] == 0
    assert back[1] > 0
    assert strong == middle - back[1] > weak - back[2]
    assert all(int(each.replace(",", "")) > 0 for each in table["rows, at most"])
    assert table["of these wrong"][:2] == table["missing"][:2] == ["0", "0"]
    assert len(set(table["alerts alive"])) == 1
    assert int(table["alerts alive"][0]) > 0
    assert table["wrong or missing"] == ["0", "0", "0"]
    assert "STRONG, MIDDLE and WEAK are equal at the last sync point, and equal to the oracle." in lines
    assert sum("MIDDLE - M" in line for line in lines) > 0
    told = r"\d+ seconds in all, first results after \d+\n(keeping what Java has loaded .*\n)?"
    assert re.fullmatch(told, done.stderr)


@pytest.mark.slow
def test_a_row_that_is_missing_is_found_and_ends_in_status_1_on_a_terminal() -> None:
    status, shown = on_terminal([sys.executable, "-c", LYING, "demo", *FEW])
    assert status == 1
    assert "starting Spark" in shown
    assert "file 6 of 6" in shown
    assert "\x1b[31m- M" in shown  # a retraction is red
    assert "MIDDLE promises all that is true up to the sync point: BROKEN" in shown
    assert "NOT EQUAL at the last sync point: MIDDLE broke the promise." in shown


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints() -> None:
    page = ROOT / "README.md"
    shown = [
        command
        for block in blocks(page, page.read_text("utf-8"))
        if block.language == "console"
        for command in commands(block.text)
        if command.text == "make demo"
    ]
    assert len(shown) == 1
    done = called()
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert matches(shown[0].shown, printed), "\n".join(printed)
