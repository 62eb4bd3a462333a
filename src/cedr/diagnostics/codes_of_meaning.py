"""The codes of errors and warnings that are seen when a query is checked: names, types, modes, negation, groups."""

from __future__ import annotations

from cedr.diagnostics.code import Code

_AB = "TYPE A (x INTEGER, y INTEGER);\nTYPE B (x INTEGER);\n"
_ABC = _AB + "TYPE C (x INTEGER);\n"
_TRADE = "TYPE TRADE (symbol STRING, price FLOAT);\n"

MEANING: tuple[Code, ...] = (
    Code(
        "unknown-event-type",
        "there is no event type or query of this name",
        "Types are declared with TYPE, or come from a catalog; the output of every query is one too.",
        "TYPE INSTALL (Machine_Id STRING);\nEVENT Q WHEN ANY(INSTAL AS x)\n",
    ),
    Code(
        "unknown-attribute",
        "an event type has no such attribute",
        "Names of attributes are taken exactly; only the header fields ID, Vs, Ve, Os, Oe, Rt go in any case.",
        "TYPE INSTALL (Machine_Id STRING);\nEVENT Q WHEN ANY(INSTALL AS x) WHERE x.MachineId = 'a'\n",
    ),
    Code(
        "unbound-variable",
        "a variable is not bound",
        "Variables are bound by AS in WHEN or FROM; without AS the name of the type is the variable.",
        "TYPE INSTALL (Machine_Id STRING);\nTYPE SHUTDOWN (Machine_Id STRING);\n"
        "EVENT Q\nWHEN SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours)\nWHERE {x.Machine_Id = z.Machine_Id}\n",
    ),
    Code(
        "variable-bound-twice",
        "two things have the same variable",
        "A variable stands for one contributor or one source.",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a, B AS a, 1 hour)\n",
    ),
    Code(
        "ambiguous-name",
        "a name without a variable could mean several things",
        "An attribute may be named without its variable where only one variable has it.",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 1 hour) WHERE x > 5\n",
    ),
    Code(
        "duplicate-name",
        "two statements, attributes or options have the same name",
        "Event types and queries share their names.",
        "TYPE A (x INTEGER);\nTYPE A (y INTEGER)\n",
    ),
    Code(
        "circular-query",
        "a query is defined by itself",
        "Queries may use each other in any order of the text, but not in a circle.",
        "EVENT P WHEN ANY(Q);\nEVENT Q WHEN ANY(P)\n",
    ),
    Code(
        "type-mismatch",
        "values of these types do not go together",
        "Nothing is converted silently; CAST says what is meant.",
        _TRADE + "EVENT Q WHEN ANY(TRADE AS t) WHERE t.price > 'high'\n",
    ),
    Code(
        "unknown-function",
        "there is no such function",
        "The functions are listed in the reference of expressions.",
        _TRADE + "EVENT Q WHEN ANY(TRADE AS t) WHERE FLOR(t.price) = 1\n",
    ),
    Code(
        "bad-pattern",
        "a pattern of LIKE or REGEXP_LIKE cannot be used",
        "A backslash in LIKE must be followed by what it escapes; regular expressions must be well formed.",
        _TRADE + "EVENT Q WHEN ANY(TRADE AS t) WHERE REGEXP_LIKE(t.symbol, '(A|B')\n",
    ),
    Code(
        "nested-aggregate",
        "an aggregate stands inside another",
        "Compute the inner one in a query of its own.",
        _TRADE + "EVENT Q FROM TRADE AS t GROUP BY t.symbol OUTPUT MAX(AVG(t.price)) AS p\n",
    ),
    Code(
        "aggregate-not-allowed",
        "an aggregate stands where there is nothing to aggregate",
        "In a pattern aggregates run over contributors and stand in OUTPUT; in FROM they stand in OUTPUT and HAVING.",
        _TRADE + "EVENT Q FROM TRADE AS t WHERE AVG(t.price) > 10 GROUP BY t.symbol\n",
    ),
    Code(
        "not-grouped",
        "an attribute has many values in a group",
        "With GROUP BY, or with an aggregate, everything outside of aggregates must be a group expression.",
        _TRADE + "EVENT Q FROM TRADE AS t GROUP BY t.symbol OUTPUT t.symbol, t.price\n",
    ),
    Code(
        "top-of-groups",
        "TOP stands beside aggregates or HAVING",
        "TOP takes the first rows, after GROUP BY those of each group; the first groups need a query around them.",
        _TRADE + "EVENT Q FROM TRADE AS t GROUP BY t.symbol TOP 3 BY COUNT(*) OUTPUT t.symbol\n",
    ),
    Code(
        "duplicate-output",
        "two items of an output have the same name",
        "Names come from AS, else from the attribute or function.",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 1 hour) OUTPUT a.x, b.x\n",
    ),
    Code(
        "incompatible-sources",
        "the two sides of UNION or EXCEPT differ",
        "Both must be one stream or subquery, with the same attributes of types that go together.",
        _AB + "EVENT Q FROM A AS a UNION B AS b\n",
    ),
    Code(
        "scope-not-positive",
        "a scope is zero or negative",
        "The shortest scope is one tick.",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 0)\n",
    ),
    Code(
        "window-not-positive",
        "a window has no length",
        "Windows are longer than nothing; only a MOVING window may be FOREVER.",
        _AB + "EVENT Q FROM A AS a WINDOW HOPPING 1 hour EVERY 0\n",
    ),
    Code(
        "count-out-of-range",
        "a count is too small or too large",
        "Counts begin at 1; ATLEAST ends at the number of its parameters, UNLESS at the contributors of its first.",
        _AB + "EVENT Q WHEN ATLEAST(3, A AS a, B AS b, 1 hour)\n",
    ),
    Code(
        "not-over-non-sequence",
        "the second parameter of NOT is no SEQUENCE",
        "NOT forbids events between the first and the last contributor of a sequence (R17).",
        _ABC + "EVENT Q WHEN NOT(A AS a, ALL(B AS b, C AS c, 1 hour))\n",
    ),
    Code(
        "selection-not-allowed",
        "EACH, FIRST, LAST, REUSE or CONSUME means nothing here",
        "They belong to parameters of operators that choose: elsewhere there is nothing to choose from.",
        _AB + "EVENT Q WHEN UNLESS(FIRST A AS a, B AS b, 1 hour)\n",
    ),
    Code(
        "weight-not-allowed",
        "WEIGHT stands outside of ATMOST, or is negative",
        "Only ATMOST counts with weights (R14).",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a WEIGHT 2, B AS b, 1 hour)\n",
    ),
    Code(
        "last-unbounded",
        "nothing bounds what LAST waits for",
        "LAST is decided when the scope is over, and the scope begins at another contributor (R25).",
        _AB + "EVENT Q WHEN ATLEAST(1, LAST A AS a, B AS b, 1 hour)\n",
    ),
    Code(
        "last-consume",
        "LAST would choose by the future what is consumed now",
        "LAST at the end of SEQUENCE, or anywhere in ALL and ATLEAST, cannot go with CONSUME or DISJOINT (R26).",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a CONSUME, LAST B AS b, 1 hour)\n",
    ),
    Code(
        "two-negations",
        "a predicate compares two events that must not exist",
        "A conjunct may name variables of one negated expression, beside those that exist (R21).",
        _ABC + "EVENT Q\nWHEN UNLESS(UNLESS(A AS a, B AS b, 1 hour), C AS c, 1 hour)\nWHERE {b.x = c.x}\n",
    ),
    Code(
        "negated-elsewhere",
        "a negated event is compared with one outside of what negates it",
        "Where the negation is over, there is no such event to compare with (R21).",
        _ABC + "EVENT Q\nWHEN SEQUENCE(UNLESS(A AS a, B AS b, 1 hour), C AS c, 1 day)\nWHERE {b.x = c.x}\n",
    ),
    Code(
        "negated-output",
        "OUTPUT names an event that did not happen",
        "A negated expression binds nothing that could be put out.",
        _AB + "EVENT Q WHEN UNLESS(A AS a, B AS b, 1 hour) OUTPUT a.x, b.x AS other\n",
    ),
    Code(
        "slice-empty",
        "a slice starts after its end",
        "The earlier time comes first, in @ [o1, o2] and in # [v1, v2].",
        _AB + "EVENT Q WHEN ANY(A) @ [10, 5]\n",
    ),
)

