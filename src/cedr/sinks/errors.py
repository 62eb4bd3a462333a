"""What can be wrong with the place where answers go, in the words that every sink uses."""

from __future__ import annotations

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import SinkError


def failed(place: str, error: BaseException | str, hint: str = "") -> SinkError:
    """Something of the outside failed; the batch was not stored, and may be written again."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return SinkError(Diagnostic("sink-failed", f"{place} cannot be written: {reason}", hint=hint))


def not_ours(place: str) -> SinkError:
    """There is something of that name, and we have not made it."""
    hint = "name another place, or remove it"
    return SinkError(Diagnostic("view-not-ours", f"{place} is there already, and CEDR has not made it", hint=hint))


def dropped(place: str, batch: int | None) -> SinkError:
    """What we had made is gone."""
    primary = f"{place} is gone, but had stored batch {batch}"
    return SinkError(Diagnostic("view-dropped", primary, hint=_HINT))


def altered(place: str, what: str) -> SinkError:
    """What we had made is not as we left it."""
    return SinkError(Diagnostic("view-altered", f"{place} is not as CEDR left it: {what}", hint=_HINT))


def differs(place: str, what: str) -> SinkError:
    """What is stored has other columns than the output has now."""
    hint = "the query has changed: name another place, and let the job begin anew"
    return SinkError(Diagnostic("view-differs", f"{place} holds another output: {what}", hint=hint))


def other_writer(place: str, expected: int | None, found: int | None) -> SinkError:
    """Somebody else writes to it."""
    primary = f"{place} has stored batch {found} where this job had stored {expected}: something else writes to it"
    return SinkError(Diagnostic("two-writers", primary, hint="let each job write to a place of its own"))


def behind(place: str, stored: int | None, kept: int) -> SinkError:
    """It has less than it had."""
    has = "holds no batch" if stored is None else f"ends with batch {stored}"
    primary = f"{place} {has}, but had stored batch {kept} when the checkpoint was made"
    return SinkError(Diagnostic("sink-behind", primary, hint=_HINT))


def ahead(place: str, stored: int, planned: int | None) -> SinkError:
    """It has what this job never made."""
    made = "none" if planned is None else f"{planned} at most"
    primary = f"{place} holds batches up to {stored}, and this job has made {made}"
    hint = "they are of another checkpoint: name that one, or another place, or remove what is there"
    return SinkError(Diagnostic("sink-ahead", primary, hint=hint))


_HINT = "restore it from a copy, or let the job begin anew: another checkpoint, and another place or none of this name"
