"""What a job takes in: batch after batch of all its sources, planned before it is read.

Readings: R33 (each source is a provider by itself), R39 (what comes after its guarantee is late), R40.

A plan is plain data: for each source the chunk, from which row on and how many; whose sources have ended, and who has
been silent for so long that nobody waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from cedr.consistency.batch import EventBatch
from cedr.data.arriving import Arriving
from cedr.data.json_files import JsonFiles
from cedr.data.loading import Loaded, Loading
from cedr.data.origins import Origin
from cedr.data.promises import Promises
from cedr.data.rejected import Rejected, Rejects
from cedr.data.sources import Source
from cedr.data.words import Words, constant
from cedr.model.schema import DataType
from cedr.model.stream import Guarantee, Message
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.sources.contract import Chunk, JobSource, refused

Needed = Mapping[str, Mapping[str, DataType]]
Plan = dict[str, Any]
_PEEKED: Final = 10_000
END: Final = FOREVER - 1
"""What a provider promises who sends nothing any more."""


@dataclass(slots=True)
class Taken:
    """What a batch has of one source."""

    messages: list[Message | EventBatch] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    rows: int = 0


class Inlet:
    """A source of a job, with what was read of it ahead and what it has promised."""

    def __init__(self, source: JobSource, words: Words, idle: int | None) -> None:
        self.source, self.idle = source, idle
        self.name = source.name
        self.words = words
        if words.provider is None:
            column = source.provider_column
            self.words = replace(words, provider=f"'{source.name}'" if column is None else column)
        self.promised: dict[str | None, Time] = {}
        self.newest: Time = BEGINNING
        """The largest time that has come."""
        self.ended = False
        self.rows = 0
        self._promises = Promises()
        self._chunk: Chunk | None = None
        self._ahead: tuple[Arriving, Loaded] | None = None
        self._low = 0
        self._end: Any = None
        self._needed: Needed = {}
        self._columns: Sequence[str] = ()
        self._timestamps = True
        self._bad_rows = 1.0
        self._done: set[str] = set()
        """What was read in full."""
        self._fresh = False
        """Whether nothing of the chunk was planned yet."""

    @property
    def provider(self) -> str | None:
        """Who promises for all rows; None where a column tells it."""
        return None if self.words.provider is None else constant(self.words.provider)

    def providers(self) -> list[str]:
        """Who is waited for before anything is guaranteed."""
        told = self.source.providers()
        return [self.provider] if told is None and self.provider is not None else list(told or ())

    @property
    def promises(self) -> bool:
        """Whether its rows can promise anything."""
        words = self.words
        return words.disorder is not None or words.guarantee is not None or words.change is not None

    @property
    def guarantee(self) -> Time:
        """Up to when nothing more comes from here."""
        known = [self.promised.get(each, BEGINNING) for each in self.providers()] or list(self.promised.values())
        return min(known, default=BEGINNING)

    def expect(self, needed: Needed, columns: Sequence[str], *, timestamps: bool, bad_rows: float) -> None:
        """What is read of it, the columns that it had at first, and what may be wrong with it."""
        self._needed, self._columns, self._timestamps, self._bad_rows = needed, columns, timestamps, bad_rows

    def peek(self) -> Origin | None:
        """The first rows, without taking them; None if nothing is there yet."""
        if self._chunk is None:
            self._chunk = self.source.next(_PEEKED)
        if self._chunk is None:
            return None
        origin = self.source.read(self._chunk)
        self._fresh = True
        return origin

    # -- a batch ------------------------------------------------------------------------------------------------------

    def plan(self, most: int) -> tuple[Plan, bytes | None] | None:
        """What comes next, and the rows of a new chunk that can be had only once; None if nothing is there."""
        if self._chunk is not None and self._low >= self._read().count:
            self._let_go()
        if self._chunk is None:
            self._chunk, self._low, self._fresh = self.source.next(most), 0, True
        if self._chunk is None:
            return None
        kept = self._chunk.kept if self._fresh else None
        self._fresh = False
        return {"chunk": self._chunk.as_data(), "low": self._low, "most": most}, kept

    def take(self, plan: Mapping[str, Any], kept: bytes | None) -> tuple[Taken, tuple[str, ...]]:
        """The rows that were planned, and what is read in full with them."""
        if self._chunk is None:  # after a crash
            self._chunk, self._low = Chunk.of_data(plan["chunk"], kept), plan["low"]
            self.source.resume(self._chunk.end, {*self._done, *self._chunk.done})
        arriving = self._read()
        low, high = self._low, min(self._low + plan["most"], arriving.count)
        messages, guarantees = arriving.between(low, high, self._promises)
        taken = Taken([*messages, *guarantees], rows=high - low)
        assert self._ahead is not None
        loaded = self._ahead[1]
        if low == 0:
            taken.rejected = loaded.rejected
        if high > low:
            self.newest = max(self.newest, int(loaded.times[low:high].max()))
        self.rows += high - low
        self._low = high
        for promise in guarantees:
            self._promise(promise)
        if high < arriving.count:
            return taken, ()
        done = self._chunk.done
        self._done.update(done)
        self._let_go()
        return taken, done

    def check_ended(self) -> None:
        """Raises ``StreamError`` where something has come since the source was said to have ended."""
        if self.ended and self.source.next(1) is not None:
            primary = "it has ended, as the last run was told by --once, and more has come since"
            hint = "run with --available, or without either, on another checkpoint: then a job goes on"
            raise refused(self.name, "source-ended", primary, hint=hint)

    def promise(self, time: Time) -> list[Guarantee]:
        """A guarantee for all that this source sends, where it says more than those before."""
        names = dict.fromkeys([*self.providers(), *self.promised])
        further = [Guarantee(time, name) for name in names if self.promised.get(name, BEGINNING) < time]
        for each in further:
            self._promise(each)
        return further

    def _promise(self, guarantee: Guarantee) -> None:
        before = self.promised.get(guarantee.provider, BEGINNING)
        self.promised[guarantee.provider] = max(before, guarantee.time)

    def _let_go(self) -> None:
        assert self._chunk is not None
        self._end, self._chunk, self._ahead, self._low = self._chunk.end, None, None, 0

    def _read(self) -> Arriving:
        if self._ahead is None:
            assert self._chunk is not None
            origin = self.source.read(self._chunk)
            source = Source(origin, self.words)
            if not self.source.single and not isinstance(origin, JsonFiles):
                self._check_columns(origin.names())
            needed = self._needed
            loaded = Loading(source, needed).load()
            if not self.source.single:
                Rejects(list(loaded.rejected)).check(loaded.count, self._bad_rows)
            self._check_times(loaded)
            self._ahead = (Arriving([loaded]), loaded)
        return self._ahead[0]

    def _check_columns(self, found: Sequence[str]) -> None:
        """A file that lacks a column that others had: its rows would be NULL there without a word."""
        read = {name for attributes in self._needed.values() for name in attributes}
        missing = [name for name in self._columns if name in read and name not in found]
        if missing:
            assert self._chunk is not None
            where = self._chunk.done[0] if self._chunk.done else "what came last"
            primary = f'"{where}" has no column "{missing[0]}", which was there before'
            detail = f"the columns are: {', '.join(found) or 'none'}"
            hint = "mend the file, then run the job again: nothing of it was used"
            raise refused(self.name, "schema-changed", primary, detail=detail, hint=hint)

    def _check_times(self, loaded: Loaded) -> None:
        if len(loaded.times) and loaded.timestamps != self._timestamps:
            found, before = ("timestamps", "ticks") if loaded.timestamps else ("ticks", "timestamps")
            primary = f"its times are {found}, those of the job are {before}"
            raise refused(self.name, "time-unit-missing", primary, hint="set time_unit to s, ms, us or ns")

    # -- after a crash ------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Where it stands, as plain data."""
        return {
            "end": self._end,
            "chunk": None if self._chunk is None else self._chunk.as_data(),
            "low": self._low,
            "promises": self._promises.state(),
            "promised": list(self.promised.items()),
            "newest": self.newest,
            "ended": self.ended,
            "rows": self.rows,
        }

    def resume(self, state: Mapping[str, Any], done: Iterable[str], kept: bytes | None) -> None:
        """Go on from there."""
        self._end, self._low, self.ended, self.rows = state["end"], state["low"], state["ended"], state["rows"]
        self._promises.restore(state["promises"])
        self.promised, self.newest = dict(state["promised"]), state["newest"]
        chunk = state["chunk"]
        self._chunk = None if chunk is None else Chunk.of_data(chunk, kept)
        self._done = set(done)
        further = () if self._chunk is None else self._chunk.done
        self.source.resume(self._end if self._chunk is None else self._chunk.end, {*self._done, *further})


