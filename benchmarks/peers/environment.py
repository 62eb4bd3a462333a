"""The peers' own environment: made once for each state of its lock, hashes checked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = Path(".build/peers/venv")


def python() -> Path:
    """The interpreter of the environment, which is made or renewed where the lock has changed."""
    program, stamp = FOLDER / "bin" / "python", FOLDER / ".ready"
    lock = HERE / "requirements.lock"
    wanted = sha256(lock.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
        print("peers: installing Flink and DuckDB into their own environment", file=sys.stderr)
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.parent.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", FOLDER])
        installer = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--python", program]
        _run([*installer, "--require-hashes", "-r", lock])
        stamp.write_text(wanted, "utf-8")
    return program


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"peers: failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
