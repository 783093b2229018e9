"""Many kernels in the order of their times: which is fastest, which is right, what each waits for, which is refused."""
import concurrent.futures
import contextlib
import glob
import inspect
import itertools
import json
import multiprocessing
import os
import runpy
import sys
import tempfile

import numpy as np

from trnsim._errors import Error
from trnsim.nki import _cache, _jit, _report, _scripts

TOLERANCE = {2: 2e-2, 1: 1e-1}  # of the norm, by the bytes of the first argument's numbers; others 1e-5


def rank(candidates, inputs=None, *, numbers=True, processes=0, cache=True):
    """Measures kernels and returns their rows as dicts, the fastest first, refused ones last. `candidates`:
    scripts, folders with scripts, or kernels. `inputs`: a script with inputs(), and perhaps reference(*inputs),
    or a list of arrays; by default each script's own inputs(), or the first call of a kernel in it. The machine
    and the passes are those of the command. `processes`: how many scripts run at a time, each in a process of
    its own; 0: all in this process, one after the other."""
    named = _named(candidates)
    if not named:
        raise Error("rank", "no candidate was found", "name scripts, or folders with scripts")
    _check_scripts([*named, inputs])
    tasks = [_task(c, inputs, numbers) for c in named]
    return ordered(_evaluated(tasks, numbers, processes, cache))


def ordered(rows):
    """The rows by time, refusals last, with their places."""
    good = sorted((r for r in rows if not r.get("error")), key=lambda r: r["seconds"])
    for place, row in enumerate(good, 1):
        row["rank"] = place
    return good + [dict(r, rank=None) for r in rows if r.get("error")]


def tune(kernel, parameters, inputs=None, *, numbers=True, processes=0, cache=True):
    """Ranks one kernel under every combination of its keyword arguments. `parameters`: {name: values}."""
    _check_scripts([kernel, inputs])
    names = list(parameters)
    tasks = []
    for values in itertools.product(*parameters.values()):
        tasks.append(_task(kernel, inputs, numbers) | {"parameters": dict(zip(names, values))})
    return ordered(_evaluated(tasks, numbers, processes, cache))


def front(rows):
    """The rows that no other one beats in both time and SBUF."""
    good = [r for r in rows if not r.get("error")]
    return [r for r in good if not any(
        o["seconds"] <= r["seconds"] and o["sbuf_bytes"] <= r["sbuf_bytes"] and
        (o["seconds"], o["sbuf_bytes"]) != (r["seconds"], r["sbuf_bytes"]) for o in good)]


def _named(candidates):
    out = []
    for candidate in [candidates] if isinstance(candidates, (str, os.PathLike)) or callable(candidates) else candidates:
        if isinstance(candidate, (str, os.PathLike)) and os.path.isdir(candidate):
            out += sorted(glob.glob(os.path.join(candidate, "*.py")))
        else:
            out.append(candidate)
    return out


def _check_scripts(given):
    """Errors: of a script that is named and not there. What is wrong in a candidate is a refusal of it alone."""
    for script in given:
        if isinstance(script, (str, os.PathLike)) and not os.path.isfile(script):
            raise Error(os.fspath(script), "there is no such script", "name a Python file")


def _task(candidate, inputs, numbers):
    settings = _jit.settings
    return {"candidate": candidate if callable(candidate) else os.fspath(candidate), "inputs": inputs,
            "numbers": numbers, "parameters": {}, "machine": settings.machine, "changes": list(settings.changes),
            "passes": settings.passes, "reference": None}


def _evaluated(tasks, numbers, processes, cache):
    """A row for each task. The first one that runs is the reference of the others, unless the inputs have one."""
    scripts = all(not callable(t["candidate"]) and not _arrays(t["inputs"]) for t in tasks)
    context = multiprocessing.get_context("spawn") if processes and scripts else None
    with tempfile.TemporaryDirectory() as folder:
        rows = [None] * len(tasks)
        begin = 0
        while numbers and begin < len(tasks):  # until one has results
            task = tasks[begin] | {"keep": os.path.join(folder, "reference.npz")}
            rows[begin] = _alone(task, cache, context) if context else evaluate(task, cache)
            begin += 1
            if not rows[begin - 1].get("error"):
                break
        for task in tasks[begin:]:
            task["reference"] = os.path.join(folder, "reference.npz") if numbers else None
            task["against"] = _cache.text_of(tasks[begin - 1]) if numbers and begin else ""
        rest = tasks[begin:]
        if context and rest:
            with concurrent.futures.ProcessPoolExecutor(min(processes, len(rest)), mp_context=context) as pool:
                futures = [pool.submit(evaluate, task, cache) for task in rest]
                rows[begin:] = [_row_of(f) or _alone(t, cache, context) for t, f in zip(rest, futures)]
        else:
            rows[begin:] = [evaluate(t, cache) for t in rest]
    return rows


def _head(task, label):
    return {"candidate": label} | ({"parameters": task["parameters"]} if task["parameters"] else {})


def _row_of(future):
    """The row; None where some candidate has ended the process that should have made it."""
    try:
        return future.result()
    except concurrent.futures.process.BrokenProcessPool:
        return None


def _alone(task, cache, context):
    """The row of a candidate in a process of its own."""
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        row = _row_of(pool.submit(evaluate, task, cache))
    refused = {"where": task["candidate"], "error": "it ended the process", "fix": "correct the script",
               "cached": False}
    return row or _head(task, task["candidate"]) | refused


def _arrays(inputs):
    return inputs is not None and not isinstance(inputs, (str, os.PathLike))


