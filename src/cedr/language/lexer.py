"""Words to keywords, and the parser's loop.

A word is a keyword only where the grammar has that keyword; where it has a name, it is a name.  Where both are
possible the keyword wins, except for words that are keywords only in front of something: ``SEQUENCE`` in front of a
parenthesis, ``DATE`` in front of a string, ``LAST`` in front of an event expression.  In front of a dot every word is
a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock
from typing import Any

from cedr.language.build import Builder
from cedr.language.tables import Tables, tables
from cedr.language.tokens import QUOTED, SIGN, WORD, Token
from cedr.model.schema import TYPE_NAMES

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


class Many(list[Any]):
    """The values of a repetition, on their way into the rule that repeats."""


class Parser:
    """The LALR parser, with the builder that it calls; one for the process, so it is used under a lock."""

    def __init__(self, tables: Tables, builder: Builder) -> None:
        self.states = tables.states
        self.rules = tables.rules
        self.start = tables.start
        self.end = tables.end
        self.terminals = tables.terminals
        self.builder = builder
        self.callbacks = [_collect if rule.repeats else builder.callback(rule.method) for rule in tables.rules]
        self.passed: dict[tuple[int, int, str], int] = {}
        self.lock = Lock()

    def feed(self, tokens: Sequence[Token]) -> Any:
        """Parse one statement; what the builder made of it.  Raises ``Rejected`` at the first token out of place."""
        stack = [self.start]
        values: list[Any] = []
        position, count = 0, len(tokens)
        while position < count:
            terminal, used = self._terminal(tokens, position, self.states[stack[-1]])
            token = tokens[position]
            token.type, token.end = terminal, tokens[position + used - 1].end
            stack.append(self._reduce(stack, values, terminal, position))
            values.append(token)
            position += used
        self._reduce(stack, values, _END, count)
        return values[-1]

    def _reduce(self, stack: list[int], values: list[Any], terminal: str, position: int) -> int:
        """Reduce until the terminal can be shifted, or the whole is reduced; gives the state to go to."""
        states, rules, callbacks = self.states, self.rules, self.callbacks
        while True:
            action = states[stack[-1]].get(terminal)
            if action is None:
                if terminal is _END and stack[-1] == self.end:
                    return self.end
                raise Rejected(position, self._expected(stack))
            if action >= 0:
                return action
            size, origin, _, _ = rules[-1 - action]
            callback = callbacks[-1 - action]
            if callback is None:
                stack[-1] = self._passed(stack[-2], stack[-1], terminal)
                continue
            made = callback(_flat(values[-size:]))  # no rule of the grammar is empty
            del stack[-size:], values[-size:]
            values.append(made)
            stack.append(states[stack[-1]][origin])

    def _passed(self, below: int, state: int, terminal: str) -> int:
        """The state after all reductions that only pass a value on: from a name up to an expression there are ten."""
        known = self.passed.get((below, state, terminal))
        if known is not None:
            return known
        found = state
        while (action := self.states[found].get(terminal, 0)) < 0 and self.callbacks[-1 - action] is None:
            found = self.states[below][self.rules[-1 - action].origin]
        self.passed[below, state, terminal] = found
        return found

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

    def _expected(self, stack: list[int]) -> frozenset[str]:
        """The terminals that could have stood here, keywords and signs as they are written."""
        written = {name: text for text, name in self.terminals.items()}
        here = [name for name in self.states[stack[-1]] if name.isupper()]
        return frozenset(written.get(name, name) for name in here if self._shifts(list(stack), name))

    def _shifts(self, stack: list[int], terminal: str) -> bool:
        """Whether a terminal is shifted after all reductions: a look-ahead may hold some that are not."""
        while True:
            action = self.states[stack[-1]].get(terminal)
            if action is None or action >= 0:
                return action is not None or (terminal == _END and stack[-1] == self.end)
            rule = self.rules[-1 - action]
            del stack[-rule.size :]
            stack.append(self.states[stack[-1]][rule.origin])


def _flat(values: list[Any]) -> list[Any]:
    """The values with those of repetitions in their place."""
    if not any(type(value) is Many for value in values):
        return values
    first, *rest = values
    flat = first if type(first) is Many else Many([first])  # a long repetition grows in place
    for value in rest:
        if type(value) is Many:
            flat.extend(value)
        else:
            flat.append(value)
    return flat


def _collect(values: list[Any]) -> Many:
    return values if isinstance(values, Many) else Many(values)


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
    if name.kind == WORD and name.word in _CLAUSES:
        return False  # a variable called type: FROM A AS type WHERE (…)
    if position and tokens[position - 1].word in ("(", ",") and name.word in TYPE_NAMES:
        return False  # an attribute called type: TYPE A (type STRUCT(x INTEGER))
    return then.word in (("WHEN", "FROM") if tokens[position].word == "EVENT" else ("(",))


@cache
def parser() -> Parser:
    """The parser, made at its first use."""
    return Parser(tables(), Builder())


def keywords() -> frozenset[str]:
    """All keywords, in upper case."""
    return frozenset(word for word in parser().terminals if word[0].isalpha())
