"""Writes the errors of docs/accuracy.md into README.md, between two marks.

    readme.py PAGE README      the README is written only where its table differs
"""
import pathlib
import sys

BEGIN, END = "<!-- errors: written by ./dev accuracy -->\n", "<!-- /errors -->"
HEAD = ["published measurements", "rows", "predicted", "mean error", "median", "worst", "worst row"]
SUMS = {"micro", "all"}  # of the other rows


def regimes(page):
    """The rows of the page's first table, as lists of cells."""
    lines = page[page.index("| regime |"):].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def table(page):
    lines = [f"| {' | '.join(HEAD)} |", "|---|---:|---:|---:|---:|---:|---|"]
    for regime, rows, predicted, mean, median, worst, row, *_ in regimes(page):
        if regime not in SUMS:
            errors = [f"{x} %" if x else "" for x in (mean, median, worst)]
            lines.append(f"| {' | '.join([regime, rows, predicted, *errors, row])} |")
    return "\n".join(lines) + "\n"


def main(page, readme):
    file = pathlib.Path(readme)
    before, rest = file.read_text(encoding="utf-8").split(BEGIN)
    text = before + BEGIN + table(pathlib.Path(page).read_text(encoding="utf-8")) + END + rest.split(END, 1)[1]
    if text != file.read_text(encoding="utf-8"):
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
