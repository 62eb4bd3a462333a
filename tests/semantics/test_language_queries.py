"""Every query of the language's list, evaluated with results checked by hand."""

from __future__ import annotations

from cedr.model.time import DAY, HOUR, MINUTE
from tests.semantics.running import INF, beliefs, bitemporal, lifetimes, matches, result, time, timeline, values


def test_one_machine() -> None:
    """R22: every contributor has the value."""
    query = """EVENT OneMachine WHEN SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours)
               WHERE [Machine_Id EQUAL 'BARGA_XP03']"""
    events = """
        INSTALL  i1 06:00 Machine_Id=BARGA_XP03
        INSTALL  i2 06:00 Machine_Id=BARGA_XP04
        SHUTDOWN s1 07:00 Machine_Id=BARGA_XP03
        SHUTDOWN s2 07:00 Machine_Id=BARGA_XP04
    """
    assert matches(query, events) == {"i1 s1"}


def test_nested() -> None:
    """R12, R13, R17: the paper's ALL(E1, NOT(E2, SEQUENCE(E3, E4, w')), w)."""
    query = "EVENT Nested WHEN ALL(E1, NOT(E2, SEQUENCE(E3, E4, 10 minutes)), 1 hour)"
    events = """
        E3 c1 10:00
        E4 d1 10:08
        E3 c2 10:20
        E2 b  10:21
        E4 d2 10:25
        E1 a  11:08
    """
    assert matches(query, events) == {"c1 d1 a"}
    assert matches(query, events.replace("E1 a  11:08", "E1 a  11:09")) == set()
    assert matches(query, events.replace("E1 a  11:08", "E1 a  10:01")) == {"a c1 d1"}


def test_quorum() -> None:
    """R12, R22, R23: two of three sensors in one room within 30 seconds."""
    query = """TYPE SMOKE (room TEXT, level INT); TYPE HEAT (room TEXT, level INT); TYPE CO (room TEXT, level INT);
               EVENT Quorum WHEN ATLEAST(2, SMOKE AS s, HEAT AS h, CO AS c, 30 seconds)
               WHERE CorrelationKey(room, EQUAL) OUTPUT COUNT(room) AS n, MAX(level) AS level"""
    events = """
        SMOKE s1 10:00:00 room=r1 level=3
        HEAT  h1 10:00:20 room=r1 level=7
        CO    c1 10:00:31 room=r1 level=9
        CO    c2 10:00:10 room=r2 level=9
    """
    rows = result(query, events)
    assert {(r.valid_start, r.payload["n"], r.payload["level"]) for r in rows} == {
        (time("10:00:20"), 2, 7),
        (time("10:00:31"), 2, 9),
    }
    assert matches(query, events) == {"s1 h1", "h1 c1"}


def test_sources() -> None:
    """R12, R22: three alerts of pairwise different sensors; one output per list of contributors."""
    query = """EVENT Sources WHEN ATLEAST(3, ALERT AS a, ALERT AS b, ALERT AS c, 1 minute)
               WHERE CorrelationKey(sensor, UNIQUE)"""
    events = """
        ALERT a1 10:00:00 sensor=1
        ALERT a2 10:00:10 sensor=2
        ALERT a3 10:00:20 sensor=1
        ALERT a4 10:00:30 sensor=3
    """
    assert matches(query, events) == {"a1 a2 a4", "a2 a3 a4"}


def test_calm() -> None:
    """R14: at most five within the hour, a logout counting twice."""
    query = "EVENT Calm WHEN ATMOST(5, LOGIN, LOGOUT WEIGHT 2, 1 hour)"
    events = """
        LOGIN  l1 10:00
        LOGIN  l2 10:10
        LOGOUT o1 10:20
        LOGIN  l3 10:30
        LOGIN  l4 10:40
        LOGIN  l5 11:00
    """
    # 10:40 sees 1+1+2+1+1 = 6; at 11:00 the login of 10:00 is exactly an hour ago and no longer counts: 1+2+1+1+1 = 6
    assert matches(query, events) == {"l1", "l2", "o1", "l3"}
    assert matches(query, events.replace("11:00", "11:11")) == {"l1", "l2", "o1", "l3", "l5"}


def test_abandoned() -> None:
    """R18: a logout of the same user between cart and checkout cancels."""
    query = """EVENT Abandoned WHEN CANCEL-WHEN(SEQUENCE(CART AS c, CHECKOUT AS k, 1 day), LOGOUT AS l)
               WHERE CorrelationKey(user, EQUAL)"""
    events = """
        CART     c1 10:00 user=1
        CART     c2 10:00 user=2
        LOGOUT   l1 10:30 user=1
        CHECKOUT k1 11:00 user=1
        CHECKOUT k2 11:00 user=2
    """
    assert matches(query, events) == {"c2 k2"}


