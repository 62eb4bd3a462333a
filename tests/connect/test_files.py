"""Files of queries: text, or one clear sentence why not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from cedr.connect.files import LARGEST_TEXT, read_text
from cedr.diagnostics.exceptions import CedrError, LanguageError, StreamError


def refused(path: Path) -> CedrError:
    with pytest.raises(CedrError) as caught:
        read_text(str(path))
    return caught.value


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "q.cedr"
    path.write_bytes(b"\xef\xbb\xbfEVENT \xc3\xa4")
    assert read_text(str(path)) == "EVENT ä"


def test_standard_input_has_the_name_minus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"EVENT")))
    assert read_text("-") == "EVENT"


def test_a_missing_file_and_a_folder_are_said_in_one_line(tmp_path: Path) -> None:
    missing, folder = refused(tmp_path / "q.cedr"), refused(tmp_path)
    assert isinstance(missing, StreamError)
    assert str(missing) == f'error[cannot-read]: cannot read the query "{tmp_path / "q.cedr"}": there is no such file'
    assert str(folder) == f'error[cannot-read]: cannot read the query "{tmp_path}": it is a directory'


def test_a_name_that_no_file_can_have_is_said_too() -> None:
    with pytest.raises(StreamError):
        read_text("a\x00b")


def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "q.cedr"
    path.write_bytes(b" " * (LARGEST_TEXT + 1))
    assert "larger than 16 MB" in str(refused(path))


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"EVENT A\nWHEN \xff", ":2:6", "byte 0xff"),
        (b"EVENT A\nWHEN \x00", ":2:6", "control character U+0000"),
        (b"\x7fELF\x02", ":1:1", "control character U+007F"),
    ],
)
def test_binary_garbage_is_shown_with_its_place(tmp_path: Path, content: bytes, place: str, reason: str) -> None:
    path = tmp_path / "q.cedr"
    path.write_bytes(content)
    error = refused(path)
    assert isinstance(error, LanguageError)
    assert error.diagnostics[0].code == "bad-encoding"
    assert reason in str(error)
    assert f"{path}{place}\n" in str(error)
    assert "\x00" not in str(error)
