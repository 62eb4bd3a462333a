"""Classes that Java has loaded once: where they are kept, that they are whole, and that the next Spark uses them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cedr.spark.session import class_archive
from cedr.spark.session.class_archive import keep, keeping, kept_classes, loading
from cedr.spark.session.java import find_java

TWICE = """
import sys
from pathlib import Path
from cedr.spark.session import class_archive
from cedr_demo import spark_session as session

folder, log, number = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
class_archive.kept_places = lambda: iter([folder / "kept with a space"])
session._BRIEF += f" -Xlog:class+load:file={log}"
files = folder / number
files.mkdir()
spark = session.Spark(files)
assert spark.session.range(3).count() == 3
print(spark.keeps)
spark.stop()
spark.keep()
"""


def with_classes(home: Path) -> Path:
    """A Java that has classes of its own to add to."""
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "classes.jsa").touch()
    return home


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found = [tmp_path / "first", tmp_path / "second"]
    monkeypatch.setattr(class_archive, "kept_places", lambda: iter(found))
    return found


def test_the_file_is_named_after_this_java_and_this_spark(tmp_path: Path, places: list[Path]) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for home in (one, other):
        with_classes(home)
    (one / "release").write_text('JAVA_VERSION="17.0.1"')
    before = kept_classes(one)
    assert before is not None
    assert before == kept_classes(one)
    assert before.parent == places[0]
    assert before != kept_classes(other)
    (one / "release").write_text('JAVA_VERSION="17.0.2"')
    assert before != kept_classes(one)


def test_a_folder_that_cannot_be_made_is_passed_over(tmp_path: Path, places: list[Path]) -> None:
    home = with_classes(tmp_path / "java")
    places[0].write_text("a file")
    found = kept_classes(home)
    assert found is not None
    assert found.parent == places[1]
    places[1].rmdir()
    places[1].write_text("a file")
    assert kept_classes(home) is None


@pytest.mark.usefixtures("places")
def test_a_java_without_classes_of_its_own_keeps_none(tmp_path: Path) -> None:
    assert kept_classes(tmp_path) is None


def test_classes_are_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    new, kept = tmp_path / "new", tmp_path / "kept" / "classes.jsa"
    kept.parent.mkdir()
    keep(new, kept)
    assert list(kept.parent.iterdir()) == []
    new.write_bytes(b"classes")
    keep(new, kept)
    assert kept.read_bytes() == b"classes"
    assert list(kept.parent.iterdir()) == [kept]
    keep(new, tmp_path / "nowhere" / "classes.jsa")  # not there any more: nothing is kept, and nobody fails


def test_paths_with_spaces_are_one_option() -> None:
    for option in (loading(Path("/a b/c.jsa")), keeping(Path("/a b/c.jsa"))):
        first, _, rest = option[1:].partition('"')
        assert first.endswith("=/a b/c.jsa")
        assert rest == " -Xlog:cds*=off"


@pytest.mark.spark
@pytest.mark.slow
def test_the_second_spark_takes_its_classes_from_what_the_first_has_kept(tmp_path: Path) -> None:
    home = find_java()
    assert home is not None
    can = kept_classes(home) is not None
    shared = []
    for number in (1, 2):
        log = tmp_path / f"{number}.log"
        command = [sys.executable, "-c", TWICE, str(tmp_path), str(log), str(number)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str(can and number == 1)
        shared.append(log.read_text("utf-8").count("shared objects file (top)"))
    assert shared[0] == 0
    assert (shared[1] > 1_000) == can