def test_unanswered() -> None:
    """R15, R21, R23: an email without a reply to it within two days."""
    query = """TYPE EMAIL (id INT, customer TEXT); TYPE REPLY (in_reply_to INT);
               EVENT Unanswered WHEN UNLESS(EMAIL AS e, REPLY AS r, 2 days)
               WHERE {e.id = r.in_reply_to} OUTPUT e.customer AS customer, e.Vs AS since"""
    events = """
        EMAIL m1 10:00 id=1 customer=ann
        EMAIL m2 11:00 id=2 customer=bob
        REPLY r1 12:00 in_reply_to=1
    """
    rows = result(query, events)
    assert values(rows) == [{"customer": "bob", "since": time("11:00")}]
    assert lifetimes(rows) == [("m2", time("11:00"), time("11:00") + 2 * DAY)]


def test_late_escalation() -> None:
    """R16: opened and assigned, and not closed within 8 hours of the opening."""
    query = """EVENT LateEscalation WHEN UNLESS(SEQUENCE(OPEN AS o, ASSIGN AS a, 4 hours), CLOSE AS c, 1, 8 hours)
               WHERE CorrelationKey(ticket, EQUAL)"""
    events = """
        OPEN   o1 08:00 ticket=1
        OPEN   o2 08:00 ticket=2
        ASSIGN a1 09:00 ticket=1
        ASSIGN a2 09:00 ticket=2
        CLOSE  c1 15:59 ticket=1
        CLOSE  c2 16:00 ticket=2
    """
    assert lifetimes(result(query, events)) == [("o2 a2", time("16:00"), time("16:00") + 8 * HOUR)]


def test_neighbours() -> None:
    """R25: neighbouring pairs."""
    events = "A a1 10:00\nA a2 10:10\nB b1 10:20\nB b2 10:30\nA a3 10:40\nB b3 11:41"
    assert matches("EVENT Neighbours WHEN SEQUENCE(LAST A AS a, FIRST B AS b, 1 hour)", events) == {"a2 b1"}


def test_chronicle() -> None:
    """R26: each purchase is sold once, oldest first, at a profit of more than a tenth."""
    query = """EVENT Chronicle WHEN SEQUENCE(FIRST BUY AS b CONSUME, SELL AS s CONSUME, 1 day)
               WHERE {b.symbol = s.symbol} AND {s.price > 1.1 * b.price}"""
    events = """
        BUY  b1 10:00 symbol=X price=10
        BUY  b2 10:01 symbol=X price=8
        SELL s1 10:02 symbol=X price=10
        SELL s2 10:03 symbol=X price=12
        SELL s3 10:04 symbol=X price=99
    """
    assert matches(query, events) == {"b2 s1", "b1 s2"}


def test_no_overlap() -> None:
    """R27."""
    events = "A a1 10:00\nA a2 10:01\nB b1 10:02\nC c1 10:03\nC c2 10:04\nA a3 10:05\nB b2 10:06\nC c3 10:07"
    assert matches("EVENT NoOverlap WHEN SEQUENCE(A, B, C, 10 minutes) DISJOINT", events) == {"a1 b1 c1", "a3 b2 c3"}


def test_history() -> None:
    """R24: a coupon whose validity was cut; the bitemporal table in both slices."""
    query = """EVENT History WHEN ANY(COUPON AS c) VALID WITH LAST
               @ [TIMESTAMP '2026-01-01 00:00:00Z', TIMESTAMP '2026-02-01 00:00:00Z']
               # [TIMESTAMP '2026-01-10 00:00:00Z', FOREVER]"""
    noon = time("12:00")
    events = f"COUPON c {noon} @{noon}\nCOUPON c {noon}..{noon + 20 * DAY} @{noon + 5 * DAY}"
    rows = bitemporal(query, events)
    assert beliefs(rows) == [
        ("c", noon, noon + 20 * DAY, noon + 5 * DAY, INF),
        ("c", noon, INF, noon, noon + 5 * DAY),
    ]
    plain = query.replace(" VALID WITH LAST", "")
    assert bitemporal(plain, events) == []  # ANY lives for one tick, long before the slice


