#!/usr/bin/env bash
# Builds a wheel and tries it: in a fresh environment for each Python that is named, without and with the extra, the
# first query of the README must give its row, and the demo must run.  With the extra Spark gives that row too, and
# without it the command says how to install it.  Usage: tools/wheels.sh PYTHON...
set -euo pipefail

VENV="${VENV:-.venv}"
FOLDER="$(mktemp -d)"
trap 'rm -rf "$FOLDER"' EXIT

# grep reads to the end (no -q): a pipe that is closed early would be a failure of the command before it.
"$VENV/bin/python" -m hatchling build -t wheel -d "$FOLDER" >/dev/null 2>&1
WHEEL="$(ls "$FOLDER"/*.whl)"
printf 'tx_id,ts,card,amount\nt1,2026-03-01 12:00:00,A17,19.90\nt2,2026-03-01 12:00:20,A17,500.00\n' >"$FOLDER/tx.csv"
printf 'EVENT Quick WHEN SEQUENCE(TX a, TX b, 1 minute) WHERE CorrelationKey(card, EQUAL) OUTPUT a.card AS card\n' \
    >"$FOLDER/fraud.cedr"

for python in "$@"; do
    for extra in "" "[spark]"; do
        made="$FOLDER/environment"
        rm -rf "$made"
        "$VENV/bin/uv" venv --quiet --python "$python" "$made"
        "$VENV/bin/uv" pip install --quiet --python "$made/bin/python" "cedr$extra @ file://$WHEEL"
        evaluate=("$made/bin/cedr" eval fraud.cedr --events tx.csv --type TX --time ts --id tx_id)
        cd "$FOLDER"
        "${evaluate[@]}" | grep A17 >/dev/null
        if [ -n "$extra" ]; then
            "${evaluate[@]}" --host spark 2>/dev/null | grep A17 >/dev/null
        else
            { "${evaluate[@]}" --host spark 2>&1 || true; } | grep -F "pip install 'cedr[spark]'" >/dev/null
        fi
        "$made/bin/cedr" demo --host local 2>/dev/null | grep "They agree at the sync point" >/dev/null
        cd - >/dev/null
        echo "wheels: cedr$extra on $("$python" --version): the quickstart and the demo run"
    done
done
