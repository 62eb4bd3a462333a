"""No page points to a page, a file or a heading that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.files import ROOT, markdown_pages

_FENCED = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")


def links(text: str) -> Iterator[str]:
    prose = _CODE.sub("", _FENCED.sub("", text))
    return (target for target in _LINK.findall(prose) if not _ELSEWHERE.match(target))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, made as the usual renderers do."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-")
        count = sum(1 for anchor in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", anchor))
        found.add(f"{slug}-{count}" if count else slug)
    return found


@pytest.mark.parametrize("page", markdown_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    dead = []
    for target in links(text):
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        known = path.exists() and (path.suffix != ".md" or not anchor or anchor in anchors(path.read_text("utf-8")))
        if not known:
            dead.append(target)
    assert dead == []