def test_dial() -> None:
    """R33, R34: the level is part of the query and does not change its meaning."""
    query = """EVENT Dial WHEN SEQUENCE(NEWS AS n, TICK AS t, 5 minutes) WHERE CorrelationKey(symbol, EQUAL)
               CONSISTENCY BLOCKING 2 seconds MEMORY 10 minutes"""
    events = "NEWS n1 10:00 symbol=X\nTICK t1 10:01 symbol=X\nTICK t2 10:02 symbol=Y\nTICK t3 10:06 symbol=X"
    assert matches(query, events) == {"n1 t1"}


MOVING_AVERAGE = """
TYPE TRADE (symbol TEXT, price FLOAT); TYPE LOGIN (user TEXT); TYPE LOGOUT (user TEXT);
EVENT MovingAverage
FROM  TRADE AS t
WHERE t.price > 0
WINDOW MOVING 10 minutes
GROUP BY t.symbol
OUTPUT t.symbol AS symbol, AVG(t.price) AS price;
"""

TRADES = """
TRADE t1 10:00 symbol=X price=10.0
TRADE t2 10:05 symbol=X price=20.0
TRADE t3 10:06 symbol=X price=-1.0
"""


def test_moving_average() -> None:
    """R30, R31."""
    ten = time("10:00")
    assert timeline(result(MOVING_AVERAGE, TRADES), "symbol", "price") == [
        (ten, ten + 5 * MINUTE, "X", 10.0),
        (ten + 5 * MINUTE, ten + 10 * MINUTE, "X", 15.0),
        (ten + 10 * MINUTE, ten + 15 * MINUTE, "X", 20.0),
    ]


def test_spike_after_calm() -> None:
    """R32: a pattern over a pattern and an aggregate."""
    text = (
        MOVING_AVERAGE
        + "EVENT Calm WHEN ATMOST(5, LOGIN, LOGOUT WEIGHT 2, 1 hour);"
        + "EVENT SpikeAfterCalm WHEN SEQUENCE(Calm AS c, MovingAverage AS m, 1 hour)"
    )
    rows = result(text, TRADES + "LOGIN l1 10:05 user=u")
    assert [(r.valid_start, r.payload["m_price"]) for r in rows] == [(time("10:10"), 20.0)]


def test_busy() -> None:
    """R30, R31: more than 100 logins of a user in a window of an hour, told when the window is over."""
    query = """TYPE LOGIN (user TEXT);
               EVENT Busy FROM LOGIN AS l WINDOW HOPPING 1 hour EVERY 5 minutes GROUP BY l.user
               HAVING COUNT(*) > 100 OUTPUT l.user AS user, COUNT(*) AS n"""
    ten = time("10:00")
    lines = [f"LOGIN a{i} {ten + i} user=ann" for i in range(101)] + [
        f"LOGIN b{i} {ten + i} user=bob" for i in range(100)
    ]
    rows = result(query, "\n".join(lines))
    # the windows that hold 10:00 begin at 09:05, …, 10:00; the first result is valid from 10:05
    assert timeline(rows, "user", "n") == [(ten + 5 * MINUTE, ten + 65 * MINUTE, "ann", 101)]


def test_open_auctions() -> None:
    """Definition 9."""
    query = """TYPE AUCTION (id INT); TYPE BID (auction INT, price INT);
               EVENT OpenAuctions FROM AUCTION AS a JOIN BID AS b ON a.id = b.auction
               OUTPUT a.id AS auction, b.price AS price"""
    events = """
        AUCTION a1 1..10  id=1
        BID     b1 3..20  auction=1 price=5
        BID     b2 10..20 auction=1 price=6
        BID     b3 3      auction=2 price=1
    """
    assert timeline(result(query, events), "auction", "price") == [(3, 10, 1, 5)]


def test_uncovered() -> None:
    """R29: shifts while nobody of that name is absent."""
    query = "TYPE SHIFT (who TEXT); TYPE ABSENCE (who TEXT); EVENT Uncovered FROM SHIFT AS s EXCEPT ABSENCE AS a"
    events = "SHIFT s1 8..16 who=ann\nSHIFT s2 8..16 who=bob\nABSENCE x1 10..12 who=ann"
    assert timeline(result(query, events), "who") == [(8, 10, "ann"), (8, 16, "bob"), (12, 16, "ann")]


def test_closed() -> None:
    """R31: an event of one tick when an auction ends; open ones give none."""
    query = "TYPE AUCTION (id INT); EVENT Closed FROM AUCTION AS a WINDOW LIFETIME a.Ve, 1"
    assert lifetimes(result(query, "AUCTION a1 1..10 id=1\nAUCTION a2 2 id=2")) == [("a1", 10, 11)]
