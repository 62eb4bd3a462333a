"""The queries that the language must be able to say, and event types for them."""

from __future__ import annotations

TYPES = """
TYPE INSTALL (Machine_Id STRING);
TYPE SHUTDOWN (Machine_Id STRING);
TYPE RESTART (Machine_Id STRING);
TYPE E1 (a INTEGER);
TYPE E2 (a INTEGER);
TYPE E3 (a INTEGER);
TYPE E4(a INTEGER);
TYPE SMOKE (room STRING, level FLOAT);
TYPE HEAT (room STRING, level FLOAT);
TYPE CO (room STRING, level INTEGER);
TYPE ALERT (sensor STRING);
TYPE LOGIN (user STRING);
TYPE LOGOUT (user STRING);
TYPE CART (user STRING);
TYPE CHECKOUT (user STRING);
TYPE EMAIL (id STRING, customer STRING);
TYPE REPLY (in_reply_to STRING);
TYPE OPEN (ticket INTEGER);
TYPE ASSIGN (ticket INTEGER);
TYPE CLOSE (ticket INTEGER);
TYPE A (x INTEGER);
TYPE B (x INTEGER);
TYPE C (x INTEGER);
TYPE BUY (symbol STRING, price DECIMAL(10,2));
TYPE SELL (symbol STRING, price DECIMAL);
TYPE COUPON (v VARCHAR(20));
TYPE NEWS (symbol STRING);
TYPE TICK (symbol STRING, price FLOAT);
TYPE TRADE (symbol STRING, price FLOAT);
TYPE AUCTION (id INTEGER);
TYPE BID (auction INTEGER, price FLOAT);
TYPE SHIFT (who STRING);
TYPE ABSENCE (who STRING) REVISABLE FOR 3 days;
"""

QUERIES = {
    "CIDR07_Example": """
        EVENT CIDR07_Example
        WHEN UNLESS(SEQUENCE(INSTALL x,
                    SHUTDOWN AS y, 12 hours),
                RESTART AS z, 5 minutes)
        WHERE {x.Machine_Id = y.Machine_Id} AND
                {x.Machine_Id = z.Machine_Id}
    """,
    "MovingAverage": """
        EVENT MovingAverage
        FROM  TRADE AS t
        WHERE t.price > 0
        WINDOW MOVING 10 minutes
        GROUP BY t.symbol
        OUTPUT t.symbol AS symbol, AVG(t.price) AS price
    """,
    "SameByKey": """
        EVENT SameByKey
        WHEN UNLESS(SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
        WHERE CorrelationKey(Machine_Id, EQUAL)
    """,
    "OneMachine": """
        EVENT OneMachine
        WHEN SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours)
        WHERE [Machine_Id EQUAL 'BARGA_XP03']
    """,
    "Nested": """
        EVENT Nested
        WHEN ALL(E1, NOT(E2, SEQUENCE(E3, E4, 10 minutes)), 1 hour)
    """,
    "Quorum": """
        EVENT Quorum
        WHEN ATLEAST(2, SMOKE AS s, HEAT AS h, CO AS c, 30 seconds)
        WHERE CorrelationKey(room, EQUAL)
        OUTPUT COUNT(room) AS n, MAX(level) AS level
    """,
    "Sources": """
        EVENT Sources
        WHEN ATLEAST(3, ALERT AS a, ALERT AS b, ALERT AS c, 1 minute)
        WHERE CorrelationKey(sensor, UNIQUE)
    """,
    "Calm": """
        EVENT Calm
        WHEN ATMOST(5, LOGIN, LOGOUT WEIGHT 2, 1 hour)
    """,
    "Abandoned": """
        EVENT Abandoned
        WHEN CANCEL-WHEN(SEQUENCE(CART AS c, CHECKOUT AS k, 1 day), LOGOUT AS l)
        WHERE CorrelationKey(user, EQUAL)
    """,
    "Unanswered": """
        EVENT Unanswered
        WHEN UNLESS(EMAIL AS e, REPLY AS r, 2 days)
        WHERE {e.id = r.in_reply_to}
        OUTPUT e.customer AS customer, e.Vs AS since
    """,
    "LateEscalation": """
        EVENT LateEscalation
        WHEN UNLESS(SEQUENCE(OPEN AS o, ASSIGN AS a, 4 hours), CLOSE AS c, 1, 8 hours)
        WHERE CorrelationKey(ticket, EQUAL)
    """,
    "Neighbours": """
        EVENT Neighbours
        WHEN SEQUENCE(LAST A AS a, FIRST B AS b, 1 hour)
    """,
    "Chronicle": """
        EVENT Chronicle
        WHEN SEQUENCE(FIRST BUY AS b CONSUME, SELL AS s CONSUME, 1 day)
        WHERE {b.symbol = s.symbol} AND {s.price > 1.1 * b.price}
    """,
    "NoOverlap": """
        EVENT NoOverlap
        WHEN SEQUENCE(A, B, C, 10 minutes) DISJOINT
    """,
    "History": """
        EVENT History
        WHEN ANY(COUPON AS c)
        @ [TIMESTAMP '2026-01-01 00:00:00Z', TIMESTAMP '2026-02-01 00:00:00Z']
        # [TIMESTAMP '2026-01-10 00:00:00Z', FOREVER]
    """,
    "Dial": """
        EVENT Dial
        WHEN SEQUENCE(NEWS AS n, TICK AS t, 5 minutes)
        WHERE CorrelationKey(symbol, EQUAL)
        CONSISTENCY BLOCKING 2 seconds MEMORY 10 minutes
    """,
    "SpikeAfterCalm": """
        EVENT SpikeAfterCalm
        WHEN SEQUENCE(Calm AS c, MovingAverage AS m, 1 hour)
    """,
    "Busy": """
        EVENT Busy
        FROM LOGIN AS l
        WINDOW HOPPING 1 hour EVERY 5 minutes GROUP BY l.user HAVING COUNT(*) > 100
        OUTPUT l.user AS user, COUNT(*) AS n
    """,
    "OpenAuctions": """
        EVENT OpenAuctions
        FROM AUCTION AS a JOIN BID AS b ON a.id = b.auction
        OUTPUT a.id AS auction, b.price AS price
    """,
    "Uncovered": """
        EVENT Uncovered
        FROM SHIFT AS s EXCEPT ABSENCE AS a
    """,
    "Closed": """
        EVENT Closed
        FROM AUCTION AS a
        WINDOW LIFETIME a.Ve, 1
    """,
}
"""Paper: Section 3.1 (CIDR07_Example), and one or more for every construct.  By name."""

ALL = ";\n".join([TYPES.rstrip().rstrip(";"), *QUERIES.values()])
"""Everything as one text.  Reading: R32: queries name each other in any order."""
