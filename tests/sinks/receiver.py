"""A real HTTP server on loopback that takes messages, refuses them, hangs, or is gone for a while."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any


class Service:
    """Remembers what it was told; ``answer`` decides about each request by its key and how often it has come."""

    def __init__(self, answer: Callable[[str, int], int | None] = lambda *_: 200, port: int = 0) -> None:
        """None as an answer: no answer at all, until the service is closed."""
        self.taken: list[dict[str, Any]] = []
        self.requests: Counter[str] = Counter()
        self._closing, self._lock = Event(), Lock()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                key = self.headers["Idempotency-Key"]
                assert key == body["key"]
                with service._lock:
                    service.requests[key] += 1
                    times = service.requests[key]
                status = answer(key, times)
                if status is None:
                    service._closing.wait(30)
                    return
                if status < 300:
                    with service._lock:
                        service.taken.append(body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/alerts?token=secret"
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def once(self) -> dict[str, dict[str, Any]]:
        """What a receiver that honours keys has: the first of each."""
        found: dict[str, dict[str, Any]] = {}
        for body in self.taken:
            found.setdefault(body["key"], body)
        return found

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