WARNINGS: tuple[Code, ...] = (
    Code(
        "unbounded-scope",
        "a scope has no end",
        "With the scope FOREVER the query remembers every event for good.",
        _AB + "EVENT Q WHEN SEQUENCE(A AS a, B AS b, FOREVER)\n",
        warning=True,
    ),
    Code(
        "nested-order",
        "a composite in a SEQUENCE is placed by its last contributor",
        "Its other contributors may come before what precedes it in the text.",
        _ABC + "EVENT Q WHEN SEQUENCE(A AS a, SEQUENCE(B AS b, C AS c, 1 hour), 1 day)\n",
        warning=True,
    ),
    Code(
        "never-applies",
        "a predicate needs more events than are ever bound together",
        "A conjunct constrains only instances in which every variable that it names is bound (R21).",
        _AB + "EVENT Q WHEN ANY(A AS a, B AS b) WHERE {a.x = b.x}\n",
        warning=True,
    ),
    Code(
        "quoted-text",
        "a word in double quotes is read as an attribute, and was probably meant as a text",
        "Texts stand in single quotes, names in double quotes (R20). Where attributes are declared it is an error.",
        "TYPE TX FROM 'tx.csv';\nEVENT Q WHEN ANY(TX AS t) WHERE t.state = \"open\"\n",
        warning=True,
    ),
    Code(
        "like-regular",
        "a pattern of LIKE looks like a regular expression",
        "In LIKE only % and _ stand for other characters; REGEXP_LIKE takes regular expressions.",
        "TYPE TRADE (symbol STRING, price FLOAT);\nEVENT Q WHEN ANY(TRADE AS t) WHERE t.symbol LIKE '^A.*'\n",
        warning=True,
    ),
)
