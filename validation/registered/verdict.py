"""Holds registered predictions against the published times, and what the program says today beside them.

    verdict.py BINARY      writes verdict.md beside this script

Tables whose rows may not be copied are read from the folder that TRNSIM_TABLES names; without it their lines stay as
they were written last."""

import csv
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TABLES = HERE.parent / "tables"
COLUMNS = TABLES / "columns"
HEAD = ["table", "rows", "registered", "mean", "worst", "predicted today", "mean today", "worst today"]
ABOUT = """## Registered predictions of Trainium2

These predictions were [committed](../validation/registered/trn2.csv) (451f55e8, made by ad546832) before any of the
times was compared. At that time, the constants of NeuronCore-v3 came only from documentation and from the 28 rows of
[instructions](../validation/tables/instructions_trn2.csv). `mean` and `worst` are the errors of those predictions in
per cent and never change. The columns beside them are today's errors, after mechanisms were added where the first
predictions were off. Most of the first error came from matmuls that never warmed up, because each pause between two of
them cooled the PE array."""


def folder_of(table):
    for folder in [TABLES, pathlib.Path(os.environ.get("TRNSIM_TABLES", "/nowhere"))]:
        if (folder / f"{table}.csv").is_file():
            return folder
    return None


def published(path):
    with open(path, newline="", encoding="utf-8") as table:
        return {row["id"]: float(row["value"]) for row in csv.DictReader(table)}


def today(binary, path):
    """Predictions by id; a table without the columns that they read gets them first."""
    table = pathlib.Path(path)
    converted = subprocess.run([sys.executable, "-B", COLUMNS, table], capture_output=True, text=True, check=True).stdout
    copy = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"verdict.{os.getpid()}.csv"
    copy.write_text(converted)
    try:
        text = subprocess.run([binary, "validate", copy, "--format", "json"], capture_output=True, text=True,
                              check=True).stdout
    finally:
        copy.unlink()
    return {row["id"]: row["predicted"] for row in json.loads(text)}


def errors(predicted, measured):
    each = [abs(value / measured[name] - 1) * 100 for name, value in predicted.items() if value is not None]
    return [len(each), f"{sum(each) / len(each):.1f}", f"{max(each):.1f}"] if each else [0, "", ""]


def line(binary, table, rows):
    folder = folder_of(table)
    if folder is None:
        return None
    measured = published(folder / f"{table}.csv")
    first = {row["id"]: float(row["predicted"]) if row["predicted"] else None for row in rows}
    return [table, len(rows), *errors(first, measured), *errors(today(binary, folder / f"{table}.csv"), measured)]


def main():
    page = HERE / "verdict.md"
    kept = {text.split("|")[1].strip(): text for text in page.read_text().splitlines() if text.startswith("| ")
            } if page.exists() else {}
    tables = {}
    with open(HERE / "trn2.csv", newline="", encoding="utf-8") as registered:
        for row in csv.DictReader(registered):
            tables.setdefault(row["table"], []).append(row)
    out = [ABOUT, "", "| " + " | ".join(HEAD) + " |", "|---" + "|---:" * (len(HEAD) - 1) + "|"]
    for table, rows in tables.items():
        cells = line(sys.argv[1], table, rows)
        out.append("| " + " | ".join(str(cell) for cell in cells) + " |" if cells else kept[table])
    page.write_text("\n".join(out) + "\n")


main()
