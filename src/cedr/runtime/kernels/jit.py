"""How a loop becomes machine code: when it is worth it, kept on disk, free of the interpreter's lock.

Loading Numba takes a second, compiling the loops of one query eight.  A query on a few thousand events needs neither: a
kernel starts as the plain Python function that it is written as.  It becomes machine code when interpreting it has
taken, or would take, about as long as getting the machine code.  Both forms give the same results, to the type: 64-bit
words wrap around in both, and what is returned are Python's numbers.

With ``NUMBA_DISABLE_JIT=1`` a kernel stays the plain function.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property, update_wrapper
from pathlib import Path
from time import thread_time
from types import FunctionType
from typing import Any, Final, Literal, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

PATIENCE: Final = "CEDR_PATIENCE"
"""A variable of the environment, times which the prices count: with 0 kernels are compiled at their first call."""

LOADING: Final = 1.0
"""Seconds that all kernels together are interpreted before Numba is loaded, where machine code is on disk."""
FIRST_COMPILING: Final = 4.0
"""The same where there is none."""
COMPILING: Final = 0.25
"""Seconds that a kernel is interpreted before it is compiled, once Numba is loaded."""
SELDOM_ALONE: Final = 5
"""Where Numba is not loaded: large calls come in numbers, so each of them counts as so many."""
SLOWEST: Final = 1e-6
"""Seconds that interpreting takes for each element of the arrays, of a kernel that was not called yet."""


class Patience:
    """What is known of the process: how long kernels were interpreted, and how long they may be."""

    __slots__ = ("factor", "spent")

    def __init__(self) -> None:
        self.factor = float(os.environ.get(PATIENCE, "1"))
        self.spent = 0.0


patience: Final = Patience()
KERNELS: Final[list[Kernel]] = []
"""All that there are in the modules that are loaded."""


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
        self._inline = inline
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self._weighed = tuple(place for place, name in enumerate(names) if name not in tables)
        self._spent, self._seen = 0.0, 0

    def __call__(self, *arguments: Any) -> Any:
        """Interpret while that is cheaper."""
        count = elements(arguments[place] for place in self._weighed)
        expected = count * (self._spent / self._seen if self._seen else SLOWEST)
        if not self._worth(expected):
            return self.compile()(*arguments)
        start = thread_time()
        result = self.interpret(*arguments)
        took = thread_time() - start
        self._spent += took
        self._seen += count
        patience.spent += took
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

    def restart(self) -> None:
        """Begin anew as a plain function."""
        if "__call__" in vars(type(self)):
            del type(self).__call__
        self.compiled, self._spent, self._seen = False, 0.0, 0

    def _worth(self, expected: float) -> bool:
        """Whether to interpret a call that takes so many seconds: not where the machine code takes less to get."""
        if "numba" not in sys.modules:
            price = LOADING if self._kept else FIRST_COMPILING
            return patience.spent + SELDOM_ALONE * expected < price * patience.factor
        return not self._kept and self._spent + expected < COMPILING * patience.factor

    @cached_property
    def _kept(self) -> bool:
        """Whether machine code seems to be on disk, where Numba keeps it: asked once, before Numba is there."""
        code = self.function.__code__
        file = Path(code.co_filename)
        name = f"{file.stem}.{self.__qualname__}-{code.co_firstlineno}.*.nbi"
        chosen = os.environ.get("NUMBA_CACHE_DIR")
        places = Path(chosen).glob(f"*/{name}") if chosen else file.parent.glob(f"__pycache__/{name}")
        return any(True for _ in places)

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
    KERNELS.append(made)
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
