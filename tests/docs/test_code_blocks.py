"""Every block of README.md and docs/ runs.

- ``python``: executed in the order of the page, in one namespace; a block with ``>>>`` is a doctest.
- ``cedr``: compiled together with the page's blocks before it, so that a page may declare its types once;
  with ``error=CODE`` it must be refused with that code, and is not carried on.
- ``console``: its commands run in the page's folder, which has the examples of the project, and print what is shown.
- any of ``text``, ``cedr``, ``json``, ``jsonl``, ``python`` with ``file=NAME`` is saved in that folder, not run.
- ``json`` and ``jsonl`` must parse.
- ``text``, ``mermaid`` are for the eye only.
"""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

import cedr
from cedr.diagnostics.exceptions import CedrError, LanguageError
from tests.docs import console
from tests.docs.pages import ROOT, Block, blocks, pages

INERT = frozenset({"text", "mermaid"})


class Page:
    """What the blocks of one page have in common: a folder, a namespace, the queries so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.queries = ""

    def take(self, block: Block) -> None:
        """Does what the kind of the block asks for."""
        if "notest" in block.options:
            return
        if "file" in block.options:
            self._save(block)
        elif block.language in INERT:
            return
        elif (run := getattr(self, f"run_{block.language}", None)) is not None:
            run(block)
        else:
            pytest.fail(f'{block.place}: no one runs {block.language!r}; give notest="reason" or call it text')

    def _save(self, block: Block) -> None:
        path = (self.folder / block.options["file"]).resolve()
        assert path.is_relative_to(self.folder.resolve()), f"{block.place}: saves outside the page's folder"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")

    def run_python(self, block: Block) -> None:
        if ">>> " in block.text:
            self._run_doctest(block)
            return
        shifted = "\n" * (block.line - 1) + block.text  # so that a traceback shows the page's own lines
        exec(compile(shifted, str(block.page), "exec"), self.namespace)

    def _run_doctest(self, block: Block) -> None:
        parsed = doctest.DocTestParser().get_doctest(
            block.text, self.namespace, block.place, str(block.page), block.line - 1
        )
        printed: list[str] = []
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(parsed, out=printed.append, clear_globs=False)
        self.namespace.update(parsed.globs)
        assert result.failed == 0, "".join(printed)

    def run_cedr(self, block: Block) -> None:
        text = joined(self.queries, block.text)
        if (code := block.options.get("error")) is not None:
            self._refused(text, code, block)
            return
        try:
            cedr.compile(text)
        except LanguageError as error:
            pytest.fail(f"{block.place}\n{error}")
        self.queries = text

    def _refused(self, text: str, code: str, block: Block) -> None:
        with pytest.raises(CedrError) as refused:
            cedr.compile(text)
        found = [diagnostic.code for diagnostic in refused.value.diagnostics]
        assert code in found, f"{block.place}: expected {code}, got {found}\n{refused.value}"

    def run_console(self, block: Block) -> None:
        console.run(block, self.folder)

    def run_json(self, block: Block) -> None:
        json.loads(block.text)

    def run_jsonl(self, block: Block) -> None:
        for line in block.text.splitlines():
            json.loads(line)


def joined(before: str, text: str) -> str:
    """Two pieces of query text as one: statements are separated by a semicolon, which a page may leave out."""
    if not before:
        return text
    bare = re.sub(r"--[^\n]*", "", before).rstrip()
    return before + ("" if bare.endswith(";") or not bare else ";\n") + text


def marked(path: Path) -> Any:
    """A page, marked if its code needs a JVM."""
    needs = (pytest.mark.spark,) if "cedr.spark_session(" in path.read_text("utf-8") else ()
    return pytest.param(path, marks=needs, id=str(path.relative_to(ROOT)))


@pytest.mark.slow
@pytest.mark.usefixtures("declarations_taken_back")
@pytest.mark.parametrize("path", [marked(path) for path in pages()])
def test_every_block_of_the_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = Page(tmp_path)
    for block in blocks(path.relative_to(ROOT), path.read_text("utf-8")):
        page.take(block)