def evaluate(task, cache=True):
    """The row of one candidate: its figures, or why there are none."""
    name = task["candidate"]
    label = getattr(name, "__name__", None) if callable(name) else name
    row = _head(task, label)
    key = None if callable(name) or _arrays(task["inputs"]) or not cache or task.get("keep") else _cache.key_of(task)
    found = _cache.find(key) if key else None
    if found is not None:
        return row | found | {"cached": True}
    settings = _jit.settings
    before = (settings.machine, settings.changes, settings.passes)
    settings.machine, settings.changes, settings.passes = task["machine"], task["changes"], task["passes"]
    try:
        with contextlib.redirect_stdout(sys.stderr):  # the script's own words are no part of the table
            made = _measured(task)
    except Error as error:
        made = {"error": error.what, "where": error.where, "fix": error.fix}
    except (Exception, SystemExit):  # noqa: BLE001
        error = _scripts.python_error(name if isinstance(name, str) else "kernel")
        made = {"error": error.what, "where": error.where, "fix": error.fix}
    finally:
        settings.machine, settings.changes, settings.passes = before
    if key:
        _cache.keep(key, made)
    return row | made | {"cached": False}


def _measured(task):
    kernel, arrays, reference = _question(task)
    arrays, named = _with_parameters(kernel, arrays, task["parameters"])
    compiled = kernel.compile(*arrays, **(getattr(kernel, "named", {}) | named))
    time = compiled.time()
    busy = {n: e["busy"] for n, e in time["engines"].items()} | {"dma": time["dma_active"]}
    out = {"kernel": compiled.name, "seconds": time["seconds"], "bound": max(busy, key=busy.get)}
    out |= {k: time[k] for k in ("hbm_read_bytes", "hbm_write_bytes", "spill_save_bytes", "instructions", "sbuf_bytes",
                                 "psum_bytes")}
    out["roofline"] = _report.roofline(time)["reached"]
    out["correct"] = _correct(task, compiled, arrays, reference) if task["numbers"] else None
    return out


def _with_parameters(kernel, arrays, parameters):
    """The arguments of a call, and those by name, with the settings in place of what the call gave by position."""
    given = list(zip(inspect.signature(kernel.func).parameters, arrays))
    before = [name for name, _ in given]
    arrays = [parameters.get(name, value) for name, value in given] + arrays[len(given):]
    return arrays, {name: value for name, value in parameters.items() if name not in before}


def _correct(task, compiled, arrays, reference):
    """Whether the results are those of the reference; None when there is nothing to compare with."""
    got = _flat(_jit.compute(compiled))
    if task.get("keep"):
        np.savez(task["keep"], *[g.astype(np.float64) for g in got])
    if reference is not None:
        want = [np.asarray(w, np.float64) for w in _flat(reference(*arrays))]
    elif task["reference"] and os.path.exists(task["reference"]):
        with np.load(task["reference"]) as file:
            want = [file[name] for name in file.files]
    else:
        return None
    size = np.asarray(arrays[0]).dtype.itemsize if len(arrays) else 4
    return len(got) == len(want) and all(_close(g, w, TOLERANCE.get(size, 1e-5)) for g, w in zip(got, want))


def _flat(results):
    return [np.asarray(r) for r in (results if isinstance(results, (list, tuple)) else [results])]


def _close(got, want, most):
    if got.size != want.size:
        return False
    apart = np.linalg.norm(got.astype(np.float64).ravel() - want.ravel())
    return bool(apart <= most * max(np.linalg.norm(want.ravel()), 1e-30))


# ---- what a candidate is called with
def _question(task):
    """The kernel, its arrays, and a function that gives the right results, or None."""
    candidate, inputs = task["candidate"], task["inputs"]
    if callable(candidate):
        module, kernel = {}, candidate if isinstance(candidate, _jit.Kernel) else _jit.Kernel(candidate)
    else:
        module, kernel = _scripted(candidate, own=inputs is None)
    if _arrays(inputs):
        return kernel, list(inputs), None
    if inputs is not None:
        return kernel, *_scripts.given(os.fspath(inputs))
    if "inputs" in module:
        return kernel, list(module["inputs"]()), module.get("reference")
    if kernel.called is None:
        raise Error(str(candidate), "the arguments of its kernel are not given", "give --inputs, or define inputs()")
    return kernel, kernel.called, None


def _scripted(script, own):
    """The names of a script and its kernel. `own`: when the script has no inputs(), its first call says them."""
    module = runpy.run_path(script, run_name="kernel")
    kernels = {id(v.func): v for v in module.values() if isinstance(v, _jit.Kernel)}
    if own and "inputs" not in module:
        called = _scripts.first_call(script)
        if called is not None:
            return module, called
    if len(kernels) != 1:
        raise Error(script, f"it has {len(kernels)} kernels", "leave one in it")
    return module, next(iter(kernels.values()))


# ---- output
def text(rows, form):
    """The rows as a table, or as lines of JSON."""
    if form == "json":
        return "\n".join(json.dumps(r) for r in rows)
    best = next((r["seconds"] for r in rows if not r.get("error")), None)
    out = [f"{'rank':>4} {'time':>12} {'times':>7}  {'bound':8} {'right':>5}  {'HBM MB':>9}  candidate"]
    for r in rows:
        name = f"{r['candidate']}" + "".join(f" {k}={v}" for k, v in r.get("parameters", {}).items())
        if r.get("error"):
            out.append(f"   - refused: {name}\n       {r['where']}: {r['error']}")
            continue
        right = {True: "yes", False: "NO", None: "-"}[r["correct"]]
        out.append(f"{r['rank']:>4} {_report.milliseconds(r['seconds']):>12} {r['seconds'] / best:6.2f}x  "
                   f"{r['bound']:8} {right:>5}  {(r['hbm_read_bytes'] + r['hbm_write_bytes']) / 1e6:9.2f}  {name}")
    return "\n".join(out)
