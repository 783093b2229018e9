"""Asks the simulator for the time, memory and price of each graph, and adds them up for the script."""
import json
import os
import re
import time

MOST_SECONDS = 120.0  # of asking; graphs that ran most come first
FIGURES = ("step_seconds", "device_step_seconds", "host_step_seconds", "collectives_exposed_seconds",
           "compile_seconds", "compile_first_seconds", "price_per_hour", "instance_type", "instances",
           "framework_ops", "host_memory_bytes")


def settings_of(given, graph):
    out = {"mode": "timed", "suggestions": "0", "numerics": graph["numerics"]}
    if graph["launched"]:
        out["stack"] = "bare"
    if given.instance_type:
        out["instance_type"] = given.instance_type
    return out


class Late(Exception):
    """The time for asking is over."""


def asked(jobs, hear):
    """Each job's answer to `hear`, or the error of those that have none. One process answers all of them: graphs of a
    script have most blocks in common. A job that ends the process has no answer, and another process the next."""
    from trnsim import Error, _core
    waiting = list(jobs)

    def answered(text):
        answer = json.loads(text)
        waiting.pop(0)
        hear(Error(answer["where"], answer["what"], "") if "what" in answer else answer)

    while waiting:
        try:
            _core.call("project_each", json.dumps({"jobs": waiting}), answered, False)
        except Error as error:
            if waiting:
                waiting.pop(0)
                hear(error)


def timed(answer):
    """The figures of a graph that the report needs."""
    figures = answer["figures"]
    out = {name: figures[name] for name in FIGURES if name in figures}
    out["memory"] = {"hbm_bytes": figures["memory"]["hbm_bytes"], "capacity": figures["memory"]["hbm_capacity_bytes"],
                     "by_kind": figures["memory"]["by_kind"]}
    out["engines"] = {e["engine"]: e["busy_percent"] for e in figures["stages"][0]["engines"]}
    out["resources"] = {r["name"]: r["busy"] for r in answer["result"]["resources"]}
    out["parts"] = {part["name"]: part["seconds"] for part in figures["parts"]}
    return out


def reason(error, settings):
    """An error's first line. A setting that it names and that was not given is left out: the script has decided it."""
    text = str(error).splitlines()[0]
    named = re.match(r"`(\w+)`: ", text)
    return text if named is None or named[1] in settings else text[named.end():]


def add(figures, given, folder):
    """Times of the graphs, the step's and the script's; the main graph's results are in the folder as a workload's."""
    from trnsim import Error
    begin = time.monotonic()
    graphs = sorted(figures["graphs"], key=lambda g: (g["graph"] != figures["main"], -g["operators"] * g["runs"]))
    jobs = [{"job": os.path.join(folder, graph["graph"] + ".mlir"), "settings": settings_of(given, graph),
             "set": given.set} for graph in graphs]
    figures["times"] = {}

    def take(answer):
        place = len(figures["times"])
        error = isinstance(answer, Error)
        figures["times"][graphs[place]["graph"]] = \
            {"error": reason(answer, jobs[place]["settings"])} if error else timed(answer)
        if time.monotonic() - begin > MOST_SECONDS:
            raise Late

    try:
        take(main_run(jobs[0], folder, given.steps or figures["steps"]))
        asked(jobs[1:], take)
    except Late:
        pass
    figures["untimed"] = [graph["graph"] for graph in graphs[len(figures["times"]):]]
    figures["of_step"] = summed(figures, figures["step"])
    figures["of_script"] = summed(figures, {g["graph"]: g["runs"] for g in figures["graphs"]})
    compiled = [t["compile_seconds"] for t in figures["times"].values() if "compile_seconds" in t]
    figures["neuronx_cc_seconds"] = sum(compiled)
    figures["copy_bandwidth"] = copy_bandwidth()


def copy_bandwidth():
    """Bytes per second between host and device: of the runtime, whatever runs on it."""
    from trnsim import _core
    stacks = json.loads(_core.ask("list", json.dumps({"what": "stacks"})))
    return next(s["copy_bandwidth"] for s in stacks if s["name"] == "bare")


def copies(figures, step):
    """The line that tells how much a step moves between host and device, unless it is next to nothing. The times leave
    it out: loaders move batches while the device works, and no publisher says how fast results come back."""
    to_device, to_host = figures["moved_in_step"]["to_device_bytes"], figures["moved_in_step"]["to_host_bytes"]
    seconds = (to_device + to_host) / figures["copy_bandwidth"]
    if seconds < 0.02 * step["seconds"]:
        return []
    return [f"not in these times        {to_device / 2**20:.3g} MiB to the device and {to_host / 2**20:.3g} MiB back "
            f"in a step: {duration(seconds)} at {figures['copy_bandwidth'] / 1e9:.3g} GB/s, if nothing hides them"]


