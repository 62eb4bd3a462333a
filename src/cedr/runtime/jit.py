"""How a loop becomes machine code: when it is worth it, kept on disk, free of the interpreter's lock.

Loading Numba takes a second, compiling the loops of one query eight.  A query on a few events needs neither: a kernel
starts as the plain Python function that it is written as.  It becomes machine code at the first call with many
elements, or once the calls with few of them have taken some time.  Both ways give the same results, to the type: 64-bit
words wrap around in both, and what is returned are Python's numbers.

With ``NUMBA_DISABLE_JIT=1`` a kernel stays the plain function.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property, update_wrapper
from time import perf_counter
from types import FunctionType
from typing import Any, Final, Literal, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

FEW: Final = 4_096
"""Elements of all arrays together; a call with so many is interpreted in some ten milliseconds at the most."""

PATIENCE: Final = float(os.environ.get("CEDR_PATIENCE", "0.05"))
"""Seconds for which a kernel is interpreted before it is compiled, in all; 0: it is compiled at its first call."""


def kernel(function: F) -> F:
    """A function over arrays and numbers, compiled where it is worth it."""
    return cast("F", _made(function, "never"))


def lookup(*tables: str) -> Callable[[F], F]:
    """The same for a function that looks into tables: the sizes of these parameters say nothing about its work."""

    def decorate(function: F) -> F:
        return cast("F", _made(function, "never", tables))

    return decorate


def inlined(function: F) -> F:
    """A part of kernels, for their innermost loops: it becomes part of each kernel that calls it."""
    return cast("F", _made(function, "always"))


class Kernel:
    """A function in two forms, interpreted and as machine code.

    Each kernel is of a class of its own: which form is called is the class's ``__call__``.  So, once it is machine
    code, nothing of this stands between the caller and Numba's dispatcher.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Any, inline: Literal["never", "always"], tables: tuple[str, ...] = ()) -> None:
        update_wrapper(self, function)
        self.function: Final = function
        self.compiled = False
        self.spent = 0.0 if PATIENCE else np.inf
        self._inline = inline
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self._weighed = tuple(place for place, name in enumerate(names) if name not in tables)

    def __call__(self, *arguments: Any) -> Any:
        """Interpret while it is cheap."""
        if self.spent >= PATIENCE or elements(arguments[place] for place in self._weighed) > FEW:
            return self.compile()(*arguments)
        start = perf_counter()
        result = self.interpret(*arguments)
        self.spent += perf_counter() - start
        return result

    def __reduce__(self) -> str:
        return self.__qualname__  # by its name in its module, as a function

    def interpret(self, *arguments: Any) -> Any:
        """Call the plain function; what it returns is made as machine code returns it."""
        with np.errstate(over="ignore"):
            return _plain(self._linked(*arguments))

    def compile(self) -> Callable[..., Any]:
        """From now on it is machine code: from the disk, or compiled when it is called."""
        code = self.machine_code
        self.compiled = code is not self._linked
        called = code if self.compiled else self.interpret
        type(self).__call__ = staticmethod(called)  # type: ignore[method-assign, assignment]
        return called

    @cached_property
    def machine_code(self) -> Callable[..., Any]:
        """Numba's dispatcher; the plain function, where Numba is told not to compile."""
        import numba

        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return self._linked
        function = _linked_to(self.function, lambda called: called.machine_code)
        return numba.njit(cache=True, nogil=True, inline=self._inline)(function)

    @cached_property
    def _linked(self) -> Callable[..., Any]:
        """The plain function that calls plain functions."""
        return _linked_to(self.function, lambda called: called._linked)


def _made(function: Any, inline: Literal["never", "always"], tables: tuple[str, ...] = ()) -> Kernel:
    made: Kernel = type("Kernel", (Kernel,), {})(function, inline, tables)
    return made


def _linked_to(function: Any, form: Callable[[Kernel], Callable[..., Any]]) -> Callable[..., Any]:
    """A copy of a function that calls other kernels in one form.

    Machine code can only call machine code; and what is interpreted must not get Python's numbers from a call, because
    these do not wrap around.
    """
    known = function.__globals__
    called = {name: known[name] for name in function.__code__.co_names if isinstance(known.get(name), Kernel)}
    if not called:
        return cast("Callable[..., Any]", function)
    inner = known | {name: form(kernel) for name, kernel in called.items()}
    copy = FunctionType(function.__code__, inner, function.__name__, function.__defaults__, function.__closure__)
    return update_wrapper(copy, function)


def elements(arguments: Iterable[Any]) -> int:
    """How many elements all arrays have, also those in tuples."""
    count = 0
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            count += argument.size
        elif isinstance(argument, tuple):
            count += elements(argument)
    return count


def _plain(result: Any) -> Any:
    """NumPy's scalars as Python's, as machine code returns them."""
    if isinstance(result, tuple):
        return tuple(_plain(each) for each in result)
    return result.item() if isinstance(result, np.generic) else result
