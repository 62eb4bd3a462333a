#!/usr/bin/env bash
# Makes the virtual environment from requirements.lock, hashes checked, and installs this project into it.
# Called by make with PYTHON and VENV set; safe to run again. Says one line per step, and shows the
# output of a step only when the step fails.
set -euo pipefail

PYTHON="${PYTHON:-python3}"
VENV="${VENV:-.venv}"
LOG="$(mktemp)"
trap 'rm -f "$LOG"' EXIT

step() { # step "what is being done" command...
    local what="$1"
    shift
    echo "setup: $what"
    if ! "$@" >"$LOG" 2>&1; then
        cat "$LOG" >&2
        echo "setup: failed: $what" >&2
        exit 1
    fi
}

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

install_packages() { # Debian only, and only as root
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    step "installing $* (apt)" env DEBIAN_FRONTEND=noninteractive \
        bash -c 'apt-get update -qq; apt-get install -y -qq --no-install-recommends "$@"' apt "$@"
}

if ! command -v "$PYTHON" >/dev/null; then
    install_packages python3 python3-venv || { echo "setup: no $PYTHON found; name one: make PYTHON=..." >&2; exit 1; }
fi
new_enough "$PYTHON" || { echo "setup: $PYTHON is older than 3.11; name another: make PYTHON=python3.11 ..." >&2; exit 1; }

# Debian ships venv and ensurepip apart from Python itself.
if ! "$PYTHON" -c 'import venv, ensurepip' 2>/dev/null; then
    install_packages python3-venv || { echo "setup: $PYTHON cannot make environments; install python3-venv" >&2; exit 1; }
fi

if ! [ -x "$VENV/bin/python" ] || ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$VENV"
    step "making $VENV with $("$PYTHON" --version)" "$PYTHON" -m venv "$VENV"
fi

PIP=("$VENV/bin/python" -m pip --disable-pip-version-check --quiet)
step "installing $(grep -c '==' requirements.lock) locked packages" \
    "${PIP[@]}" install --require-hashes --no-deps -r requirements.lock
step "installing cedr itself" "${PIP[@]}" install --no-deps --no-build-isolation --editable .
echo "setup: ready"
