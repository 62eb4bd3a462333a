"""The LALR tables made of grammar.lark.

Making them takes a fifth of a second, so they are kept as plain data beside the compiled modules (``__pycache__``),
or in the user's cache folder where that cannot be written, together with a digest of the grammar.  Where nothing can be
written they are made anew each time.  Lark is needed only for making them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import resources
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple

_FORMAT = 1  # of what is kept; a change makes the old files useless


class Rule(NamedTuple):
    """A rule of the grammar: how many symbols it replaces, by what, and which method of the builder makes its value.

    Without a method the value of its one symbol stays; a rule that only repeats others collects their values.
    """

    size: int
    origin: str
    method: str | None
    repeats: bool


class Tables(NamedTuple):
    """For each state and symbol what to do: a state to go to, or ``-1 - number`` of the rule to reduce by."""

    start: int
    end: int
    terminals: dict[str, str]
    rules: list[Rule]
    states: list[dict[str, int]]


def tables() -> Tables:
    """The tables of the grammar."""
    grammar = resources.files("cedr.language").joinpath("grammar.lark").read_text("utf-8")
    digest = sha256(f"{_FORMAT}\n{grammar}".encode()).hexdigest()
    for folder in _folders():
        with suppress(OSError, ValueError, TypeError, KeyError):
            return _kept(folder / _NAME, digest)
    made = make(grammar)
    _keep(made, digest)
    return made


_NAME = "grammar.tables.json"


def _folders() -> Iterator[Path]:
    """Where tables may be kept, the best place first."""
    yield Path(cache_from_source(__file__)).parent
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if base:
        yield Path(base) / "cedr"
    elif home := os.environ.get("HOME"):
        yield Path(home) / ".cache" / "cedr"


def _kept(path: Path, digest: str) -> Tables:
    """What was kept; raises ``ValueError`` and the like where it does not fit."""
    data = json.loads(path.read_text("utf-8"))
    if data["digest"] != digest:
        message = "made of another grammar"
        raise ValueError(message)
    rules = [Rule(*rule) for rule in data["rules"]]
    return Tables(data["start"], data["end"], data["terminals"], rules, data["states"])


def _keep(made: Tables, digest: str) -> None:
    """Write the tables in the first folder that takes them, whole or not at all."""
    text = json.dumps({"digest": digest, **made._asdict()})
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f"{_NAME}.{os.getpid()}"
            part.write_text(text, "utf-8")
            part.replace(folder / _NAME)
            return


def make(grammar: str) -> Tables:
    """Tables made by Lark."""
    from lark import Lark
    from lark.lexer import Lexer, Token

    class Fed(Lexer):
        """The tokens come from tokens.py; nothing is left to lex."""

        def __init__(self, _: object) -> None: ...

        def lex(self, *_: object) -> Iterator[Token]:
            raise AssertionError

    made = Lark(grammar, parser="lalr", lexer=Fed, start="statement", keep_all_tokens=True, maybe_placeholders=False)
    terminals = {t.pattern.value.upper(): t.name for t in made.terminals if t.pattern.type == "str"}
    found: Any = made.parser.parser.parser.parse_table
    numbers = {rule: number for number, rule in enumerate(made.rules)}
    names = {state: number for number, state in enumerate(found.states)}
    states = [
        {
            symbol: names[argument] if action.name == "Shift" else -1 - numbers[argument]
            for symbol, (action, argument) in actions.items()
        }
        for actions in found.states.values()
    ]
    start, end = names[found.start_states["statement"]], names[found.end_states["statement"]]
    return Tables(start, end, terminals, [_rule(rule) for rule in made.rules], states)


def _rule(rule: Any) -> Rule:
    size, origin = len(rule.expansion), rule.origin.name
    passes = size == 1 and rule.options.expand1 and not rule.alias
    return Rule(size, origin, None if passes else rule.alias or origin, origin.startswith("_"))
