"""The LALR parser made of grammar.lark.

Making its tables takes a fifth of a second, so they are kept beside the compiled modules (``__pycache__``), or in the
user's cache folder where that cannot be written; Lark compares a digest of the grammar before it uses them.  Where
nothing can be written they are made anew each time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import lark
from lark.lexer import Lexer, Token

from cedr.language.build import Builder
from cedr.language.lexer import Parser, Reduce


class Fed(Lexer):
    """Tokens are fed one by one (lexer.py); nothing is left to lex."""

    def __init__(self, _: object) -> None: ...

    def lex(self, *_: object) -> Iterator[Token]:
        """Nothing."""
        return iter(())


def machine() -> Parser:
    """The parser with its builder."""
    grammar = resources.files("cedr.language").joinpath("grammar.lark").read_text("utf-8")
    builder = Builder()
    tables = lark.Lark(
        grammar,
        parser="lalr",
        lexer=Fed,
        start="statement",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=builder.callbacks(),
        cache=_cache() or False,
    )
    signs = {terminal.pattern.value.upper(): terminal.name for terminal in tables.terminals if _fixed(terminal)}
    loop = tables.parser.parser.parser
    found, callbacks = loop.parse_table, loop.callbacks
    compact = {
        state: {name: _action(kind.name, argument, callbacks) for name, (kind, argument) in actions.items()}
        for state, actions in found.states.items()
    }
    return Parser(compact, found.start_states["statement"], found.end_states["statement"], builder, signs)


def _action(kind: str, argument: Any, callbacks: Mapping[Any, Any]) -> int | Reduce:
    """One entry of the tables, with the callback at hand; a rule that only passes its one part on needs none."""
    if kind == "Shift":
        return int(argument)
    size = len(argument.expansion)
    passes = size == 1 and argument.options.expand1 and not argument.alias
    return Reduce(size, argument.origin.name, None if passes else callbacks[argument])


def _fixed(terminal: lark.lexer.TerminalDef) -> bool:
    return terminal.pattern.type == "str"


def _cache() -> str | None:
    """The file for the tables, in the first folder that can be written; none where there is none."""
    name = f"grammar-{lark.__version__}-{sys.implementation.cache_tag}.tables"
    for folder in _folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return str(folder / name)
    return None


def _folders() -> Iterator[Path]:
    yield Path(cache_from_source(__file__)).parent
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if base:
        yield Path(base) / "cedr"
    elif home := os.environ.get("HOME"):
        yield Path(home) / ".cache" / "cedr"
