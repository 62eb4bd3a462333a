"""Words to keywords, and the parser's loop.

A word is a keyword only where the grammar has that keyword; where it has a name, it is a name.  Where both are
possible the keyword wins, except for words that are keywords only in front of something: ``SEQUENCE`` in front of a
parenthesis, ``DATE`` in front of a string, ``LAST`` in front of an event expression.  In front of a dot every word is
a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from cedr.language.tokens import QUOTED, SIGN, WORD, Token

if TYPE_CHECKING:  # the parser is made only when something is parsed
    from cedr.language.build import Builder

_BEFORE_PARENTHESIS = frozenset(
    ["SEQUENCE", "ALL", "ANY", "ATLEAST", "ATMOST", "UNLESS", "CANCEL-WHEN", "CAST", "EXTRACT", "CORRELATIONKEY"]
)
_BEFORE_STRING = frozenset({"TIMESTAMP", "DATE"})
_BEFORE_EVENT = frozenset({"EACH", "FIRST", "LAST"})
_AFTER_EVENT = frozenset({"AS", "REUSE", "CONSUME", "WEIGHT"})
_CLAUSES = frozenset(
    (
        *(
            "WHEN",
            "WHERE",
            "OUTPUT",
            "FROM",
            "WINDOW",
            "GROUP",
            "HAVING",
            "CONSISTENCY",
            "JOIN",
            "UNION",
            "EXCEPT",
            "ON",
        ),
        *("AND", "OR", "IS", "IN", "LIKE", "BETWEEN", "THEN", "ELSE", "END", "AS", "DIV"),
    )
)
_TIME_STARTS = frozenset({"TIMESTAMP", "FOREVER", "-"})
_END = "$END"


class Rejected(Exception):
    """The grammar has no place for the token at a position, or for the end, if that is the position."""

    def __init__(self, position: int, expected: frozenset[str]) -> None:
        super().__init__(position)
        self.position = position
        self.expected = expected


class Reduce(NamedTuple):
    """Replace the last ``size`` symbols by ``origin``, made of their values; without ``build`` the value stays."""

    size: int
    origin: str
    build: Callable[[list[Any]], Any] | None


Tables = Mapping[int, Mapping[str, "int | Reduce"]]
"""For each state what to do with a terminal: go to a state, or reduce; and where to go with what was reduced."""


@dataclass
class Parser:
    """The LALR parser, with the builder that it calls; one for the process, so it is used under a lock."""

    tables: Tables
    start: int
    end: int
    builder: Builder
    terminals: Mapping[str, str]
    lock: Lock = field(default_factory=Lock)
    passed: dict[tuple[int, int, str], int] = field(default_factory=dict)

    def feed(self, tokens: Sequence[Token]) -> Any:
        """Parse one statement; what the builder made of it.  Raises ``Rejected`` at the first token out of place."""
        states = [self.start]
        values: list[Any] = []
        position, count = 0, len(tokens)
        while position < count:
            terminal, used = self._terminal(tokens, position, self.tables[states[-1]])
            token = tokens[position]
            token.type, token.end = terminal, tokens[position + used - 1].end
            self._reduce(states, values, terminal, position)
            states.append(self.tables[states[-1]][terminal])  # type: ignore[arg-type]  # a state, after _reduce
            values.append(token)
            position += used
        self._reduce(states, values, _END, count)
        return values[-1]

    def _reduce(self, states: list[int], values: list[Any], terminal: str, position: int) -> None:
        """Reduce until the terminal can be shifted, or the whole is reduced."""
        tables = self.tables
        while True:
            action = tables[states[-1]].get(terminal)
            if isinstance(action, int):
                return
            if action is None:
                if terminal is _END and states[-1] == self.end:
                    return
                raise Rejected(position, self._expected(states))
            size, origin, build = action
            if build is None:
                states[-1] = self._passed(states[-2], states[-1], terminal)
                continue
            made = build(values[-size:])  # no rule of the grammar is empty
            del states[-size:], values[-size:]
            values.append(made)
            states.append(tables[states[-1]][origin])  # type: ignore[arg-type]  # a state, after a rule

    def _passed(self, below: int, state: int, terminal: str) -> int:
        """The state after all reductions that only pass a value on: from a name up to an expression there are ten."""
        known = self.passed.get((below, state, terminal))
        if known is not None:
            return known
        found: Any = state
        while isinstance(action := self.tables[found].get(terminal), Reduce) and action.build is None:
            found = self.tables[below][action.origin]
        self.passed[below, state, terminal] = found
        return int(found)

    def _terminal(self, tokens: Sequence[Token], position: int, table: Mapping[str, Any]) -> tuple[str, int]:
        """The terminal that the next token is, and how many tokens make it."""
        token = tokens[position]
        kind = token.kind
        if kind == SIGN:
            return self.terminals[token.word], 1
        if kind == QUOTED:
            return "NAME", 1
        if kind != WORD:
            return kind, 1
        word = token.word
        if word == "AS" and "AS_OF" in table and _as_of(tokens, position):
            return "AS_OF", 2
        keyword = self.terminals.get(word)
        if keyword is None:
            return "NAME", 1
        if keyword in table:
            taken = "NAME" not in table or _keyword_here(word, tokens, position)
        else:
            taken = _out_of_place(word, tokens, position, table)
        return (keyword if taken else "NAME"), 1

    def _expected(self, states: list[int]) -> frozenset[str]:
        """The terminals that could have stood here, keywords and signs as they are written."""
        written = {name: text for text, name in self.terminals.items()}
        here = [name for name in self.tables[states[-1]] if name.isupper()]
        return frozenset(written.get(name, name) for name in here if self._shifts(list(states), name))

    def _shifts(self, states: list[int], terminal: str) -> bool:
        """Whether a terminal is shifted after all reductions: a look-ahead may hold some that are not."""
        while True:
            action = self.tables[states[-1]].get(terminal)
            if not isinstance(action, Reduce):
                return action is not None or (terminal == _END and states[-1] == self.end)
            del states[len(states) - action.size :]
            following = self.tables[states[-1]][action.origin]
            assert isinstance(following, int)
            states.append(following)


def _following(tokens: Sequence[Token], position: int) -> Token | None:
    return tokens[position + 1] if position + 1 < len(tokens) else None


def _as_of(tokens: Sequence[Token], position: int) -> bool:
    """Whether AS begins AS OF and a time, and not a name after AS."""
    following, then = _following(tokens, position), _following(tokens, position + 1)
    if following is None or following.word != "OF":
        return False
    return then is not None and (then.kind == "INTEGER" or then.word in _TIME_STARTS)


def _keyword_here(word: str, tokens: Sequence[Token], position: int) -> bool:
    """Whether a word that could be a keyword or a name is the keyword."""
    following = _following(tokens, position)
    if following is not None and following.word == ".":
        return False
    if word in _BEFORE_PARENTHESIS:
        return following is not None and following.word == "("
    if word in _BEFORE_STRING:
        return following is not None and following.kind == "STRING"
    if word in _BEFORE_EVENT:
        return following is not None and following.kind in (WORD, QUOTED) and following.word not in _AFTER_EVENT
    if word == "CASE":
        return following is not None and following.word == "WHEN"
    return True


def _out_of_place(word: str, tokens: Sequence[Token], position: int, table: Mapping[str, Any]) -> bool:
    """Whether a word is a keyword although the grammar has none here: so that the message is about what is missing."""
    if begins(tokens, position):
        return True
    following = _following(tokens, position)
    at_start = "CASE" in table or "SEQUENCE" in table
    return at_start and word in _CLAUSES and not (following is not None and following.word == ".")


def begins(tokens: Sequence[Token], position: int) -> bool:
    """Whether a statement seems to begin here: EVENT name WHEN, EVENT name FROM or TYPE name (."""
    if tokens[position].word not in ("EVENT", "TYPE"):
        return False
    name, then = _following(tokens, position), _following(tokens, position + 1)
    if name is None or then is None or name.kind not in (WORD, QUOTED):
        return False
    return then.word in (("WHEN", "FROM") if tokens[position].word == "EVENT" else ("(",))


@cache
def parser() -> Parser:
    """The parser, made at its first use."""
    from cedr.language.machine import machine

    return machine()


def keywords() -> frozenset[str]:
    """All keywords, in upper case."""
    return frozenset(word for word in parser().terminals if word[0].isalpha())
