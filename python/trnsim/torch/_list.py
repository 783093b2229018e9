"""`trnsim list ops --frontend aten`: PyTorch's operators on the device, from the tables of the rules."""
import csv
import io
import json
import sys

from trnsim._errors import Parser

HOW = {"rule": "a rule of its own", "decomposition": "PyTorch's decomposition into others",
       "host": "the host: its result's shape, or a random number, depends on values", "recorder": "the recorder"}


def rows():
    """(operator, how it is computed), by name."""
    from torch._decomp import decomposition_table

    from trnsim.torch import _rules, _special  # noqa: registers the rules
    from trnsim.torch._lower import RULES
    found = {}
    for func in decomposition_table:
        found[func._schema.name.split("::")[-1]] = "decomposition"
    for name in RULES:
        found[name] = "rule"
    for name in _special.HOST | _special.RANDOM:
        found[name] = "host"
    for name in _special.FACTORIES | _special.ALIASES | set(_special.NAMED):
        found.setdefault(name, "recorder")
    return sorted(found.items())


def rendered(table, form):
    if form == "json":
        return json.dumps([{"operator": name, "computed_by": how} for name, how in table], indent=1)
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([("operator", "computed_by"), *table])
        return out.getvalue().rstrip("\n")
    if form == "md":
        lines = [f"| {name} | {HOW[how]} |" for name, how in table]
        return "\n".join(["| operator | computed by |", "|---|---|", *lines])
    width = max(len(name) for name, _ in table)
    return "\n".join([f"{'operator':<{width}}  computed by"] + [f"{name:<{width}}  {HOW[how]}" for name, how in table])


def main():
    parser = Parser(prog="trnsim list ops --frontend aten")
    parser.add_argument("--format", choices=("table", "json", "csv", "md"), default="table")
    given = parser.parse_args()
    try:
        print(rendered(rows(), given.format))
    except ImportError as error:
        print(f"environment error: trnsim list ops: {error}\n  fix: install python3-torch", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
