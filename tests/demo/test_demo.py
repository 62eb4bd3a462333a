"""``cedr demo`` on the host local, and where Spark is missing: the screen, the exit status, the details.

Paper: Section 3.1, Section 5, Definitions 3 to 5.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from cedr.cli.main import app
from cedr.model.history import HistoryTable
from cedr.model.level import MIDDLE
from cedr.spark.session import java
from cedr_demo import command, demo
from cedr_demo.agreement import Agreement
from cedr_demo.arriving import Arriving, Scale
from cedr_demo.demo import query_text
from cedr_demo.running import LocalRun
from cedr_demo.screen import HEIGHT, WIDTH
from cedr_demo.view import LiveView
from cedr_demo.watching import Watching
from tests.docs.console import commands
from tests.docs.pages import ROOT, blocks
from tests.terminal import on_terminal

SCREENS = Path(__file__).parent / "screens"
FEW = ("--events", "400", "--machines", "40", "--files", "4", "--seed", "15")
SPARE = 2
"""Lines of a terminal that the screen leaves to the time it took and to the next prompt."""


class Lying(Watching):
    """Keeps one row that MIDDLE has emitted from the judge."""

    def judged(self, meant: HistoryTable) -> Agreement:
        rows = self.accounts[MIDDLE].rows
        del rows[next(iter(rows))]
        return super().judged(meant)


def test_the_screen_of_the_host_local(golden: Callable[[Path, str], None]) -> None:
    done = CliRunner().invoke(app, ["demo", "--host", "local"])
    assert done.exit_code == 0
    golden(SCREENS / "demo-local.txt", done.stdout)
    assert re.search(r"^\d+ seconds in all, first results after \d+$", done.stderr, re.MULTILINE)


def test_both_hosts_show_the_same_but_for_their_name() -> None:
    local, spark = ((SCREENS / f"demo-{host}.txt").read_text("utf-8") for host in ("local", "spark"))
    assert local.split() == spark.replace("on Spark,", "on the host local,").split()
    assert local.splitlines()[3:] == spark.splitlines()[3:]


@pytest.mark.parametrize("host", ["local", "spark"])
def test_the_screen_fits(host: str) -> None:
    assert_fits((SCREENS / f"demo-{host}.txt").read_text("utf-8"))


@pytest.mark.parametrize(
    "scale",
    [
        ("--events", "1", "--machines", "1", "--files", "1"),
        ("--events", "200", "--machines", "1", "--files", "3"),
        ("--events", "400", "--machines", "40", "--files", "90"),
        ("--events", "4000", "--machines", "7000"),
    ],
    ids=["one event", "one machine", "many files", "many machines"],
)
def test_any_scale_fits(scale: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, ["demo", "--host", "local", *scale])
    assert done.exit_code == 0, done.output
    assert_fits(done.stdout)


def assert_fits(screen: str) -> None:
    lines = screen.splitlines()
    assert len(lines) <= HEIGHT - SPARE
    assert max(map(len, lines)) <= WIDTH
    assert [line.split()[0] for line in lines if line.startswith(("STRONG", "MIDDLE", "WEAK"))] == [
        *("STRONG", "MIDDLE", "WEAK") * 2
    ]
    assert lines[-1].startswith("They agree at the sync point: ")


def test_the_live_screen_fits() -> None:
    watching = Watching(Arriving(Scale()), query_text())
    view, console = LiveView(verbose=False), Console(width=WIDTH, height=HEIGHT)
    view.begin(watching, "on Spark")
    run = LocalRun(watching.query, watching.arriving)
    for batch in run.batches(view.tick):
        view.step(watching.take(batch), run.costs())
        lines = console.render_lines(view.drawn(), pad=False)
        texts = ["".join(segment.text for segment in line).rstrip() for line in lines]
        assert len(texts) < HEIGHT
        assert max(map(len, texts)) <= WIDTH
    shown = "\n".join(texts)
    assert "file 22 of 22, newest event 00:59:07" in shown
    assert re.search(r"^775 alerts +895 alerts +624 alerts$", shown, re.MULTILINE)
    assert re.search(r"^0 retracted +120 retracted +2 retracted$", shown, re.MULTILINE)


def test_a_row_that_is_missing_is_found_and_ends_in_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "Watching", Lying)
    done = CliRunner().invoke(app, ["demo", "--host", "local", *FEW, "--verbose"])
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert "MIDDLE promises all that is true up to the sync point: BROKEN" in lines
    assert lines[-1] == "They do NOT agree at the sync point: MIDDLE differs from the oracle."


def test_verbose_shows_every_batch_and_all_figures_before_the_screen() -> None:
    done = CliRunner().invoke(app, ["demo", "--host", "local", *FEW, "--verbose"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len([line for line in lines if re.match(r" +\d+ +\d\d:\d\d:\d\d ", line)]) == 6
    assert sum("MIDDLE - M" in line for line in lines) > 0
    first = next(number for number, line in enumerate(lines) if line.startswith("-----"))
    table = {line[10:36].strip(): line[36:].split() for line in lines[first + 1 : first + 13]}
    strong, middle, weak = (int(each.replace(",", "")) for each in table["alerts emitted"])
    back = [int(each) for each in table["retracted"]]
    assert strong == middle - back[1] > weak - back[2]
    assert table["of these wrong"][:2] == table["missing"][:2] == ["0", "0"]
    assert len(set(table["alerts alive"])) == 1
    assert table["wrong or missing"] == ["0", "0", "0"]
    plain = CliRunner().invoke(app, ["demo", "--host", "local", *FEW])
    assert done.stdout.endswith(f"\n{plain.stdout}")


@pytest.mark.slow
def test_a_terminal_gets_the_same_screen_in_colour() -> None:
    status, shown = on_terminal([sys.executable, "-m", "cedr.cli.main", "demo", "--host", "local"], columns=WIDTH)
    assert status == 0
    assert "\x1b[31m-3" in shown  # a retraction is red
    assert "\x1b[1;32mThey agree" in shown
    end = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r\n", "\n")
    assert (SCREENS / "demo-local.txt").read_text("utf-8") in end


def test_the_readme_shows_the_screen() -> None:
    page = ROOT / "README.md"
    found = [block for block in blocks(page, page.read_text("utf-8")) if block.language == "console"]
    shown = [command.shown for block in found for command in commands(block.text) if command.text == "make demo"]
    assert shown == [(SCREENS / "demo-spark.txt").read_text("utf-8").splitlines()]


def test_without_pyspark_the_host_local_is_taken_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    done = CliRunner().invoke(app, ["demo", *FEW])
    assert done.exit_code == 0
    assert done.stderr.startswith(
        "note: pyspark is not installed (the extra cedr[spark] brings it); this is the same demo on the host local\n"
    )
    assert done.stdout == CliRunner().invoke(app, ["demo", "--host", "local", *FEW]).stdout


def test_without_java_the_host_local_is_taken_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_java", lambda: None)
    done = CliRunner().invoke(app, ["demo", *FEW])
    assert done.exit_code == 0
    assert done.stderr.startswith("note: Spark needs Java 17 or newer, and there is none; this is the same demo")
    assert "They agree at the sync point" in done.stdout


def test_an_unknown_host_is_a_wrong_call() -> None:
    done = CliRunner().invoke(app, ["demo", "--host", "abacus"])
    assert done.exit_code == 2
    assert 'error[unknown-host]: there is no host "abacus"' in done.stderr
