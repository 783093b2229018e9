"""Which names of NKI are there: every documented one, and why a name is not."""
import json

from trnsim.nki import _strict, _table
from trnsim.nki._newer import _table as newer_table
from trnsim.nki._newer.lacking import REASONS

_WHY = {"nl.all_reduce": "over one program only: programs of a grid run one after the other",
        "nl.device_print": "once the kernel is computed; nothing where it is timed"}
DIALECTS = {"neuronxcc.nki": _strict.rows(_table.TEXT), "nki": _strict.rows(newer_table.TEXT)}


def _reason(dialect, row):
    """Why a name is refused; empty where it is there."""
    short = row.name.partition(".")[2]
    if dialect == "nki" and row.name.startswith("nisa.") and short in REASONS:
        return REASONS[short]
    if row.first > 3:
        return f"NeuronCore-v{row.first} and later"
    return ""


def entries():
    """(dialect, name, parameters, engines, first generation, why not) of each documented name."""
    return [{"dialect": dialect, "name": row.name, "parameters": row.parameters, "engines": row.engines,
             "first": row.first, "refused": _reason(dialect, row), "note": _WHY.get(row.name, "")}
            for dialect, table in DIALECTS.items() for row in table.values()]


def listing(form="text"):
    """Each documented name of both dialects: there, on which chips and engines, or why not."""
    if form == "json":
        return json.dumps(entries(), indent=1)
    out, dialect = [], None
    for e in entries():
        if e["dialect"] != dialect:
            dialect = e["dialect"]
            out.append(f"{dialect} (import {dialect})")
        chips = f"NeuronCore-v{e['first']} and later" if e["first"] > 2 else ""
        yes = "yes" + (f": {e['note']}" if e["note"] else "")
        words = " ".join(w for w in ("no: " + e["refused"] if e["refused"] else yes, e["engines"], chips) if w)
        out.append(f"  {e['name']:34} {words}")
    return "\n".join(out + ["  nccl.*                             no: collectives inside a kernel"])