def main_run(job, folder, steps):
    """The answer, or the error."""
    from trnsim import Error, _core
    settings = dict(job["settings"], output_dir=folder, overwrite_output_dir="true", max_steps=str(steps))
    try:
        return json.loads(_core.call("run", json.dumps(dict(job, settings=settings, folder=folder)), None, True))
    except Error as error:
        return error


def summed(figures, runs):
    """Seconds and dollars of so many runs of each graph; `left_out`: runs without a time."""
    out = {"seconds": 0.0, "device_seconds": 0.0, "host_seconds": 0.0, "dollars": 0.0, "left_out": 0,
           "collectives_exposed_seconds": 0.0}
    for name, count in runs.items():
        one = figures["times"].get(name)
        if one is None or "error" in one:
            out["left_out"] += count
            continue
        out["seconds"] += count * one["step_seconds"]
        out["device_seconds"] += count * one["device_step_seconds"]
        out["host_seconds"] += count * one["host_step_seconds"]
        out["collectives_exposed_seconds"] += count * one.get("collectives_exposed_seconds", 0.0)
        if one.get("price_per_hour"):
            out["dollars"] += count * one["step_seconds"] / 3600 * one["price_per_hour"] * one.get("instances", 1)
    return out


def duration(seconds):
    for size, unit in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def money(dollars):
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.2g}"


def binding(step, main):
    """The part that sets the time of a step."""
    if step["host_seconds"] > step["device_seconds"]:
        return f"the host: {duration(step['host_seconds'])} of a step, while the device works " \
               f"{duration(step['device_seconds'])}"
    if step["collectives_exposed_seconds"] > step["device_seconds"] / 2:
        return f"collectives: {duration(step['collectives_exposed_seconds'])} of a step are spent waiting for other " \
               "cores"
    name, busy = max(main["resources"].items(), key=lambda item: item[1])
    told = {"dma engines": "DMA engines are", "hbm": "memory (HBM) is",
            "collectives (exposed)": "collectives are"}.get(name, f"{name} engine is")
    return f"the device: its {told} busy {busy:.0f} % of the main graph"


def lines(figures, given):
    main = figures["times"].get(figures["main"], {})
    if "error" in main:
        return [f"time of the machine       none: {main['error']}"]
    step, script, steps = figures["of_step"], figures["of_script"], figures["steps"]
    per_step = sum(figures["step"].values())
    out = [f"machine                   {main['instances']} x {main['instance_type']}",
           f"a step                    {duration(step['seconds'])}: device {duration(step['device_seconds'])}, host "
           f"{duration(step['host_seconds'])} (graphs: {per_step:.3g}; the main one is {figures['main']})",
           f"bound by                  {binding(step, main)}",
           f"memory                    {main['memory']['hbm_bytes'] / 2**20:.1f} of "
           f"{main['memory']['capacity'] / 2**20:.0f} MiB a core",
           f"the script                {duration(script['seconds'])} for its {steps} steps and everything else, "
           f"{money(script['dollars'])}"]
    out += copies(figures, step)
    if given.steps:
        out.append(f"{given.steps} steps".ljust(26) + f"{duration(given.steps * step['seconds'])}, "
                   f"{money(given.steps * step['dollars'])}")
    ahead, every = sum(g["launched"] for g in figures["graphs"]), len(figures["times"])
    told = [f"{duration(figures['neuronx_cc_seconds'])} for {every - ahead} graphs, without its cache"]
    told = told if every > ahead else []
    told += [f"no time for {ahead} that trace() compiled ahead of time"] if ahead else []
    out.append("neuronx-cc".ljust(26) + "; ".join(told))
    if figures["untimed"] or script["left_out"]:
        out.append(f"without a time            {len(figures['untimed'])} graphs were not timed; "
                   f"{script['left_out']:.3g} runs are left out above")
    return out + [f"suggestion                {text}" for text in suggestions(figures, step, main)]


def suggestions(figures, step, main):
    """Changes that would help, from the counts."""
    out, graphs = [], figures["graphs"]
    least = next(g["operators"] for g in graphs if g["graph"] == figures["main"]) / 3  # a smaller one is no step
    shapes = [g for g in graphs if g["other_batch"] and g["operators"] >= least]
    fixed = [g for g in graphs if g["changed"].startswith("constant")]
    if len(shapes) > 1:
        out.append(f"{len(shapes)} graphs differ only in shapes: pad batches to one shape, or drop the last "
                   "(drop_last=True)")
    if len(fixed) > 1:
        out.append(f"{len(fixed)} graphs differ in a constant: make it a tensor, as xm.send_cpu_data_to_device does")
    reads, steps = figures["reads_inside"]
    if reads > steps:
        out.append(f"{reads} reads cut graphs in {steps} steps: read the loss every tenth step, or in "
                   "xm.add_step_closure")
    if step["host_seconds"] > 2 * step["device_seconds"] and not (len(shapes) > 1 or reads > steps):
        out.append("the device waits for the host: a larger batch does not take the host longer")
    return out
