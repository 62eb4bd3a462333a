"""Traits: every class of nodes has a whole record, and what it says (R11 to R31, R34, R36, R37)."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from cedr.expression.tree import Aggregate, Expression, IsNull
from cedr.model.modes import JoinKind, Selection, Valid
from cedr.model.schema import DataType, EventType
from cedr.model.time import FOREVER
from cedr.plan import logical
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import Node, Parameter
from cedr.plan.traits.record import Composition, End, Keys, Shape, Text, Times, Traits
from cedr.plan.traits.registry import TRAITS, check, operators, traits_of
from tests.plan.templates import VS, A, B, C, parameter, ticks
from tests.repo.files import SOURCE

PARTS = (Text, Shape, Keys, Times, Composition)
CONDITION: Expression = IsNull(VS)
PAIR = (parameter(A), parameter(B))


# -- every class, every field -----------------------------------------------------------------------------------------


def defined() -> set[type[Node]]:
    """The classes of nodes as the module shows them, bases left out."""
    classes = (each for each in vars(logical).values() if isinstance(each, type))
    return {each for each in classes if issubclass(each, Node)} - {Node, logical.Pattern}


def test_every_class_of_nodes_has_a_record() -> None:
    assert set(TRAITS) == defined()
    assert defined() <= set(operators())


def test_a_class_without_a_record_fails_at_import() -> None:
    program = (
        "from dataclasses import dataclass\n"
        "from cedr.plan import logical\n"
        "@dataclass(frozen=True, slots=True)\n"
        "class Exactly(logical.Pattern):\n"
        "    count: int\n"
        "import cedr.plan.traits.registry\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith("TypeError: no traits for Exactly: ")


@pytest.mark.parametrize("left_out", TRAITS, ids=lambda each: each.__name__)
def test_a_record_that_is_left_out_is_named(left_out: type[Node]) -> None:
    with pytest.raises(TypeError, match=f"no traits for {left_out.__name__}:"):
        check({each: of for each, of in TRAITS.items() if each is not left_out})


def test_a_node_of_an_unknown_class_has_no_traits() -> None:
    with pytest.raises(TypeError, match="no traits for Node:"):
        traits_of(Node())


@pytest.mark.parametrize(
    ("part", "field"),
    [(part, item.name) for part in (*PARTS, Traits) for item in fields(part)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_record_without_a_field_cannot_be_made(part: type[Any], field: str) -> None:
    whole = TRAITS[logical.Source]
    given = whole if part is Traits else next(getattr(whole, i.name) for i in fields(whole) if _is(whole, i.name, part))
    values = {item.name: getattr(given, item.name) for item in fields(part)}
    assert part(**values) == given
    del values[field]
    with pytest.raises(TypeError, match=f"missing 1 required keyword-only argument: '{field}'"):
        part(**values)


def _is(whole: Traits[Any], name: str, part: type[Any]) -> bool:
    return isinstance(getattr(whole, name), part)


@pytest.mark.parametrize("part", [*PARTS, Traits], ids=lambda part: part.__name__)
def test_no_field_has_a_default(part: type[Any]) -> None:
    assert all(item.default is MISSING and item.default_factory is MISSING for item in fields(part))


# -- what the classes say ---------------------------------------------------------------------------------------------


def column(name: str = "k") -> logical.Column:
    return logical.Column(name, VS, DataType.INTEGER)


MADE = logical.Made(EventType("M"), scope=4, lifetime=7, ordered=False)
GROUPED = logical.GroupBy(
    A, (column(),), (logical.AggregateColumn("n", Aggregate("COUNT", (), star=True), DataType.INTEGER),)
)
NODES: dict[str, Node] = {
    "Source": logical.Source(EventType("A")),
    "Made": MADE,
    "Query": logical.Query("Q", A, EventType("Q")),
    "Rename": A,
    "Sequence": logical.Sequence(PAIR, 5),
    "Sequence LAST": logical.Sequence((parameter(A), Parameter(B, Selection.LAST)), 5),
    "AtLeast 1": logical.AtLeast(1, PAIR, 5),
    "AtLeast 2": logical.AtLeast(2, PAIR, 5),
    "Exactly 1": logical.Exactly(1, PAIR, 5),
    "Exactly 2": logical.Exactly(2, PAIR, 5),
    "All": logical.All(PAIR, 5),
    "Any": logical.Any(PAIR),
    "AtMost": logical.AtMost(1, PAIR, 5),
    "SlidingCount": logical.SlidingCount(PAIR, 5),
    "Unless": logical.Unless(A, B, 5),
    "UnlessNth": logical.UnlessNth(A, B, 1, 5),
    "Not": logical.Not(C, logical.Sequence(PAIR, 5)),
    "CancelWhen": logical.CancelWhen(logical.Sequence(PAIR, 5), C),
    "SetValid FOREVER": logical.SetValid(A, Valid.FOREVER),
    "SetValid WITH_LAST": logical.SetValid(A, Valid.WITH_LAST),
    "Project": logical.Project(A, (column(),)),
    "Select": logical.Select(A, CONDITION),
    "Join INNER": logical.Join(A, B, CONDITION, JoinKind.INNER),
    "Join LEFT": logical.Join(A, B, CONDITION, JoinKind.LEFT),
    "Join ANTI": logical.Join(A, B, CONDITION, JoinKind.ANTI),
    "Union": logical.Union(A, B),
    "Difference": logical.Difference(A, B),
    "Distinct": logical.Distinct(A),
    "GroupBy": GROUPED,
    "Top": logical.Top(A, (), 2, VS),
    "AlterLifetime": logical.AlterLifetime(A, VS, ticks(3)),
    "Session": logical.Session(A, 5),
    "Coalesce": logical.Coalesce(A),
    "Slice": logical.Slice(A, (1, 5)),
}


def test_every_class_is_pinned() -> None:
    assert {type(node) for node in NODES.values()} == set(TRAITS)


def pinned(answers: dict[str, object]) -> list[Any]:
    """One case for each node; ``_`` is what the others answer."""
    return [pytest.param(name, answers.get(name, answers["_"]), id=name) for name in NODES]


@pytest.mark.parametrize(
    ("name", "negated"),
    pinned({"Unless": 1, "UnlessNth": 1, "CancelWhen": 1, "Not": 0, "Difference": 1, "Join ANTI": 1, "_": None}),
)
def test_which_input_is_negated(name: str, negated: int | None) -> None:
    assert traits_of(NODES[name]).shape.negated(NODES[name]) == negated


@pytest.mark.parametrize(
    ("name", "against"),
    pinned(
        {
            "Unless": (1,),
            "UnlessNth": (1,),
            "CancelWhen": (1,),
            "Not": (0,),
            "Difference": (1,),
            "Join ANTI": (1,),
            "AtMost": (0, 1),
            "Exactly 1": (0, 1),
            "SlidingCount": (0, 1),
            "Top": (0,),
            "_": (),
        }
    ),
)
def test_of_which_inputs_a_further_event_takes_rows_away(name: str, against: tuple[int, ...]) -> None:
    assert traits_of(NODES[name]).shape.against(NODES[name]) == against


@pytest.mark.parametrize(
    ("name", "certain"),
    pinned(
        {
            **dict.fromkeys(("Source", "Made", "Query", "Project", "GroupBy", "AtLeast 1", "Any", "Union"), ""),
            **dict.fromkeys(("AtMost", "SlidingCount", "Exactly 1"), ""),
            "Exactly 2": "xy",
            **dict.fromkeys(("Sequence", "Sequence LAST", "AtLeast 2", "All", "Not", "CancelWhen", "Join INNER"), "xy"),
            "_": "x",
        }
    ),
)
def test_which_variables_are_bound_for_certain(name: str, certain: str) -> None:
    assert Facts(NODES[name]).certain == set(certain)


@pytest.mark.parametrize(
    ("name", "meeting"),
    pinned(
        {
            **dict.fromkeys(("Sequence", "Sequence LAST", "AtLeast 2", "All", "Unless", "UnlessNth"), 2),
            **dict.fromkeys(("Not", "CancelWhen", "Join INNER", "Join LEFT", "Join ANTI"), 2),
            **dict.fromkeys(("Exactly 1", "Exactly 2"), 2),
            "_": 1,
        }
    ),
)
def test_how_many_operands_meet(name: str, meeting: int) -> None:
    assert traits_of(NODES[name]).keys.meeting(NODES[name]) == meeting


@pytest.mark.parametrize(
    ("name", "nulls"),
    pinned(
        {
            **dict.fromkeys(("Unless", "UnlessNth", "CancelWhen", "Join LEFT", "Join ANTI"), (True, False)),
            "Not": (False, True),
            **dict.fromkeys(("AtLeast 1", "Exactly 1", "Any", "Union", "Difference"), (True, True)),
            **dict.fromkeys(("Sequence", "Sequence LAST", "AtLeast 2", "All", "Join INNER"), (False, False)),
            **dict.fromkeys(("AtMost", "SlidingCount", "Exactly 2"), (False, False)),
            **dict.fromkeys(("Source", "Made"), ()),
            "_": (True,),
        }
    ),
)
def test_r22_where_rows_with_a_null_key_matter(name: str, nulls: tuple[bool, ...]) -> None:
    assert traits_of(NODES[name]).keys.nulls_matter(NODES[name]) == nulls


ALIVE = ("Join INNER", "Join LEFT", "Join ANTI", "Difference", "Distinct", "GroupBy", "Coalesce", "Top")


@pytest.mark.parametrize(
    ("name", "scopes"),
    pinned(
        {
            **dict.fromkeys(("Sequence", "Sequence LAST", "AtLeast 2", "All", "AtMost", "SlidingCount"), (5, 5)),
            **dict.fromkeys(("Unless", "UnlessNth", "Not", "CancelWhen", "Exactly 1", "Exactly 2"), (5, 5)),
            **dict.fromkeys((*ALIVE, "Session"), (FOREVER, FOREVER)),
            "Made": (None, 4),
            "_": (None, None),
        }
    ),
)
def test_own_scopes_and_whole_ones(name: str, scopes: tuple[int | None, int | None]) -> None:
    facts = Facts(NODES[name])
    assert (facts.own_scope, facts.scope) == scopes
    assert facts.traits.times.while_alive == (name in ALIVE)
    assert facts.traits.times.tells_need == (name in ("AlterLifetime", "Session"))


@pytest.mark.parametrize(
    ("name", "lifetime"),
    pinned(
        {
            **dict.fromkeys(("Sequence", "Sequence LAST", "AtLeast 1", "AtLeast 2", "All"), (5, False)),
            **dict.fromkeys(("AtMost", "SlidingCount", "Unless", "UnlessNth", "Not", "CancelWhen"), (5, False)),
            **dict.fromkeys(("Exactly 1", "Exactly 2"), (5, False)),
            "Any": (1, False),
            "Made": (7, False),
            "AlterLifetime": (3, False),
            "SetValid FOREVER": (FOREVER, False),
            "_": (FOREVER, True),
        }
    ),
)
def test_how_long_rows_live_and_whether_they_may_be_shortened(name: str, lifetime: tuple[int, bool]) -> None:
    facts = Facts(NODES[name])
    assert (facts.lifetime, facts.open_end) == lifetime


@pytest.mark.parametrize(
    ("name", "undecided"), pinned({"Unless": 5, "Exactly 1": 5, "Sequence LAST": 5, "Session": FOREVER, "_": 0})
)
def test_r36_how_long_rows_are_undecided(name: str, undecided: int) -> None:
    assert Facts(NODES[name]).undecided == undecided


@pytest.mark.parametrize(
    ("name", "end"),
    pinned(
        {
            **dict.fromkeys(
                ("Query", "Rename", "Project", "Select", "Slice", "Not", "CancelWhen", "Union"), End.INPUTS
            ),
            **dict.fromkeys(("Source", "Made", "SetValid WITH_LAST", "Session", *ALIVE), End.EVENTS),
            "_": End.OWN,
        }
    ),
)
def test_r37_where_rows_have_their_end_from(name: str, end: End) -> None:
    assert traits_of(NODES[name]).times.end(NODES[name]) is end


@pytest.mark.parametrize(
    ("name", "reaches"),
    pinned(
        {
            **dict.fromkeys(("Source", "Made"), ()),
            **dict.fromkeys(("Query", "Rename", "Select", "Project", "Slice"), (9,)),
            **dict.fromkeys(("SetValid FOREVER", "SetValid WITH_LAST"), (9,)),
            **dict.fromkeys(("Sequence", "AtLeast 2", "Exactly 2", "All"), (14, 14)),
            "Sequence LAST": (14, 14),
            **dict.fromkeys(("AtLeast 1", "Exactly 1", "Any"), (9, 9)),
            "AtMost": (13, 13),
            "Unless": (9, 8),
            "UnlessNth": (14, 13),
            "Not": (13, 9),
            "CancelWhen": (9, 13),
            **dict.fromkeys(("Union", "Difference", "Join INNER", "Join LEFT", "Join ANTI"), (FOREVER,) * 2),
            "SlidingCount": (FOREVER,) * 2,
            "_": (FOREVER,),
        }
    ),
)
def test_r34_how_far_behind_m_inputs_matter(name: str, reaches: tuple[int, ...]) -> None:
    facts = Facts(NODES[name])
    assert tuple(facts.traits.times.reach_below(facts.node, facts.inputs, 9, False)) == reaches


ROW_BY_ROW = ("Query", "Rename", "Project", "Select", "Slice")
BY_ITSELF = ("Source", "Made", *ROW_BY_ROW, "SetValid FOREVER", "SetValid WITH_LAST", "AlterLifetime", "Union")


@pytest.mark.parametrize("name", NODES)
def test_what_is_yes_or_no(name: str) -> None:
    of = traits_of(NODES[name])
    assert of.shape.row_by_row == (name in ROW_BY_ROW)
    assert of.shape.same_row == (name in ("Rename", "Select"))
    assert of.shape.hides_variables == (name in ("Source", "Made", "Query", "Project", "GroupBy"))
    assert of.shape.merges_versions == (name in ("Query", "SetValid FOREVER", "SetValid WITH_LAST"))
    assert of.keys.by_itself(NODES[name]) == (name in (*BY_ITSELF, "Any", "AtLeast 1"))
    assert of.keys.compares_rows == (name in ("Distinct", "Coalesce", "Difference"))
    assert of.keys.ordered(NODES[name]) == (
        name not in ("All", "AtLeast 1", "AtLeast 2", "Exactly 1", "Exactly 2", "Made")
    )
    composites = ("Sequence", "Sequence LAST", "All", "AtLeast 1", "AtLeast 2", "Unless", "Not", "CancelWhen")
    composites = (*composites, "Exactly 1", "Exactly 2")
    assert of.composition.composite == (name in composites)


# -- who reads them ---------------------------------------------------------------------------------------------------

READERS = [
    *sorted((SOURCE / "plan" / "analyses").glob("*.py")),
    *(SOURCE / "plan" / f"{name}.py" for name in ("describe", "explain", "notes", "splitting", "warnings")),
]
CLASSES = frozenset(each.__name__ for each in TRAITS)


@pytest.mark.parametrize("path", READERS, ids=lambda path: path.stem)
def test_no_analysis_lists_classes(path: Path) -> None:
    """An analysis may mean one class; a list of them would be a trait that new classes lack."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.MatchClass):
            assert _name(node.cls) not in CLASSES, f"line {node.lineno}: a match on classes"
        if isinstance(node, ast.Call) and _name(node.func) == "isinstance":
            named = [_name(part) for part in ast.walk(node.args[1])]
            assert len(CLASSES.intersection(named)) <= 1, f"line {node.lineno}: a list of classes"


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


FIELDS = [(part.__name__, item.name) for part in PARTS for item in fields(part)]


@pytest.mark.parametrize(("part", "field"), FIELDS, ids=[f"{part}.{field}" for part, field in FIELDS])
def test_every_field_is_read(part: str, field: str) -> None:
    """A field that nobody reads would be filled in for nothing."""
    own = SOURCE / "plan" / "traits"
    texts = [path.read_text("utf-8") for path in SOURCE.rglob("*.py") if own not in path.parents]
    assert any(f"{part.lower()}.{field}" in text for text in texts)
