#!/usr/bin/env python3
"""Adds to a table of published measurements the columns that a prediction reads, guessed from the words of the others.

    ./dev columns OLD.csv >NEW.csv

../README.md explains each column, and the meaning of an empty cell. A column that the table has already is left
unchanged. These are guesses: read the new columns row by row before you believe a prediction.
"""

import csv
import sys

import jobs
import kernels
from words import publisher_of


def kind_of_table(header):
    """The kind of its rows, by a column that no other kind has; the new columns."""
    if "metric" in header:
        return jobs.job_columns, jobs.JOB_COLUMNS
    if "cold" in header:
        return kernels.graph_columns, ["graph", "publisher"]
    return kernels.micro_columns, ["kernel", "publisher"]


def convert(table, out):
    rows = list(csv.reader(table))
    header, rows = rows[0] if rows else [], [dict(zip(rows[0], cells)) for cells in rows[1:] if cells]
    if not {"id", "kind", "source", "notes"} <= set(header):
        sys.exit("columns: this is no table of measurements\n  fix: see docs/validation.md for the columns of one")
    guess, known = kind_of_table(header)
    new = [column for column in known if column not in header]
    for row in rows:
        guessed = guess(row) | {"publisher": publisher_of(row["source"])}
        row.update({column: str(guessed.get(column, "")) for column in new})
        # Sizes that a variant's name stands for, where the table has none.
        row.update({column: str(size) for column, size in guessed.items()
                    if column in header and column not in known and row[column] in ("", "0", "-", "unknown")})
    new = [column for column in new if any(row[column] for row in rows)]
    at = header.index("source")
    header = header[:at] + new + header[at:]
    writer = csv.DictWriter(out, header, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: columns OLD.csv >NEW.csv")
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as table:
        convert(table, sys.stdout)


if __name__ == "__main__":
    main()
