"""Card transactions for the quickstart: a CSV file as people have it.

    python examples/cards.py cards.csv --rows 200000

A third of the rows comes late, by up to two minutes.  One in a hundred is there twice, and one in a thousand is broken:
its amount is no number, or its time no time.  The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=UTC)
COUNTRIES = ("DE", "FR", "IT", "NL", "PL", "US")
HEADER = ("tx_id", "ts", "card", "amount", "country")
LATEST = 120.0
"""Seconds by which a row may come late."""


def transactions(count: int, seed: int) -> list[tuple[float, tuple[str, ...]]]:
    """Rows with the second in which each arrives."""
    chance = random.Random(seed)
    cards = max(1, count // 20)
    home = [chance.choice(COUNTRIES) for _ in range(cards)]
    second, rows = 0.0, []
    for number in range(count):
        second += chance.expovariate(2.3)
        card = chance.randrange(cards)
        country = home[card] if chance.random() < 0.97 else chance.choice(COUNTRIES)
        amount = f"{chance.lognormvariate(3.2, 1.0):.2f}"
        time = (START + timedelta(seconds=round(second, 3))).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if chance.random() < 0.001:
            amount, time = ("n.a.?", time) if chance.random() < 0.5 else (amount, "unknown")
        row = (f"T{number:07d}", time, f"C{card:05d}", amount, country)
        delay = chance.uniform(0.0, LATEST) if chance.random() < 1 / 3 else 0.0
        rows.append((second + delay, row))
        if chance.random() < 0.01:
            rows.append((second + delay + chance.uniform(0.0, 10.0), row))
    return sorted(rows, key=lambda each: each[0])


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    with asked.file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        writer.writerows(row for _, row in transactions(asked.rows, asked.seed))


if __name__ == "__main__":
    main()
