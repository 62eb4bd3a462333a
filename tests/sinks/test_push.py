"""Messages to others: each final row once by its key, whatever refuses, hangs or dies.  Readings: R36, R48."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cedr.diagnostics.exceptions import SinkError
from cedr.model.level import MIDDLE
from cedr.model.stream import Change
from cedr.model.time import FOREVER
from cedr.sinks.contract import Sink
from cedr.sinks.kinds import make_sink
from cedr.sinks.push.receivers import Command, Function, Refused, Webhook
from cedr.sinks.push.sink import Push
from tests.sinks.receiver import Service
from tests.sinks.runs import RUNS, Run, believed, runs

ROOT = Path(__file__).resolve().parents[2]
RUN = RUNS["aggregate"]
STEPS = list(RUN.steps(MIDDLE))
FINAL = sorted(row.id for row in believed([c for step in STEPS for c in step.changes]))
"""The IDs of the latest belief once nothing more can come: of each row a final message, and of no other."""


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "outbox.db"


@pytest.fixture
def services() -> Iterator[Callable[..., Service]]:
    made: list[Service] = []

    def make(*given: Any, **more: Any) -> Service:
        made.append(Service(*given, **more))
        return made[-1]

    yield make
    for each in made:
        each.close()


def fed(sink: Sink, run: Run = RUN, upto: int | None = None) -> None:
    sink.open(run.output)
    for step in list(run.steps(MIDDLE))[:upto]:
        sink.write(step.batch, step.table)


def until(holds: Callable[[], bool], what: str) -> None:
    """Waits, for as long as it takes on a machine that is busy."""
    for _ in range(6_000):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail(f"it never came to be: {what}")


def test_each_final_row_is_told_once(outbox: Path, services: Any) -> None:
    service = services()
    for _ in range(2):  # all batches come twice
        sink = Push(Webhook(service.url), outbox)
        fed(sink)
        sink.close()
    assert sorted(body["row"]["id"] for body in service.taken) == FINAL
    assert {body["kind"] for body in service.taken} == {"final"}
    assert max(service.requests.values()) == 1


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(run=st.one_of(runs(), runs(revised=False)))
def test_a_final_row_never_changes_and_all_become_final(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Reading: R36: at each moment what was told is right at the end, and at the end all is told."""
    told: list[dict[str, Any]] = []
    sink = Push(Function(told.append), tmp_path_factory.mktemp("push") / "outbox.db", envelope="final", workers=1)
    fed(sink, run)
    sink.close()
    changes: list[Change] = [change for step in run.steps(MIDDLE) for change in step.changes]
    last = {row.id: row for row in believed(changes)}
    assert sorted(body["row"]["id"] for body in told) == sorted(last)
    for body in told:
        row = last[body["row"]["id"]]
        assert body["row"]["Vs"] == row.valid_start
        assert body["row"]["Ve"] == (None if row.valid_end == FOREVER else row.valid_end)


def test_what_is_final_is_told_before_the_end(outbox: Path) -> None:
    """The guarantee in the middle settles the rows that lie before it, where no event can be revised."""
    told: list[dict[str, Any]] = []
    sink = Push(Function(told.append), outbox)
    output = replace(RUN.output, revisable=0)
    sink.open(output)
    for step in STEPS[:-1]:
        sink.write(step.batch, step.table)
    sink.close()
    assert 0 < len(told) < len(FINAL)


def test_early_rows_are_confirmed_or_withdrawn(outbox: Path, services: Any) -> None:
    service = services()
    sink = Push(Webhook(service.url), outbox, envelope="stages", workers=1)
    fed(sink)
    sink.close()
    stages: dict[str, list[str]] = {}
    for body in service.taken:
        stages.setdefault(body["row"]["K"], []).append(body["kind"])
    ends = {key: told[-1] for key, told in stages.items()}
    assert set(ends.values()) == {"confirmed", "withdrawn"}
    assert all(told.count("confirmed") + told.count("withdrawn") == 1 for told in stages.values())
    assert any(told[0] == "provisional" and told[-1] == "withdrawn" for told in stages.values())
    assert sorted(key.rpartition("@")[0] for key, end in ends.items() if end == "confirmed") == FINAL


def test_upserts_by_id_are_the_latest_belief(outbox: Path, services: Any) -> None:
    service = services()
    sink = Push(Webhook(service.url), outbox, envelope="upsert")
    fed(sink)
    sink.close()
    kept: dict[str, Any] = {}
    for body in service.taken:
        if body["kind"] == "upsert":
            kept[body["row"]["id"]] = body["row"]
        elif kept.get(body["row"]["id"], {}).get("K") == body["row"]["K"]:
            del kept[body["row"]["id"]]
    assert sorted(kept) == FINAL


def test_what_is_refused_comes_again_and_is_parked_in_the_end(outbox: Path, services: Any) -> None:
    """One row is refused always, one answers late, one says 500 twice; all others go on meanwhile."""
    bad, odd, wrong = FINAL[0], FINAL[1], FINAL[2]

    def answer(key: str, times: int) -> int | None:
        if bad in key:
            return 500
        if wrong in key:
            return 400
        if odd in key:
            return 503 if times < 3 else 200
        return 200

    service = services(answer)
    sink = Push(Webhook(service.url), outbox, tries=4, pause=0.01)
    fed(sink)
    until(lambda: sink.counts()["waiting"] == 0, "nothing waits")
    assert sorted(body["row"]["id"] for body in service.taken) == sorted(set(FINAL) - {bad, wrong})
    parked = {key: error for key, _, error in sink.parked()}
    assert {bad in key for key in parked} == {True, False}
    assert sorted(parked.values()) == ["127.0.0.1 answered 400", "127.0.0.1 answered 500"]
    assert service.requests[next(key for key in parked if bad in key)] == 4
    assert service.requests[next(key for key in parked if wrong in key)] == 1, "to come again would not help"
    assert sink.try_parked_again() == 2
    until(lambda: sink.counts()["parked"] == 2, "both are parked again")
    sink.close()


