"""The drawing of the processes of a stream on Spark, as SVG: what runs where, and what passes between processes."""

from __future__ import annotations

from dataclasses import dataclass

from drawings import BLUE, GREY, INK, PALE, SAND, SKY, Canvas

_WIDTH, _HEIGHT = 940, 640
_STORE = "#eaeef2"
_HEAD = 7
"""The length of an arrow's head."""


@dataclass(frozen=True)
class _Box:
    """A process, a part of one, or a store."""

    x: float
    y: float
    width: float
    height: float
    title: str
    lines: tuple[str, ...]
    fill: str

    def draw(self, canvas: Canvas) -> None:
        canvas.box((self.x, self.y), (self.width, self.height), self.fill)
        canvas.text((self.x + 10, self.y + 20), self.title, size=14)
        for number, line in enumerate(self.lines):
            canvas.text((self.x + 10, self.y + 38 + 16 * number), line, GREY, size=12)


_PYTHON_DRIVER = _Box(20, 34, 200, 76, "Python driver", ("your program; cedr.query", "makes the layout (plan)"), SKY)
_JVM_DRIVER = _Box(330, 34, 250, 76, "JVM driver", ("plans batches, schedules tasks,", "retries those that fail"), SAND)
_CHECKPOINT = _Box(
    720, 34, 200, 76, "checkpoint", ("offsets and commits of batches;", "the state of each bucket"), _STORE
)
_INPUT = _Box(36, 216, 170, 76, "task: read", ("rows of the input, or", "the paths of files"), SAND)
_SHUFFLE = _Box(244, 216, 170, 76, "shuffle", ("by the token of a bucket:", "blobs and heads"), SAND)
_OPERATOR = _Box(
    452, 216, 230, 76, "task: stateful operator", ("one group for each bucket;", "state store (RocksDB)"), SAND
)
_SINK = _Box(754, 216, 150, 76, "output", ("the sink writes rows of", "the change stream"), SAND)
_MAP = _Box(
    120,
    404,
    220,
    110,
    "Python worker: map task",
    ("map_task/", "reads files, packs rows:", "one blob for each bucket,", "and a head for all of them"),
    SKY,
)
_STEP = _Box(
    452,
    404,
    230,
    110,
    "Python worker: step",
    (
        "step/operator, worker, bucket",
        "makes one step of each bucket,",
        "keeps its pipeline cached",
        "between two batches",
    ),
    SKY,
)
_RESULT = _Box(
    738,
    404,
    182,
    110,
    "Python worker: result",
    ("output/result_rows", "claims what a step", "emitted, makes rows", "of the result"),
    SKY,
)
_BOXES = (_PYTHON_DRIVER, _JVM_DRIVER, _CHECKPOINT, _INPUT, _SHUFFLE, _OPERATOR, _SINK, _MAP, _STEP, _RESULT)


def _arrow(canvas: Canvas, start: tuple[float, float], end: tuple[float, float], *, dash: str = "") -> None:
    """A straight line with a head at its end."""
    (x1, y1), (x2, y2) = start, end
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    along = ((x2 - x1) / length, (y2 - y1) / length)
    colour = BLUE if dash else INK
    canvas.line((x1, y1, x2, y2), colour, width=1.5, dash=dash)
    for side in (1, -1):
        x = x2 - _HEAD * along[0] + side * _HEAD / 2 * along[1]
        y = y2 - _HEAD * along[1] - side * _HEAD / 2 * along[0]
        canvas.line((x, y, x2, y2), colour, width=1.5)


def _driver_arrows(canvas: Canvas) -> None:
    _arrow(canvas, (220, 72), (330, 72))
    canvas.text((275, 64), "Py4J, Connect", GREY, "middle", 12)
    _arrow(canvas, (580, 62), (720, 62))
    canvas.text((650, 54), "offsets, commits", GREY, "middle", 12)
    _arrow(canvas, (455, 110), (455, 160))
    canvas.text((463, 140), "tasks", GREY, size=12)
    _arrow(canvas, (664, 216), (790, 110))
    canvas.text((770, 150), "what changed in the state", GREY, size=12)


def _executor_arrows(canvas: Canvas) -> None:
    _arrow(canvas, (150, 292), (180, 404))
    canvas.text((158, 380), "Arrow", GREY, "end", 12)
    _arrow(canvas, (290, 404), (320, 292))
    canvas.text((316, 380), "packed rows", GREY, size=12)
    _arrow(canvas, (414, 254), (452, 254))
    _arrow(canvas, (500, 292), (500, 404))
    canvas.text((492, 330), "packed rows,", GREY, "end", 12)
    canvas.text((492, 346), "state", GREY, "end", 12)
    _arrow(canvas, (590, 404), (590, 292))
    canvas.text((598, 330), "segments and record,", GREY, size=12)
    canvas.text((598, 346), "measures, ticket", GREY, size=12)
    _arrow(canvas, (682, 272), (780, 404))
    canvas.text((752, 376), "ticket", GREY, "end", 12)
    _arrow(canvas, (850, 404), (850, 292))
    canvas.text((842, 320), "rows", GREY, "end", 12)
    _arrow(canvas, (682, 466), (738, 466), dash="5 3")
    _arrow(canvas, (550, 514), (550, 566), dash="5 3")
    canvas.text((560, 544), "asks the worker that has the pipeline for a step", BLUE, size=12)


def spark_processes_picture() -> str:
    """The processes of a stream: drivers, the JVM of an executor, its Python workers, state store and checkpoint."""
    canvas = Canvas(_WIDTH, _HEIGHT, "The processes of a stream on Spark, and what passes between them")
    canvas.text((20, 20), "the machine of the driver", GREY)
    canvas.text((720, 20), "storage that all machines see", GREY)
    canvas.box((20, 160), (904, 148), "white", PALE)
    canvas.text((30, 180), "JVM of an executor (with master local[n] it is the JVM of the driver)", GREY)
    canvas.text((30, 198), "Spark moves bytes here, and reads none of the packed rows", GREY, size=12)
    for box in _BOXES:
        box.draw(canvas)
    _driver_arrows(canvas)
    _executor_arrows(canvas)
    canvas.box((452, 566), (230, 30), SKY)
    canvas.text((462, 586), "another Python worker: step", size=13)
    for place, (fill, words) in enumerate([(SKY, "a Python process"), (SAND, "in a JVM"), (_STORE, "files")]):
        canvas.box((20 + 130 * place, 580), (14, 14), fill)
        canvas.text((40 + 130 * place, 592), words, GREY, size=12)
    canvas.line((20, 618, 50, 618), BLUE, width=1.5, dash="5 3")
    note = "between two Python processes of one machine, by a socket; large columns by shared memory"
    canvas.text((60, 622), note, GREY, size=12)
    return str(canvas)
