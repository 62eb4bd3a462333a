"""A wrong job file: everything that is wrong, each at its line, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import cedr
from cedr.jobs.file.reading import read_job
from tests.jobs.cases import job_text

GOOD = job_text('path = "in/"', outputs='kind = "console"')


def errors(folder: Path, text: str, *overrides: str, **environment: str) -> str:
    path = folder / "job.toml"
    path.write_text(text)
    with pytest.raises(cedr.CedrError) as raised:
        read_job(path, overrides, environment)
    return str(raised.value)


@pytest.mark.parametrize(
    ("before", "after", "code", "told"),
    [
        ("[run]", "[runn]", "unknown-setting", "did you mean run?"),
        ("batch = 9", "bach = 9", "unknown-setting", "did you mean batch?"),
        ("batch = 9", "batch = 0", "bad-setting", "a whole number from 1"),
        ("batch = 9", 'mode = "twice"', "bad-setting", "one of continuous, once, available"),
        ("time = ", "tiem = ", "unknown-setting", "did you mean time?"),
        ('path = "in/"', "", "unknown-source", "says neither its kind nor a path"),
        ('path = "in/"', 'kind = "fiels"', "unknown-source", 'has the kind "fiels"'),
        ('path = "in/"', 'kind = "files"', "missing-setting", '"path" is missing'),
        ('kind = "console"', 'kind = "consol"', "unknown-output", "kinds: console"),
        ('kind = "console"', 'query = "Bussy"', "unknown-query", "queries: Unanswered, Busy"),
        ('kind = "console"', 'consistency = "STORNG"', "bad-setting", "STRONG, MIDDLE, WEAK"),
        ('path = "in/"', "path = in/", "bad-toml", "texts stand in quotes"),
    ],
)
def test_a_mistake_is_told_at_its_line(before: str, after: str, code: str, told: str, tmp_path: Path) -> None:
    text = GOOD.replace(before, after, 1)
    assert text != GOOD
    shown = errors(tmp_path, text)
    assert code in shown
    assert told in shown
    if after:
        line = next(number for number, each in enumerate(text.splitlines(), 1) if after in each)
        section = text[: text.index(after)].count("\n", 0, text[: text.index(after)].rfind("["))
        assert any(f"job.toml:{number}:" in shown for number in (line, section + 1))


def test_several_mistakes_are_told_together(tmp_path: Path) -> None:
    shown = errors(tmp_path, GOOD.replace("batch", "bach").replace("time =", "tiem ="))
    assert shown.count("error[unknown-setting]") == 2


def test_settings_come_from_the_command_line_and_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text(GOOD)
    environment = {"CEDR__RUN__BATCH": "5", "CEDR__SOURCES__TICKETS__PATH": "env/"}
    job = read_job(path, ["run.batch=7", "run.every=2 seconds"], environment)
    assert (job.run.batch, job.run.every) == (7, 2.0)
    assert job.sources[0].options["path"] == str(tmp_path / "env") + "/"
    assert "sets nothing" in errors(tmp_path, GOOD, "run.batch")


def test_a_secret_stands_in_the_environment_and_is_never_shown(tmp_path: Path) -> None:
    secret = "s3cr3t-word"
    plain = GOOD.replace('path = "in/"', f'path = "in/"\npassword = "{secret}"')
    shown = errors(tmp_path, plain)
    assert "secret-in-file" in shown
    assert secret not in shown
    address = GOOD.replace('path = "in/"', f'path = "postgresql://me:{secret}@there/db"')
    shown = errors(tmp_path, address)
    assert "secret-in-file" in shown
    assert secret not in shown
    variable = GOOD.replace('kind = "console"', 'kind = "${OUTPUT}"')
    assert "missing-variable" in errors(tmp_path, variable)
    shown = errors(tmp_path, variable, OUTPUT=secret)
    assert "unknown-output" in shown
    assert secret not in shown


def test_queries_come_from_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "a.cedr").write_text("EVENT A WHEN ANY(OPEN AS o)")
    (tmp_path / "queries" / "b.cedr").write_text("EVENT B WHEN ANY(A AS a)")
    path = tmp_path / "job.toml"
    path.write_text('[sources.t]\npath = "in/"\ntype = "kind"\n[queries]\nfiles = ["queries"]\n')
    assert len(read_job(path, environment={}).queries.statements) == 2
    path.write_text('[sources.t]\npath = "in/"\n[queries]\nfiles = ["nowhere/*.cedr"]\n')
    with pytest.raises(cedr.StreamError, match="no-files"):
        read_job(path, environment={})


def test_files_that_a_query_names_are_sources(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    text = "TYPE TX FROM 'tx.csv' WITH (time = ts, id = tx_id); EVENT Q WHEN ANY(TX AS t)"
    path.write_text(f'[queries]\ntext = "{text}"\n')
    (source,) = read_job(path, environment={}).sources
    assert (source.kind, source.options["path"]) == ("files", str(tmp_path / "tx.csv"))
    assert source.words == {"type": "'TX'", "time": "ts", "id": "tx_id"}
