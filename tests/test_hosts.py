"""``cedr.evaluate``: queries on messages, from texts, files and objects.  Readings: R2, R10, R24, R35, R37."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cedr.connect.messages import take_messages
from cedr.diagnostics.exceptions import HostError, LanguageError, StreamError
from cedr.hosts import HOSTS, Answer, Job, Result, evaluate
from cedr.hosts.event_types import read_types
from cedr.hosts.host import Stream
from cedr.hosts.queries import parse_level, query_file
from cedr.model.event import primitive
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Guarantee, Retract, insert
from cedr.model.time import FOREVER, MINUTE, SECOND
from cedr.plan.compile import compile_text

PAIR = "EVENT Pair WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"


def row(stream: str, id: str, vs: int, **more: Any) -> dict[str, Any]:  # noqa: A002 - the paper's word
    return {"insert": {"type": stream, "id": id, "vs": vs, "payload": {"key": 1}, **more}}


MESSAGES = [row("A", "a1", 1), row("B", "b1", 5), row("B", "b2", 11), row("B", "b3", 12), {"guarantee": 20}]


def made_of(result: Result) -> list[list[str]]:
    return [data["contributors"] for data in result.to_dicts()]  # type: ignore[misc]


def test_rows_are_the_latest_belief_in_order() -> None:
    """R10, R11: the pair at exactly the scope is there, with an empty lifetime; the one after it is not."""
    result = evaluate(PAIR, MESSAGES)
    assert [(e.valid_start, e.valid_end, e.occurrence_end, e.root_time) for e in result.rows] == [
        (5, 11, FOREVER, 1),
        (11, 11, FOREVER, 1),
    ]
    assert made_of(result) == [["a1", "b1"], ["a1", "b2"]]
    assert (result.name, result.bitemporal, result.level) == ("Pair", False, MIDDLE)
    assert result.type.attributes == {"key": DataType.INTEGER}
    assert (result.dead_letters, result.warnings) == ((), ())


def test_a_result_prints_as_a_table() -> None:
    result = evaluate(PAIR, MESSAGES[:2])
    assert str(result) == (
        "Pair: 1 row, latest belief\nVs  Ve  key  contributors\n--  --  ---  ------------\n 5  11    1  a1, b1"
    )
    assert result.as_table(clocks=True)[1].as_text() == (
        "ID        Vs  Ve  Os  Oe  Rt  cbt[]   key\n"
        "--------  --  --  --  --  --  ------  ---\n"
        f"{result.rows[0].id[:8]}   5  11   5   ∞   1  a1, b1    1"
    )
    assert repr(result) == "<Pair: 1 row, latest belief>"


def test_the_change_stream_counts_messages_as_cedr_time() -> None:
    """R40: one message a step; R36: the guarantee comes out."""
    result = evaluate(PAIR, MESSAGES)
    assert [(change.kind, change.cedr_time) for change in result.changes()] == [
        ("insert", 2),
        ("insert", 3),
        ("guarantee", 5),
    ]
    assert result.changes() is result.changes()
    said = result.changes_to_dicts()
    assert [data["change"] for data in said] == ["insert", "insert", "guarantee"]
    assert said[0]["contributors"] == ["a1", "b1"]


def test_the_level_decides_when_something_is_said() -> None:
    """R35: STRONG waits for the guarantee."""
    strong = evaluate(PAIR, MESSAGES, consistency="STRONG")
    assert [change.cedr_time for change in strong.changes()] == [5, 5, 5]
    assert strong.level == STRONG
    assert strong.rows == evaluate(PAIR, MESSAGES, consistency=WEAK).rows


def test_the_clause_of_the_query_is_the_default_level() -> None:
    text = PAIR.replace("OUTPUT a.key AS key", "CONSISTENCY STRONG")
    assert evaluate(text, MESSAGES).level == STRONG
    assert evaluate(text, MESSAGES, consistency=MIDDLE).level == MIDDLE


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("strong", STRONG),
        ("WEAK", WEAK),
        (
            "BLOCKING 2 seconds MEMORY 10 minutes",
            ConsistencyLevel(Bound(2 * SECOND), Bound(10 * MINUTE)),
        ),
        ("BLOCKING 5 OF CEDR TIME MEMORY FOREVER", ConsistencyLevel(Bound(5, cedr_time=True), Bound(FOREVER))),
    ],
)
def test_a_level_is_written_as_in_the_language(text: str, level: ConsistencyLevel) -> None:
    assert parse_level(text) == level


@pytest.mark.parametrize("text", ["", "BEST", "STRONG; EVENT R WHEN ANY(A)", "BLOCKING -1 MEMORY 2"])
def test_what_is_no_level_is_said(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_level(text)
    assert caught.value.diagnostics[0].code == "unknown-level"


def test_messages_are_objects_or_dictionaries_or_a_file(tmp_path: Path) -> None:
    objects = [
        insert(primitive("A", "a1", 1, payload={"key": 1})),
        insert(primitive("B", "b1", 5, payload={"key": 1}), "K"),
        Retract("K", valid_end=7),
        Guarantee(9),
    ]
    path = tmp_path / "m.jsonl"
    path.write_text(
        '{"insert": {"type": "A", "id": "a1", "vs": 1, "payload": {"key": 1}}}\n'
        '{"insert": {"type": "B", "id": "b1", "vs": 5, "k": "K", "payload": {"key": 1}}}\n'
        '{"retract": {"k": "K", "ve": 7}}\n{"guarantee": 9}\n'
    )
    expected = evaluate(PAIR, MESSAGES[:2]).rows
    assert evaluate(PAIR, [*objects]).to_dicts() == evaluate(PAIR, str(path)).to_dicts()
    assert [e.id for e in evaluate(PAIR, path).rows] == [e.id for e in expected]
    assert evaluate(PAIR, take_messages(MESSAGES[:2])).rows == expected


class Built:
    """Stands for a query built in Python."""

    def to_file(self) -> Any:
        return query_file(PAIR)


def test_a_query_is_a_text_or_a_file_or_built_or_compiled(tmp_path: Path) -> None:
    path = tmp_path / "pair.cedr"
    path.write_text(PAIR)
    program = compile_text(PAIR, EventTypes(open=True))
    expected = evaluate(PAIR, MESSAGES).rows
    for query in (path, str(path), Built(), query_file(PAIR), program, program.queries["Pair"]):
        assert evaluate(query, MESSAGES).rows == expected


def test_the_last_query_is_taken_unless_another_is_named() -> None:
    text = f"{PAIR}; EVENT Alone WHEN ANY(A AS a)"
    assert evaluate(text, MESSAGES).name == "Alone"
    assert evaluate(text, MESSAGES, event="Pair").name == "Pair"
    with pytest.raises(LanguageError) as caught:
        evaluate(text, MESSAGES, event="Other")
    assert caught.value.diagnostics[0].detail == "queries: Pair, Alone"


def test_a_text_without_query_is_refused() -> None:
    with pytest.raises(LanguageError) as caught:
        evaluate("TYPE A (key INTEGER)", [])
    assert caught.value.diagnostics[0].code == "no-query"


def test_an_unknown_host_is_refused_with_those_that_exist() -> None:
    with pytest.raises(HostError) as caught:
        evaluate(PAIR, MESSAGES, host="moon")
    assert caught.value.diagnostics[0].primary == 'there is no host "moon"'
    assert caught.value.diagnostics[0].detail == "hosts: oracle, local, spark"


def test_a_host_is_an_entry_in_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Job] = []

    class Mine:
        name = "mine"

        def evaluate(self, job: Job) -> Answer:
            asked.append(job)
            return Answer([primitive("Pair", "x", 3)], [], lambda track: Stream())  # noqa: ARG005

    monkeypatch.setitem(HOSTS, "mine", Mine())
    result = evaluate(PAIR, MESSAGES, host="mine")
    assert [row.id for row in result.rows] == ["x"]
    assert len(asked[0].messages) == len(MESSAGES)
    assert result.changes() == ()


def test_with_an_occurrence_slice_all_beliefs_are_given() -> None:
    """R24 and Figure 1."""
    messages = [row("A", "e0", 1), row("A", "e0", 1, ve=10, os=2), row("A", "e0", 1, ve=5, os=3)]
    result = evaluate("EVENT History FROM A AS a @ [0, FOREVER]", messages)
    assert [(e.valid_end, e.occurrence_start, e.occurrence_end) for e in result.rows] == [
        (FOREVER, 1, 2),
        (10, 2, 3),
        (5, 3, FOREVER),
    ]
    assert result.title == "History: 3 rows, all beliefs"
    assert [e.valid_end for e in evaluate("EVENT Now FROM A AS a", messages).rows] == [5]


def test_as_of_gives_what_had_been_said_by_then() -> None:
    """R24: a third slice, over CEDR time."""
    query = "EVENT Unanswered WHEN UNLESS(A AS a, B AS b, 10)"
    messages = [row("A", "a1", 1), row("A", "a2", 3), row("B", "b1", 2), row("A", "a3", 30)]
    assert [e.id for e in evaluate(f"{query} AS OF 2", messages).rows] == ["a1", "a2"]
    assert [e.id for e in evaluate(f"{query} AS OF 3", messages).rows] == ["a2"]
    assert [e.id for e in evaluate(query, messages).rows] == ["a2", "a3"]


def test_as_of_knows_rows_that_were_shortened_and_removed() -> None:
    counts = "EVENT Count FROM A AS a WINDOW MOVING 10 GROUP BY a.key OUTPUT COUNT(*) AS n"
    messages = [row("A", "a1", 1, k="K"), row("A", "a2", 3), {"retract": {"k": "K"}}]
    said = [evaluate(f"{counts} AS OF {c}", messages) for c in (1, 2, 3)]
    assert [[(e.valid_start, e.valid_end, e.payload["n"]) for e in r.rows] for r in said] == [
        [(1, FOREVER, 1)],
        [(1, 3, 1), (3, FOREVER, 2)],
        [(3, FOREVER, 1)],
    ]


def test_an_aggregate_has_no_contributors_and_a_selection_its_event() -> None:
    aggregate = "EVENT Count FROM A AS a GROUP BY a.key OUTPUT COUNT(*) AS n"
    assert made_of(evaluate(aggregate, MESSAGES)) == [[]]
    assert made_of(evaluate("EVENT Kept FROM A AS a WHERE a.key = 1", MESSAGES)) == [["a1"]]
    assert made_of(evaluate("EVENT Kept FROM A AS a WINDOW MOVING 5 OUTPUT a.key AS k", MESSAGES)) == [["a1"]]
    assert made_of(evaluate(f"{PAIR}; EVENT Over WHEN ANY(Pair AS p)", MESSAGES)) == [["a1", "b1"], ["a1", "b2"]]
    mixed = f"{aggregate}; EVENT Mixed WHEN SEQUENCE(Count AS c, B AS b, 5)"
    assert made_of(evaluate(mixed, MESSAGES)) == [["b1"]]


def test_declared_types_win_over_inference() -> None:
    declared = f"TYPE A (key DECIMAL); TYPE B (key DECIMAL); {PAIR}"
    assert evaluate(declared, MESSAGES).type.attributes == {"key": DataType.DECIMAL}


def test_a_catalog_declares_types_too(tmp_path: Path) -> None:
    path = tmp_path / "types.cedr"
    path.write_text("TYPE A (key FLOAT); TYPE B (key FLOAT) REVISABLE FOR 5")
    catalog = read_types([path])
    assert catalog.types["B"] == EventType("B", {"key": DataType.FLOAT}, 5)
    assert evaluate(PAIR, MESSAGES, catalog=path).type.attributes == {"key": DataType.FLOAT}
    assert evaluate(PAIR, MESSAGES, catalog=catalog).type.attributes == {"key": DataType.FLOAT}


def test_a_type_that_is_nowhere_is_an_error_once_anything_is_declared() -> None:
    with pytest.raises(LanguageError) as caught:
        evaluate(f"TYPE A (key INTEGER); {PAIR}", MESSAGES[:1])
    assert [d.code for d in caught.value.diagnostics] == ["unknown-event-type"]


def test_a_type_that_is_nowhere_is_a_warning_where_nothing_is_declared() -> None:
    result = evaluate("EVENT Q WHEN UNLESS(A AS a, RESTART AS z, 5) WHERE {a.key = z.key}", MESSAGES[:1])
    assert [warning.primary for warning in result.warnings] == ['no messages of type "RESTART"']
    assert made_of(result) == [["a1"]]


def test_an_attribute_that_no_message_has_is_an_error() -> None:
    with pytest.raises(LanguageError) as caught:
        evaluate(PAIR.replace("a.key =", "a.kei ="), MESSAGES)
    assert [d.code for d in caught.value.diagnostics] == ["unknown-attribute"]


def test_types_inferred_from_revisions_are_revisable() -> None:
    """R37: the same file with a declared type makes the revision a dead letter."""
    messages = [row("A", "a1", 1), row("A", "a1", 1, os=7, ve=9), row("B", "b1", 5)]
    assert evaluate(PAIR, messages).dead_letters == ()
    declared = evaluate(f"TYPE A (key INTEGER); TYPE B (key INTEGER); {PAIR}", messages)
    assert [letter.code for letter in declared.dead_letters] == ["revision-too-late"]


def test_dead_letters_change_nothing_and_come_in_the_order_of_messages() -> None:
    """R39, R41."""
    bad = [
        *MESSAGES[:2],
        {"guarantee": 10},
        row("B", "late", 4),
        {"insert": 5},
        {"retract": {"k": "never"}},
        *MESSAGES[2:],
    ]
    result = evaluate(PAIR, bad)
    assert [(letter.code, letter.span and letter.span.line) for letter in result.dead_letters] == [
        ("broken-guarantee", 4),
        ("bad-message", 5),
        ("retraction-without-insert", 6),
    ]
    assert result.rows == evaluate(PAIR, MESSAGES).rows


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StreamError):
        evaluate(PAIR, tmp_path / "none.jsonl")
    with pytest.raises(StreamError):
        evaluate(tmp_path / "none.cedr", MESSAGES)
