"""The end of a script: its graphs, the time of each on the machine, a step, dollars, suggestions. gathered() is all
that the process that ran it knows, as data; the rest is asked of the simulator."""
import collections
import json
import os

from trnsim.torch import _environment, _time

ALONE = "first at this line"


def named_calls():
    from trnsim.torch._collectives import CALLS as COLLECTIVES
    from trnsim.torch._record import CALLS
    from trnsim.torch._views import BACK, MADE
    return {call.id: call for table in (CALLS, MADE.values(), BACK.values(), COLLECTIVES.values()) for call in table}


def difference(before, after, names):
    """The change from one graph's calls to another's, in a few words."""
    for a, b in zip(before, after):
        if a == b:
            continue
        first, second = names.get(a), names.get(b)
        if first is None or second is None or str(first.func) != str(second.func):
            break
        shapes = [[list(m.shape) for m in call.ins] for call in (first, second)]
        if shapes[0] != shapes[1]:
            return f"shape: {first.func} of {shapes[1]} instead of {shapes[0]}"
        types = [[str(m.dtype) for m in call.ins] for call in (first, second)]
        if types[0] != types[1]:
            return f"type: {first.func} of {types[1]} instead of {types[0]}"
        return f"constant: {first.func} with {constants(second)} instead of {constants(first)}"
    if len(before) != len(after):
        return f"operators: {len(after)} instead of {len(before)}"
    return "operators: different ones" if before != after else "operators: the same, with other values read"


def other_batch(before, after, names):
    """Whether one graph is another of a batch of another size: the same operators, and the shapes of inputs that it
    only reads differ in one axis each."""
    funcs = [[str(getattr(names.get(call), "func", call)) for call in made.calls] for made in (before, after)]
    if funcs[0] != funcs[1] or before.updated != after.updated or len(before.leaves) != len(after.leaves):
        return False
    odd = [i for i, (a, b) in enumerate(zip(before.leaves, after.leaves)) if a != b]
    return bool(odd) and not before.updated.intersection(odd) and all(
        len(before.leaves[i]) == len(after.leaves[i]) and sum(map(int.__ne__, before.leaves[i], after.leaves[i])) == 1
        for i in odd)


def batches(programs):
    """For each program whether an earlier one at its line is the same but for the batch; pieces of a graph that differs
    by core are none."""
    names = named_calls()

    def again(made, before):
        return any((p.cause, p.line) == (made.cause, made.line) and other_batch(p, made, names) for p in before)
    return [not made.apart and again(made, programs[:i]) for i, made in enumerate(programs)]


def constants(call):
    """The arguments of a call besides tensors."""
    from trnsim.torch._values import Slot
    found = [x for x in list(call.args) + list(call.kwargs.values()) if not isinstance(x, Slot)]
    return repr(found).replace("\n", " ")[:60]


def changes(programs):
    """The news of each program against the one before it at the same line and cut."""
    known, out, names = {}, [], named_calls()
    for made in programs:
        near = known.get((made.cause, made.line)) or known.get(made.cause)
        if near and near.calls == made.calls and near.cast != made.cast:
            out.append(f"compiler flags: {made.cast} instead of {near.cast}")
        else:
            out.append(difference(near.calls, made.calls, names) if near else ALONE)
        known[(made.cause, made.line)] = known[made.cause] = made
    return out


def recompiled(programs):
    """For each program whether its line had another one before. One that trace() compiled ahead of time is none: the
    script asks for it."""
    seen, out = set(), []
    for made in programs:
        out.append((made.cause, made.line) in seen and not made.launched)
        seen.add((made.cause, made.line))
    return out


def gathered(engine):
    """All that the process knows."""
    programs = list(engine.programs.values())
    graphs = [{"graph": p.name, "operators": p.nodes, "cut": p.cause, "line": p.line, "changed": changed,
               "other_batch": other, "recompiled": again, "runs": p.runs, "collective": p.collective,
               "launched": p.launched,
               "numerics": p.numerics,
               "refused": engine.backend.refused.get(p.name, ""),
               "spread": getattr(p.program, "spread", 0)}
              for p, changed, other, again in zip(programs, changes(programs), batches(programs),
                                                  recompiled(programs))]
    return {"graphs": graphs, "log": list(engine.log), "reads": list(engine.reads),
            "moved": [(*where, size) for where, size in engine.moved.items()], "executions": len(engine.log),
            "cuts": dict(engine.cuts), "operators_recorded": engine.traced, "host_operators": dict(engine.counters),
            "cores": max(engine.ranks, engine.copies), "marks": engine.marks,
            "compile_seconds": engine.compile_seconds, "run_seconds": engine.run_seconds,
            "computes": engine.backend.computes, **_environment.told()}


def main_graph(figures):
    """The graph that a step is: of those that ran most often in a row of two or more, the one with most operators."""
    graphs = figures["graphs"]
    often = [g for g in graphs if g["runs"] > 1] or graphs
    return max(often, key=lambda g: g["operators"] * g["runs"])


