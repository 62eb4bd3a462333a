"""Which files make up the project: what a clone would hold, and nothing that a tool has made."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "cedr"
DEMO = ROOT / "examples" / "cedr_demo"
_MADE = frozenset({".git", ".venv", ".build", "dist", "htmlcov"})


@cache
def project_files() -> tuple[Path, ...]:
    """Every file that is tracked or would be; without git (an unpacked archive) every file not made by a tool."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True)
        names = [name for name in done.stdout.decode("utf-8").split("\0") if name]
        found = (ROOT / name for name in names)
    except (OSError, subprocess.CalledProcessError):
        found = (path for path in ROOT.rglob("*") if not _made(path.relative_to(ROOT)))
    return tuple(sorted(path for path in found if path.is_file()))


def _made(path: Path) -> bool:
    return any(part in _MADE or part.endswith(("_cache", ".egg-info", "__pycache__")) for part in path.parts)


def project_texts() -> list[tuple[Path, str]]:
    """The text files of the project with their text; binary ones are left out."""
    found = []
    for path in project_files():
        data = path.read_bytes()
        if b"\0" not in data:
            found.append((path.relative_to(ROOT), data.decode("utf-8", errors="replace")))
    return found


def modules() -> list[Path]:
    """The modules of the package and of the demo."""
    return [*sorted(SOURCE.rglob("*.py")), *sorted(DEMO.rglob("*.py"))]


def markdown_pages() -> list[Path]:
    """Every Markdown page of the project."""
    return [path for path in project_files() if path.suffix == ".md"]