def test_one_that_does_not_answer_keeps_no_other_waiting(outbox: Path, services: Any) -> None:
    hung = FINAL[0]
    service = services(lambda key, _: None if hung in key else 200)
    sink = Push(Webhook(service.url, timeout=1.0), outbox, tries=2, pause=0.01, workers=2)
    fed(sink)
    until(lambda: len(service.taken) == len(FINAL) - 1, "all the others are delivered")
    until(lambda: sink.counts()["parked"] == 1, "the one is parked")
    assert "timed out" in sink.parked()[0][2]
    assert "secret" not in str(sink.parked())
    sink.close()


def test_a_service_that_is_gone_for_a_while(outbox: Path, services: Any) -> None:
    """Nothing is lost while it is away, across a stop of ours as well."""
    gone = Service()
    gone.close()
    sink = Push(Webhook(gone.url), outbox, tries=100, pause=0.01)
    fed(sink)
    sink.close()
    assert gone.taken == []
    service = services(port=gone.port)
    sink = Push(Webhook(service.url), outbox, tries=100, pause=0.01)
    sink.open(RUN.output)
    until(lambda: sink.counts()["waiting"] == 0, "all is delivered")
    sink.close()
    assert sorted(body["row"]["id"] for body in service.taken) == FINAL


JOB = """
import sys
sys.path.insert(0, {root!r})
from cedr.model.level import MIDDLE
from cedr.sinks.push.receivers import Webhook
from cedr.sinks.push.sink import Push
from tests.sinks.runs import RUNS
sink = Push(Webhook({url!r}), {outbox!r}, tries=1000, pause=0.01)
sink.open(RUNS["aggregate"].output)
print("open", flush=True)
for step in RUNS["aggregate"].steps(MIDDLE):
    sink.write(step.batch, step.table)
print("written", flush=True)
sink.close()
"""


def slowly(key: str, times: int) -> int:
    time.sleep(0.02)
    return 200 if key or times else 500


@pytest.mark.slow
def test_a_process_that_is_killed_tells_each_row_at_least_once(outbox: Path, services: Any) -> None:
    service = services(slowly)
    code = textwrap.dedent(JOB.format(root=str(ROOT), url=service.url, outbox=str(outbox)))
    for number in range(6):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout is not None
        process.stdout.readline()
        if number < 5:
            time.sleep(0.02 * number)
            process.send_signal(signal.SIGKILL)
        process.stdout.read()
        process.stdout.close()
        process.wait()
    assert process.returncode == 0
    assert sorted(body["row"]["id"] for body in service.once().values()) == FINAL
    assert len(service.taken) >= len(FINAL)


def test_a_command_gets_the_message_and_its_key(outbox: Path, tmp_path: Path) -> None:
    where = tmp_path / "told"
    where.mkdir()
    sink = make_sink(
        "command", {"command": f'cat > "{where}/$(echo "$CEDR_KEY" | tr / _)"', "outbox": str(outbox)}, "Q"
    )
    fed(sink)
    sink.close()
    assert len(list(where.iterdir())) == len(FINAL)
    assert all(path.read_text("utf-8").startswith('{"key":') for path in where.iterdir())


def test_a_command_that_fails_or_hangs_is_refused() -> None:
    with pytest.raises(Refused, match="ended with 3 no way"):
        Command("echo no way >&2; exit 3").take("k", "{}")
    with pytest.raises(Refused, match=r"longer than 0\.2 seconds"):
        Command("sleep 30 & sleep 30", timeout=0.2).take("k", "{}")
    with pytest.raises(Refused, match="cannot be started"):
        Command(["/nowhere/at-all"]).take("k", "{}")


def test_a_function_by_its_name(outbox: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "alerts.py").write_text("told = []\ndef send(message):\n    told.append(message)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    sink = make_sink("python", {"function": "alerts:send", "outbox": str(outbox), "envelope": "changes"}, "Q")
    fed(sink)
    sink.close()
    import alerts  # type: ignore[import-not-found]

    assert [body["row"]["seq"] for body in alerts.told if body["kind"] == "guarantee"]
    assert len(alerts.told) == sum(step.table.num_rows for step in STEPS)
    with pytest.raises(SinkError, match="no function"):
        make_sink("python", {"function": "alerts:shout", "outbox": str(outbox)}, "Q")


def test_another_query_needs_another_outbox(outbox: Path) -> None:
    sink = Push(Function(print), outbox)
    sink.open(RUN.output)
    sink.close()
    other = Push(Function(print), outbox, envelope="upsert")
    with pytest.raises(SinkError, match="another form"):
        other.open(RUN.output)
    with pytest.raises(SinkError, match="there is no envelope"):
        Push(Function(print), outbox, envelope="letter")


def test_a_redirect_is_refused(services: Any) -> None:
    service = services(lambda *_: 302)
    with pytest.raises(Refused, match="answered 302") as refused:
        Webhook(service.url).take("k", '{"key":"k"}')
    assert refused.value.for_good
