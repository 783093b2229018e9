"""The work of a script on the device: graphs, why each is another one, host time."""


def difference(old, new):
    """The change from one graph's key to another's, in a few words."""
    from trnsim.torch._record import CALLS
    names = {call.id: call for call in CALLS.values()}
    before, after = old[0], new[0]
    if len(before) != len(after):
        return f"{len(after)} operators and not {len(before)}"
    for a, b in zip(before, after):
        if a[0] == b[0]:
            continue
        first, second = names.get(a[0]), names.get(b[0])
        if first is None or second is None or str(first.func) != str(second.func):
            return "other operators"
        shapes = [[list(m.shape) for m in call.ins] for call in (first, second)]
        if shapes[0] != shapes[1]:
            return f"shapes: {first.func} of {shapes[1]} and not {shapes[0]}"
        return f"a constant of {first.func}"
    return "what is read of it"


def rows(engine):
    """(name, operators, cause, line, what changed since the graph before)."""
    out, known = [], {}
    for i, (key, cause, line, nodes) in enumerate(engine.history):
        near = known.get((cause, line))
        out.append((f"graph{i}", nodes, cause, line, difference(near, key) if near else "first at this line"))
        known[(cause, line)] = key
    return out


def text(engine):
    again = sum(1 for row in rows(engine) if row[4] != "first at this line")
    lines = ["", "***** simulated device *****",
             f"computed by               {engine.backend.words}",
             f"graphs                    {len(engine.programs)} compiled, {again} of them recompilations",
             f"executions                {engine.runs}",
             f"cut by                    " + ", ".join(f"{n} x {cause}" for cause, n in sorted(engine.cuts.items())),
             f"operators recorded        {engine.traced}",
             f"host seconds              {engine.compile_seconds:.3f} making programs, {engine.run_seconds:.3f} "
             "computing them (of this simulator, not of the machine)"]
    if engine.counters:
        lines.append("left to the host          " + ", ".join(f"{k} x {n}" for k, n in engine.counters.items()))
    for name, nodes, cause, line, why in rows(engine)[:20]:
        lines.append(f"  {name:<10} {nodes:>6} operators  {cause} at {line}: {why}")
    if len(engine.history) > 20:
        lines.append(f"  and {len(engine.history) - 20} more")
    lines.append("time of the machine       --out FOLDER keeps graphs; trnsim run FOLDER/graph1.mlir tells the time")
    return "\n".join(lines)


def record(engine):
    """The same as data."""
    keys = ("graph", "operators", "cause", "line", "changed")
    return {"graphs": [dict(zip(keys, row)) for row in rows(engine)], "executions": engine.runs,
            "cuts": dict(engine.cuts), "operators_recorded": engine.traced, "host_operators": dict(engine.counters),
            "compile_seconds": engine.compile_seconds, "run_seconds": engine.run_seconds,
            "computed_by": engine.backend.words}
