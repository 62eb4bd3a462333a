"""The picture of docs/how-to/draw-a-result.md: the query of the page on the messages of the page, drawn."""

from __future__ import annotations

import json
import re

import cedr
from citations import ROOT

_BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def unanswered_picture() -> str:
    """docs/images/unanswered.svg."""
    page = (ROOT / "docs" / "how-to" / "draw-a-result.md").read_text("utf-8")
    files = dict(_BLOCK.findall(page))
    messages = [json.loads(line) for line in files["tickets.jsonl"].splitlines()]
    return cedr.evaluate(files["tickets.cedr"], messages).draw().svg