def steps_alike(figures):
    """Names of the graphs that are a step: the main one, and those that were cut at the same line by the same cause
    and have at least a third of its operators. A changing batch, or a first step without an optimizer's state, is
    one."""
    main = main_graph(figures)
    return {g["graph"] for g in figures["graphs"]
            if (g["cut"], g["line"]) == (main["cut"], main["line"]) and 3 * g["operators"] >= main["operators"]}


def steps_in(figures):
    """Where in the log steps ran, and from which of them on they are steady: from the main graph's first run on."""
    log, alike = figures["log"], steps_alike(figures)
    steps, first = [i for i, name in enumerate(log) if name in alike], log.index(main_graph(figures)["graph"])
    return steps, [i for i in steps if i >= first]


def step_of(figures):
    """{graph: runs in a steady step}, and how many steps there were."""
    log, (steps, steady) = figures["log"], steps_in(figures)
    if len(steady) < 2:
        return dict(collections.Counter(log)), len(steps)
    inside = collections.Counter(log[steady[0]:steady[-1]])
    return {name: count / (len(steady) - 1) for name, count in inside.items()}, len(steps)


def reads_inside(figures):
    """How many reads cut graphs between the first step and the last, and how many steps these are."""
    steps, _ = steps_in(figures)
    return sum(steps[0] < place <= steps[-1] for place in figures.pop("reads")), len(steps) - 1


def moved_in_step(figures):
    """Bytes to the device and back in a steady step."""
    _, steady = steps_in(figures)
    out = {"to_device_bytes": 0, "to_host_bytes": 0}
    for place, way, size in figures.pop("moved"):
        if len(steady) < 2 or steady[0] < place <= steady[-1]:
            out["to_device_bytes" if way == "OutboundData" else "to_host_bytes"] += size / max(1, len(steady) - 1)
    return out


def written(figures, given, folder):
    """The report's text; its figures are in the folder, too."""
    figures["step"], figures["steps"] = step_of(figures)
    figures["main"], figures["reads_inside"] = main_graph(figures)["graph"], reads_inside(figures)
    figures["moved_in_step"] = moved_in_step(figures)
    if not given.numeric:
        _time.add(figures, given, folder)
    with open(os.path.join(folder, "torch.json"), "w", encoding="utf-8") as file:
        json.dump({k: v for k, v in figures.items() if k != "log"}, file, indent=1)
    return text(figures, given, folder)


def graph_lines(figures):
    graphs = figures["graphs"]
    lines = []
    for graph in graphs[:20]:
        time = figures.get("times", {}).get(graph["graph"], {})
        told = f" {1e3 * time['device_step_seconds']:9.3f} ms" if "device_step_seconds" in time else ""
        minutes = f", compiler {time['compile_seconds'] / 60:.1f} min" if time.get("compile_seconds") else ""
        lines.append(f"  {graph['graph']:<9} {graph['operators']:>6} operators {graph['runs']:>5} runs{told}{minutes}  "
                     f"{graph['cut']} at {graph['line']}: {graph['changed']}")
        if graph["refused"]:
            lines.append(f"            computed by the reference interpreter: {graph['refused']}")
        if "error" in time:
            lines.append(f"            no time: {time['error']}")
    if len(graphs) > 20:
        lines.append(f"  and {len(graphs) - 20} more, in torch.json")
    return lines


def computed_by(figures):
    refused = [g for g in figures["graphs"] if g["refused"]]
    if not figures["computes"]:
        return "no values: --timed"
    spread = sum(g["spread"] for g in figures["graphs"])
    again = f"; {spread} runs with infinities or NaN, which TensorE spreads, by the reference " \
            "interpreter" if spread else ""
    if not refused:
        return f"the simulated instructions{again}"
    runs = sum(g["runs"] for g in refused)
    return f"the simulated instructions; {len(refused)} of {len(figures['graphs'])} graphs ({runs} of " \
           f"{figures['executions']} runs) by the reference interpreter{again}"


def text(figures, given, folder):
    again = sum(g["recompiled"] for g in figures["graphs"])
    cores = "core" if figures["cores"] == 1 else "cores"
    lines = ["", f"***** simulated device: {figures['cores']} {cores} *****",
             f"computed by               {computed_by(figures)}",
             f"graphs                    {len(figures['graphs'])} compiled, {again} of them recompilations; "
             f"{figures['executions']} runs",
             "cut by                    " + ", ".join(f"{n} x {cause}" for cause, n in sorted(figures["cuts"].items())),
             f"operators recorded        {figures['operators_recorded']}"]
    if figures["environment"]:
        lines.append("obeyed                    " + ", ".join(figures["environment"]))
    if figures["unused"]:
        lines.append("without effect here       " + ", ".join(figures["unused"]))
    if figures["host_operators"]:
        lines.append("left to the host          " + ", ".join(
            f"{k} x {n}" for k, n in figures["host_operators"].items()))
    if not given.numeric:
        lines += _time.lines(figures, given)
    lines.append(f"this simulator            {figures['compile_seconds']:.1f} s compiling programs, "
                 f"{figures['run_seconds']:.1f} s computing them")
    lines += graph_lines(figures)
    lines.append(f"results in                {folder}")
    return "\n".join(lines)
