"""The drawings of docs/images, as SVG: scopes, the three clocks, beliefs, the triangle of levels, a late event.

Each function gives the text of one file; ``tools/generate_docs.py`` writes them and checks that they are up to date.
Plain shapes and text only, on a white ground, so that they can be read in any theme and compared as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

INK, GREY, PALE = "#1f2328", "#6e7781", "#d0d7de"
BLUE, RED, GREEN, SAND = "#0969da", "#cf222e", "#1a7f37", "#fff1d6"
SKY = "#ddf4ff"


@dataclass
class Canvas:
    """A drawing that grows by shapes."""

    width: int
    height: int
    title: str
    shapes: list[str] = field(default_factory=list)

    def line(
        self, ends: tuple[float, float, float, float], colour: str = INK, *, width: float = 1, dash: str = ""
    ) -> None:
        """From one point to another."""
        x1, y1, x2, y2 = ends
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
            f'stroke="{colour}" stroke-width="{width:g}"{dashed}/>'
        )

    def box(self, corner: tuple[float, float], size: tuple[float, float], fill: str, stroke: str = INK) -> None:
        """A rectangle by its upper left corner."""
        (x, y), (width, height) = corner, size
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}"/>'
        )

    def dot(self, x: float, y: float, colour: str = INK, *, filled: bool = True) -> None:
        """A small circle, hollow for an end that is not included."""
        fill = colour if filled else "white"
        self.shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>')

    def text(
        self, place: tuple[float, float], words: str, colour: str = INK, anchor: str = "start", size: int = 13
    ) -> None:
        """Words at a place."""
        x, y = place
        self.shapes.append(
            f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}" font-size="{size}">'
            f"{escape(words)}</text>"
        )

    def polygon(self, points: Sequence[tuple[float, float]], fill: str) -> None:
        """A closed outline."""
        corners = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.shapes.append(f'<polygon points="{corners}" fill="{fill}" stroke="{INK}"/>')

    def __str__(self) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="Helvetica, Arial, sans-serif" role="img">'
        )
        ground = f'<rect width="{self.width}" height="{self.height}" fill="white"/>'
        return "\n".join([head, f"<title>{escape(self.title)}</title>", ground, *self.shapes, "</svg>", ""])


# -- scopes -----------------------------------------------------------------------------------------------------------

_LEFT, _TICK, _ROW = 300, 32, 92


@dataclass
class _Lane:
    """One operator on its own time line."""

    canvas: Canvas
    y: float

    def x(self, time: float) -> float:
        return _LEFT + _TICK * time

    def axis(self, name: str, rule: str) -> None:
        self.canvas.text((16, self.y - 6), name, size=14)
        self.canvas.text((16, self.y + 14), rule, GREY, size=12)
        self.canvas.line((self.x(0), self.y, self.x(15.5), self.y), GREY)

    def event(self, time: float, name: str, colour: str = INK) -> None:
        self.canvas.dot(self.x(time), self.y, colour)
        self.canvas.text((self.x(time), self.y + 19), name, colour, "middle")

    def forbidden(self, start: float, end: float, words: str) -> None:
        """An open interval in which nothing may occur."""
        y = self.y - 16
        self.canvas.line((self.x(start), y, self.x(end), y), RED, width=3)
        for time in (start, end):
            self.canvas.dot(self.x(time), y, RED, filled=False)
        self.canvas.text((self.x((start + end) / 2), y - 8), words, RED, "middle", 12)

    def scope(self, start: float, end: float, words: str) -> None:
        y = self.y - 16
        self.canvas.line((self.x(start), y, self.x(end), y), BLUE, width=3)
        self.canvas.dot(self.x(start), y, BLUE, filled=False)
        self.canvas.dot(self.x(end), y, BLUE)
        self.canvas.text((self.x((start + end) / 2), y - 8), words, BLUE, "middle", 12)

    def output(self, start: float, end: float, words: str) -> None:
        """A lifetime, closed at its start and open at its end."""
        y = self.y + 34
        self.canvas.line((self.x(start), y, self.x(end), y), GREEN, width=3)
        self.canvas.dot(self.x(end), y, GREEN, filled=False)
        self.canvas.dot(self.x(start), y, GREEN)
        self.canvas.text((self.x(end) + 10, y + 4), words, GREEN, size=12)


def scopes() -> str:
    """SEQUENCE and the negations: scope, and lifetime of the output.  Readings: R11, R15 to R18."""
    canvas = Canvas(920, 40 + 5 * _ROW + 40, "Scopes of SEQUENCE, UNLESS, UNLESS with a number, NOT and CANCEL-WHEN")
    lanes = [_Lane(canvas, 60 + _ROW * number) for number in range(5)]
    sequence, unless, nth, negated, cancel = lanes
    sequence.axis("SEQUENCE(A, B, 10)", "B after A, at most 10 later")
    sequence.event(1, "A")
    sequence.event(5, "B")
    sequence.scope(1, 11, "B within (A.Vs, A.Vs + 10]")
    sequence.output(5, 11, "[B.Vs, A.Vs + 10)")
    unless.axis("UNLESS(A, B, 10)", "no B in the next 10")
    unless.event(1, "A")
    unless.forbidden(1, 11, "no B in (A.Vs, A.Vs + 10)")
    unless.output(1, 11, "[A.Vs, A.Vs + 10)")
    nth.axis("UNLESS(SEQUENCE(A, B, 10), C, 1, 6)", "counted from contributor 1, A")
    nth.event(1, "A")
    nth.event(3, "B")
    nth.forbidden(1, 7, "no C in (A.Vs, A.Vs + 6)")
    nth.output(7, 13, "from the end of the scope")
    negated.axis("NOT(C, SEQUENCE(A, B, 10))", "no C between A and B")
    negated.event(1, "A")
    negated.event(5, "B")
    negated.forbidden(1, 5, "no C in (A.Vs, B.Vs)")
    negated.output(5, 11, "as the SEQUENCE")
    cancel.axis("CANCEL-WHEN(SEQUENCE(A, B, 10), C)", "no C while it is being detected")
    cancel.event(1, "A")
    cancel.event(5, "B")
    cancel.forbidden(1, 5, "no C in (Rt, Vs)")
    cancel.output(5, 11, "as the first operand")
    y = 60 + 5 * _ROW - 12
    for offset, (colour, words) in enumerate(
        [(BLUE, "scope"), (RED, "nothing may start here"), (GREEN, "lifetime of the output")]
    ):
        x = 16 + 200 * offset
        canvas.line((x, y, x + 24, y), colour, width=3)
        canvas.text((x + 32, y + 4), words, colour, size=12)
    canvas.text((660, y + 4), "filled end: included; hollow end: not", GREY, size=12)
    return str(canvas)


# -- three clocks -----------------------------------------------------------------------------------------------------


def three_clocks() -> str:
    """Figure 2 of the paper: what the stream describes after each message."""
    canvas = Canvas(760, 330, "Figure 2: what the stream describes at each CEDR time")
    left, tick, top, row = 190, 60, 60, 44
    canvas.text((16, 22), "CEDR time", GREY)
    canvas.text((left, 22), "occurrence time: which version of e0 is believed", GREY)
    for time in range(1, 9):
        x = left + tick * (time - 1)
        canvas.line((x, top - 12, x, top + 5 * row), PALE)
        canvas.text((x, top - 16), str(time), GREY, "middle", 12)
    story = [
        ("1", "insert E0", [(1, 5, SKY, "valid [1, ∞)")]),
        ("2", "insert E1", [(1, 5, SKY, "valid [1, ∞)"), (5, 9, SAND, "valid [1, 10)")]),
        ("4", "retract E0 to Oe 3", [(1, 3, SKY, "valid [1, ∞)"), (5, 9, SAND, "valid [1, 10)")]),
        ("5", "retract E1 to Oe 5", [(1, 3, SKY, "valid [1, ∞)")]),
        ("6", "insert E2", [(1, 3, SKY, "valid [1, ∞)"), (3, 9, SAND, "valid [1, 10)")]),
    ]
    for number, (cedr_time, message, bars) in enumerate(story):
        y = top + row * number
        canvas.text((16, y + 20), cedr_time)
        canvas.text((44, y + 20), message, GREY, size=12)
        for start, end, fill, words in bars:
            x = left + tick * (start - 1)
            canvas.box((x, y + 4), (tick * (end - start), 24), fill)
            canvas.text((x + 8, y + 20), words, size=12)
    note = "A bar that reaches the right edge has Oe = ∞. Each row is the whole stream as it stands then."
    canvas.text((16, top + 5 * row + 26), note, GREY, size=12)
    return str(canvas)


# -- beliefs ----------------------------------------------------------------------------------------------------------


def beliefs() -> str:
    """A count whose input is modified: its rows as rectangles of occurrence time and valid time.  Readings: R9, R10."""
    canvas = Canvas(560, 400, "The rows of a count, before and after a modification")
    left, bottom, tick = 70, 330, 34
    for time in range(11):
        canvas.line((left + tick * time, bottom, left + tick * time, bottom + 5), GREY)
        canvas.text((left + tick * time, bottom + 20), str(time), GREY, "middle", 12)
        if time < 9:
            canvas.line((left - 5, bottom - tick * time, left, bottom - tick * time), GREY)
            canvas.text((left - 12, bottom - tick * time + 4), str(time), GREY, "end", 12)
    rows = [(1, 2, 1, 12, 1), (2, 8, 2, 6, 2), (2, 4, 6, 12, 2), (4, 8, 6, 12, 1)]
    for valid_start, valid_end, start, end, count in rows:
        corner = (left + tick * start, bottom - tick * valid_end)
        canvas.box(corner, (tick * (end - start), tick * (valid_end - valid_start)), SKY if count == 1 else SAND)
        middle = (corner[0] + tick * 1.5, corner[1] + tick * (valid_end - valid_start) / 2 + 5)
        canvas.text(middle, f"n = {count}", anchor="middle")
    canvas.line((left, bottom, left + tick * 12.5, bottom), INK)
    canvas.line((left, bottom, left, bottom - tick * 8.8), INK)
    canvas.text((left + tick * 12, bottom + 42), "occurrence time: when it is believed", GREY, "end")
    canvas.text((16, 20), "valid time: when it holds", GREY)
    canvas.text((left + tick * 12, bottom + 20), "∞", GREY, "middle", 12)
    canvas.line((left + tick * 6, bottom, left + tick * 6, 28), RED, dash="4 3")
    canvas.text((left + tick * 6 + 6, 24), "at 6 one learns that a ended at 4", RED, size=12)
    return str(canvas)


# -- levels -----------------------------------------------------------------------------------------------------------


def levels() -> str:
    """Figure 9 of the paper with our names: the triangle of (B, M).  Readings: R33 to R35."""
    canvas = Canvas(640, 400, "The triangle of consistency levels: memory M and blocking B")
    left, bottom, side = 90, 330, 260
    right, top = left + side, bottom - side
    canvas.polygon([(left, bottom), (right, bottom), (right, top)], SKY)
    canvas.line((left, bottom, right + 30, bottom))
    canvas.line((left, bottom, left, top - 20))
    canvas.text((right + 30, bottom + 40), "M: how far back it repairs", GREY, "end")
    canvas.text((16, top - 32), "B: how long it waits", GREY)
    for x, words in ((left, "0"), (right, "FOREVER")):
        canvas.text((x, bottom + 20), words, GREY, "middle", 12)
    for y, words in ((bottom, "0"), (top, "FOREVER")):
        canvas.text((left - 10, y + 4), words, GREY, "end", 12)
    for x, y, name, words in (
        (left, bottom, "WEAK", "never waits, repairs what still lives"),
        (right, bottom, "MIDDLE", "never waits, repairs everything"),
        (right, top, "STRONG", "waits for guarantees, takes nothing back"),
    ):
        canvas.dot(x, y, BLUE)
        place = (x + 42, y - 10) if name == "WEAK" else (x + 12, y - 28 if name == "MIDDLE" else y + 4)
        canvas.text(place, name, BLUE, size=14)
        canvas.text(
            (place[0] + (50 if name == "WEAK" else 0), place[1] + (0 if name == "WEAK" else 16)), words, GREY, size=11
        )
    canvas.dot(left + 110, bottom - 60, RED)
    canvas.text((left + 120, bottom - 66), "BLOCKING 2 seconds", RED, size=12)
    canvas.text((left + 120, bottom - 50), "MEMORY 10 minutes", RED, size=12)
    canvas.text((left + 40, top + 30), "B > M acts as B = M", GREY, size=12)
    return str(canvas)


# -- a late event -----------------------------------------------------------------------------------------------------

_ZERO, _MINUTE = 130, 13.5
"""Where 10:00 is, and how wide a minute."""
_ARRIVALS, _FIRST_LANE, _LANE = 74, 132, 72


@dataclass
class _Alert:
    """One alert in the lane of a level: from when it stands until when."""

    machine: str
    start: float
    end: float
    colour: str
    retracted: bool = False


def _minute(time: float) -> float:
    return _ZERO + _MINUTE * time


def _arrivals(canvas: Canvas) -> None:
    """The clock of arrival, the events that come, and the one that comes late."""
    for time in range(0, 36, 5):
        canvas.text((_minute(time), 20), f"10:{time:02}", GREY, "middle", 12)
        canvas.line((_minute(time), 28, _minute(time), _FIRST_LANE + 3 * _LANE - 12), PALE)
    y = _ARRIVALS
    canvas.text((16, y - 6), "arrives", size=14)
    canvas.line((_minute(0), y, _minute(35), y), GREY)
    for time, words in ((0, "M1 down"), (8, "M2 down")):
        canvas.dot(_minute(time), y)
        canvas.text((_minute(time), y + 20), words, anchor="middle", size=12)
    canvas.dot(_minute(3), y - 22, RED, filled=False)
    canvas.line((_minute(3) + 5, y - 22, _minute(20), y - 22), RED, dash="4 3")
    canvas.line((_minute(20), y - 22, _minute(20), y - 4), RED, dash="4 3")
    canvas.dot(_minute(20), y, RED)
    canvas.text((_minute(11.5), y - 28), "17 minutes late", RED, "middle", 12)
    canvas.text((_minute(20), y + 20), "M1 was up again at 10:03", RED, "middle", 12)
    canvas.line((_minute(30), y - 10, _minute(30), y + 6), GREEN, width=3)
    canvas.text((_minute(30), y + 20), "guarantee up to 10:15", GREEN, "middle", 12)


def _level_lane(canvas: Canvas, number: int, name: str, words: str, alerts: Sequence[_Alert]) -> None:
    top = _FIRST_LANE + _LANE * number
    canvas.text((16, top + 14), name, BLUE, size=14)
    canvas.text((16, top + 32), words, GREY, size=11)
    for row, alert in enumerate(alerts):
        y, x = top + 25 * row, _minute(alert.start)
        fill = {GREEN: "#dafbe1", RED: "#ffebe9"}[alert.colour]
        canvas.box((x, y), (_minute(alert.end) - x, 20), fill, alert.colour)
        canvas.text((x + 8, y + 14), alert.machine, alert.colour, size=12)
        if alert.retracted:
            canvas.line((_minute(alert.end), y - 3, _minute(alert.end), y + 23), RED, width=3)
            canvas.text((_minute(alert.end) + 8, y + 14), "retracted", RED, size=12)


def late_event() -> str:
    """What each level emits about the same late event.  Readings: R33 to R35."""
    canvas = Canvas(640, _FIRST_LANE + 3 * _LANE + 34, "The alerts of STRONG, MIDDLE and WEAK when an event is late")
    _arrivals(canvas)
    right = _Alert("alert: M2", 8, 35, GREEN)
    _level_lane(canvas, 0, "STRONG", "waits", [_Alert("alert: M2", 30, 35, GREEN)])
    _level_lane(canvas, 1, "MIDDLE", "repairs all", [_Alert("alert: M1", 0, 20, RED, retracted=True), right])
    stays = _Alert("alert: M1, wrong, and not repaired: at 10:20 it is over", 0, 35, RED)
    _level_lane(canvas, 2, "WEAK", "repairs live ones", [stays, right])
    y = _FIRST_LANE + 3 * _LANE + 14
    note = "The query: a machine is down, and not up again 5 minutes later. An alert is live for these 5 minutes."
    canvas.text((16, y), note, GREY, size=12)
    return str(canvas)


DRAWINGS = {
    "scopes": scopes,
    "three-clocks": three_clocks,
    "beliefs": beliefs,
    "levels": levels,
    "late-event": late_event,
}
