"""The measures of a job in the text format of Prometheus, on a port of this machine that only it can reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from cedr.consistency.measures import Measures
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.jobs.figures import Figures, QueryFigures
from cedr.model.time import BEGINNING, FOREVER

_OF_QUERY: Final[tuple[tuple[str, str, str, Callable[[Measures], int]], ...]] = (
    ("received_total", "counter", "Messages received.", lambda m: m.received),
    ("admitted_total", "counter", "Messages admitted.", lambda m: m.admitted),
    ("held", "gauge", "Messages that wait to be admitted.", lambda m: m.held),
    ("inserts_total", "counter", "Rows emitted.", lambda m: m.inserts),
    ("retractions_total", "counter", "Rows retracted or shortened.", lambda m: m.retractions),
    ("late_total", "counter", "Messages behind the newest one or a guarantee.", lambda m: m.late),
    ("frozen_total", "counter", "Rows not emitted or not retracted because memory had ended.", lambda m: m.frozen),
    ("dead_letters_total", "counter", "Messages that could not be used.", lambda m: m.dead_letters),
    ("state_rows", "gauge", "Rows of state.", lambda m: m.total_rows),
    ("state_bytes", "gauge", "Bytes of state.", lambda m: m.total_bytes),
)


def rendered(figures: Figures) -> str:
    """All measures as text."""
    return "\n".join([*_of_job(figures), *_of_queries(figures), *_of_sources(figures), ""])


def _of_job(figures: Figures) -> Iterator[str]:
    job = f'job="{_escaped(figures.name)}"'
    for name, kind, text, value in (
        ("batches_total", "counter", "Batches committed on this checkpoint.", figures.batch),
        ("rows_total", "counter", "Rows read by this process.", figures.rows),
        (
            "rejected_total",
            "counter",
            "Rows and messages that could not be used, on this checkpoint.",
            figures.rejected,
        ),
        ("batch_seconds", "gauge", "Seconds of the last batch, from its plan to its commit.", figures.seconds),
        ("rows_per_second", "gauge", "Rows a second over the last batches.", figures.rate),
    ):
        yield from _head(name, kind, text)
        yield f"cedr_{name}{{{job}}} {value}"


def _of_queries(figures: Figures) -> Iterator[str]:
    for name, kind, text, value in _OF_QUERY:
        yield from _head(name, kind, text)
        for each in figures.queries:
            yield f"cedr_{name}{{{_labels(figures, each)}}} {value(each.measures)}"
    yield from _head("guarantee", "gauge", "Occurrence time up to which what was emitted is final.")
    for each in figures.queries:
        if BEGINNING < each.guarantee < FOREVER - 1:
            yield f"cedr_guarantee{{{_labels(figures, each)}}} {each.guarantee}"
    yield from _head("held_back", "gauge", "1 for the source that holds the guarantee of a query back.")
    for each in figures.queries:
        if each.held_back_by is not None:
            yield f'cedr_held_back{{{_labels(figures, each)},source="{_escaped(each.held_back_by)}"}} 1'


def _of_sources(figures: Figures) -> Iterator[str]:
    yield from _head("source_guarantee", "gauge", "Time up to which a source has promised that nothing more comes.")
    for name, time in figures.guarantees.items():
        if BEGINNING < time < FOREVER - 1:
            yield f'cedr_source_guarantee{{job="{_escaped(figures.name)}",source="{_escaped(name)}"}} {time}'


def _labels(figures: Figures, each: QueryFigures) -> str:
    names = {"job": figures.name, "query": each.query, "level": str(each.measures.level)}
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in names.items())


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP cedr_{name} {text}"
    yield f"# TYPE cedr_{name} {kind}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class MetricsServer:
    """Serves the measures at ``/metrics`` until it is closed."""

    def __init__(self, figures: Figures, port: int) -> None:
        """Port 0 takes any that is free.  Raises ``HostError`` if the port is taken."""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                """Answer a scrape."""
                if self.path.split("?")[0] not in ("/", "/metrics"):
                    self.send_error(404)
                    return
                body = rendered(figures).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Scrapes are no news."""

        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        except OSError as error:
            primary = f"cannot serve measures on port {port}: {error.strerror or error}"
            raise HostError(Diagnostic("port-in-use", primary, hint="name another: [metrics] port = 0")) from None
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        """The port it has."""
        return self._server.server_address[1]

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