class Intake:
    """All sources of a job."""

    def __init__(self, inlets: Sequence[Inlet], most: int, clock: Callable[[], float], mode: str) -> None:
        """``mode``: when sources have ended, so that they promise that nothing more comes."""
        self.inlets = inlets
        self._most, self._clock, self._mode = most, clock, mode
        self._heard = {inlet.name: clock() for inlet in inlets}

    def plan(self) -> tuple[Plan, dict[str, bytes]] | None:
        """What the next batch reads; None if there is nothing to do now."""
        sources: dict[str, Plan] = {}
        kept: dict[str, bytes] = {}
        for inlet in self.inlets:
            found = None if inlet.ended else inlet.plan(self._most)
            if found is not None:
                self._heard[inlet.name] = self._clock()
                sources[inlet.name] = found[0]
                if found[1] is not None:
                    kept[inlet.name] = found[1]
        ended = [each.name for each in self.inlets if each.name not in sources and self._has_ended(each)]
        silent = self._silent(sources)
        if not sources and not ended and not silent:
            return None
        return {"sources": sources, "ended": ended, "silent": silent}, kept

    def take(
        self, plan: Plan, kept: Callable[[str], bytes | None]
    ) -> tuple[dict[str, Taken], dict[str, tuple[str, ...]]]:
        """What was planned, by source; and what is read in full with it."""
        taken: dict[str, Taken] = {inlet.name: Taken() for inlet in self.inlets}
        done: dict[str, tuple[str, ...]] = {}
        for inlet in self.inlets:
            own = plan["sources"].get(inlet.name)
            if own is not None:
                taken[inlet.name], done[inlet.name] = inlet.take(own, kept(inlet.name))
            if inlet.name in plan["ended"]:
                inlet.ended = True
                taken[inlet.name].messages += inlet.promise(END)
            if inlet.name in plan["silent"]:
                taken[inlet.name].messages += inlet.promise(plan["silent"][inlet.name])
        return taken, done

    @property
    def finished(self) -> bool:
        """Whether nothing will come any more."""
        return all(inlet.ended for inlet in self.inlets)

    def _has_ended(self, inlet: Inlet) -> bool:
        """For good; in a bounded run also what has nothing now, unless only its other end knows when it is over."""
        if inlet.ended or self._mode == "available":
            return False
        return inlet.source.finished or (self._mode == "once" and not inlet.source.pushed)

    def _silent(self, sources: Mapping[str, Any]) -> dict[str, Time]:
        """Who was silent for too long, and what is taken as its promise."""
        now = self._clock()
        silent = [
            inlet
            for inlet in self.inlets
            if inlet.idle is not None
            and not inlet.ended
            and inlet.name not in sources
            and now - self._heard[inlet.name] >= inlet.idle / 1e6
        ]
        if not silent:
            return {}
        others = [inlet.guarantee for inlet in self.inlets if inlet not in silent]
        newest = max(inlet.newest for inlet in self.inlets)
        time = min(min(others, default=newest), newest)
        return {inlet.name: time for inlet in silent if time > BEGINNING and inlet.guarantee < time}
