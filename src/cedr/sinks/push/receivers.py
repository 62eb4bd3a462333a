"""Who takes messages: a web service, a command of the shell, a function in Python.

A receiver returns when it has taken a message, and raises ``Refused`` where it has not.  What it says of addresses and
headers never holds a secret: of a URL only the host.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any, Final, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

_AGAIN: Final = frozenset({408, 425, 429})
"""Answers below 500 that ask to come again."""


class Refused(Exception):
    """A message was not taken."""

    def __init__(self, reason: str, *, for_good: bool = False, after: float | None = None) -> None:
        """``for_good``: it would be refused again; ``after``: not before so many seconds."""
        super().__init__(reason)
        self.for_good, self.after = for_good, after


class Receiver(Protocol):
    """Takes messages, from several threads at once."""

    def take(self, key: str, body: str) -> None:
        """Take a message.  Raises ``Refused``."""


class _NoRedirects(HTTPRedirectHandler):
    """A redirected POST would become a GET: it is refused instead."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Webhook:
    """A web service: a POST of JSON, with the key in the header ``Idempotency-Key``; 2xx means taken."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, timeout: float = 10.0) -> None:
        self._url, self._headers, self._timeout = url, dict(headers or {}), timeout
        self._host = urlsplit(url).hostname or "the service"
        self._opener = build_opener(_NoRedirects)

    def take(self, key: str, body: str) -> None:
        """Post it."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key, "User-Agent": "cedr", **self._headers}
        request = Request(self._url, body.encode(), headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                answer.read(1)
        except HTTPError as error:
            with error:
                wait = error.headers.get("Retry-After", "")
            again = error.code >= 500 or error.code in _AGAIN
            after = float(wait) if wait.isdecimal() else None
            reason = f"{self._host} answered {error.code}"
            raise Refused(reason, for_good=not again, after=after) from None
        except (URLError, HTTPException, OSError) as error:
            cause = getattr(error, "reason", None) or error
            reason = f"{self._host}: {cause or type(error).__name__}"
            raise Refused(reason) from None


class Command:
    """A command: the message on its standard input, the key in ``CEDR_KEY``; an exit with 0 means taken."""

    def __init__(self, command: str | Sequence[str], timeout: float = 60.0) -> None:
        """A text is run by the shell; a list is run as it is."""
        self._command, self._timeout = command, timeout

    def take(self, key: str, body: str) -> None:
        """Run it; one that takes too long is ended, with all that it has started."""
        shell = isinstance(self._command, str)
        try:
            process = subprocess.Popen(
                self._command,
                shell=shell,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "CEDR_KEY": key},
                start_new_session=True,
            )
        except OSError as error:
            reason = f"the command cannot be started: {error.strerror}"
            raise Refused(reason) from None
        try:
            _, told = process.communicate(body.encode(), timeout=self._timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            reason = f"the command took longer than {self._timeout:g} seconds"
            raise Refused(reason) from None
        if process.returncode:
            last = told.decode(errors="replace").strip().splitlines()[-1:] or [""]
            reason = f"the command ended with {process.returncode} {last[0]}".strip()
            raise Refused(reason)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command with all that it has started: they are a session of their own."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, 9)
    else:
        process.kill()
    process.communicate()


class Function:
    """A function in Python: it gets the message as a dictionary; to return means taken."""

    def __init__(self, function: Callable[[dict[str, Any]], object]) -> None:
        self._function = function

    def take(self, key: str, body: str) -> None:  # noqa: ARG002 - the key is in the message
        """Call it."""
        try:
            self._function(json.loads(body))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise Refused(reason) from None
