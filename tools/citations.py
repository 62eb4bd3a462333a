"""Which definition, figure and reading is cited where: the one parser of citations.

A docstring in ``src`` cites the paper in a line of a fixed form, so that a reader can go from the paper to the code and
back::

    Paper: Definition 9, Section 6.  Readings: R29, R33 to R35.

Ranges and lists count in full ("Definitions 7 to 9", "Figures 3, 4 and 5", "R25 to R28").  A test cites by its
docstring, by a comment, or by its name (``test_definition_09.py``, ``test_r21_injection``).  The tests of the
repository itself name everything and prove nothing: they do not count.

Used by ``tools/generate_docs.py`` (the page docs/paper.md) and by ``tests/repo/test_citations.py``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

DEFINITION, FIGURE, READING = "Definition", "Figure", "Reading"
NUMBERS = {DEFINITION: range(1, 13), FIGURE: range(1, 11), READING: (*range(1, 43), 47, 49, 50)}
"""What there is of each kind; the readings have gaps, because a number never changes."""

# Tests that speak of all numbers at once, and so would cite everything.
NOT_EVIDENCE = ("tests/repo", "tests/docs")

_JOIN = r"\s*(?:,|;|\band\b|\bor\b|\bto\b|\.\.\.?|–|-|…)\s*"
_NOTE = r"(?:\s*\([^()]*\))?"  # "R33 (blocking B), R34": a note may stand behind each number
_NUMBERED = re.compile(rf"\b(Definition|Figure)s?\s+(\d+{_NOTE}(?:{_JOIN}(?:and\s+|or\s+)?\d+{_NOTE})*)")
_READINGS = re.compile(rf"\bR\d+\b{_NOTE}(?:{_JOIN}(?:and\s+|or\s+)?R\d+\b{_NOTE})*")
_RANGE = re.compile(r"R?(\d+)(?:\s*(?:\bto\b|\.\.\.?|–|-|…)\s*R?(\d+))?")
_NAME = re.compile(r"(?:^|_)(definition|figure|r)_?0*(\d+)(?=_|$)", re.IGNORECASE)


class Item(NamedTuple):
    """A numbered thing of the paper or of its readings."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"R{self.number}" if self.kind == READING else f"{self.kind} {self.number}"


def every_item() -> Iterator[Item]:
    """All that must be cited, in the order of the paper."""
    return (Item(kind, number) for kind, numbers in NUMBERS.items() for number in numbers)


def cited_in_text(text: str) -> set[Item]:
    """The items that a piece of prose names."""
    numbered = {(kind, run) for kind, run in _NUMBERED.findall(text)}
    readings = {(READING, match.group()) for match in _READINGS.finditer(text)}
    return {item for kind, run in numbered | readings for item in _expand(kind, run)}


def cited_in_name(name: str) -> set[Item]:
    """The items that an identifier or a file's stem names."""
    kinds = {"definition": DEFINITION, "figure": FIGURE, "r": READING}
    found = (Item(kinds[word.lower()], int(number)) for word, number in _NAME.findall(name))
    return {item for item in found if _exists(item)}


def _expand(kind: str, run: str) -> Iterator[Item]:
    without_notes = re.sub(r"\([^()]*\)", "", run)
    for first, last in _RANGE.findall(without_notes):
        numbers = range(int(first), int(last or first) + 1)
        yield from (item for item in (Item(kind, n) for n in numbers) if _exists(item))


def _exists(item: Item) -> bool:
    return item.number in NUMBERS[item.kind]


def docstrings(tree: ast.Module) -> Iterator[str]:
    """The docstrings of a module, its classes and its functions."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield text


def _comments(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def cited_by_source(path: Path) -> set[Item]:
    """A module cites by its docstrings only: that is where a reader looks."""
    texts = docstrings(ast.parse(path.read_text("utf-8")))
    return set().union(*(cited_in_text(text) for text in texts))


def cited_by_test(path: Path) -> set[Item]:
    """A test cites by docstring, comment or name."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    prose = (cited_in_text(piece) for piece in (*docstrings(tree), *_comments(text)))
    names = (cited_in_name(name) for name in (path.stem, *_names(tree)))
    return set().union(*prose, *names)


def sources(root: Path = ROOT) -> list[Path]:
    """The modules of the package and of the demo."""
    return [*sorted((root / "src").rglob("*.py")), *sorted((root / "examples" / "cedr_demo").rglob("*.py"))]


def evidence(root: Path = ROOT) -> list[Path]:
    """The test modules whose citations are evidence."""
    skipped = tuple(root / folder for folder in NOT_EVIDENCE)
    found = sorted((root / "tests").rglob("test_*.py"))
    return [path for path in found if not any(path.is_relative_to(folder) for folder in skipped)]


Index = dict[Item, list[Path]]


def _index(cited: Iterable[tuple[Path, set[Item]]]) -> Index:
    index: Index = defaultdict(list)
    for path, items in cited:
        for item in items:
            index[item].append(path)
    return index


@cache
def by_source(root: Path = ROOT) -> Index:
    """For each item the modules that cite it."""
    return _index((path, cited_by_source(path)) for path in sources(root))


@cache
def by_test(root: Path = ROOT) -> Index:
    """For each item the tests that cite it."""
    return _index((path, cited_by_test(path)) for path in evidence(root))
