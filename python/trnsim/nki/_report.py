"""What is printed about a kernel's time."""
import json
import linecache
import os
import runpy

import numpy as np

from trnsim._errors import Error


def _ms(seconds):
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def _percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def record(compiled, time):
    """The figures of a kernel as JSON knows them: seconds, bytes, FLOPs."""
    keys = ("seconds", "lead_in", "dma_active", "hbm_read_bytes", "hbm_write_bytes", "spill_save_bytes", "spill_reload_bytes",
            "matmul_flops", "instructions", "sbuf_bytes", "psum_bytes", "reused", "reloads", "spills")
    out = {"kernel": compiled.name} | {k: time[k] for k in keys}
    out["engines"] = time["engines"]
    out["roofline"] = roofline(time)
    out["lines"] = [dict(zip(("line", "engine", "instructions", "busy", "waiting", "critical"), l)) for l in time["lines"]]
    return out


def roofline(time):
    """What the matmuls and the HBM traffic take at the machine's peaks, in seconds, and which is longer."""
    matmul = time["matmul_flops"] / time["peak_flops"]
    memory = (time["hbm_read_bytes"] + time["hbm_write_bytes"]) / time["peak_bandwidth"]
    return {"matmul": matmul, "hbm": memory, "bound": "matmul" if matmul > memory else "hbm",
            "reached": max(matmul, memory) / time["seconds"]}


def text(compiled, time, lines=8):
    """A few lines for the terminal: latency, engines, HBM, and the kernel's lines that took longest."""
    total = time["seconds"]
    out = [f"{compiled.name}: {_ms(total)}, {time['instructions']} instructions, traced and compiled in "
           f"{compiled.traced_in:.2f} s"]
    out.append(f"  {'engine':8} {'busy':>8} {'waiting':>8} {'idle':>8}  waits for")
    for name, e in time["engines"].items():
        waits = sum(e["waiting"].values())
        most = sorted(e["waiting"].items(), key=lambda w: -w[1])[:2]
        out.append(f"  {name:8} {_percent(e['busy'], total):>8} {_percent(waits, total):>8} {_percent(e['idle'], total):>8}  "
                   + ", ".join(f"{k} {_percent(v, total)}" for k, v in most))
    out.append(f"  {'dma':8} {_percent(time['dma_active'], total):>8}")
    r = roofline(time)
    out.append(f"  HBM {time['hbm_read_bytes'] / 1e6:.2f} MB read, {time['hbm_write_bytes'] / 1e6:.2f} MB written; spills "
               f"{time['spill_save_bytes'] / 1e6:.2f} MB; SBUF {time['sbuf_bytes'] / 1024:.0f} KiB of a partition, PSUM "
               f"{time['psum_bytes'] / 1024:.0f} KiB")
    out.append(f"  {time['matmul_flops'] / 1e9:.3f} GFLOP in matmuls; roofline: {r['bound']}, {100 * r['reached']:.1f} % of it "
               "reached")
    for line, engine, count, busy, waiting, critical in time["lines"][:lines]:
        source = _source(line)[:60]
        out.append(f"  {os.path.basename(line):>16} {engine:7} {count:7d} x  critical {_percent(critical, total):>7}  busy "
                   f"{_ms(busy):>11}  waits {_ms(waiting):>11}  {source}")
    return "\n".join(out)


def trace(kernels, file):
    """Writes what every engine and DMA ring did as a trace that ui.perfetto.dev and chrome://tracing open."""
    events = []
    for number, compiled in enumerate(kernels):
        lanes = {}
        for lane, line, op, begin, end in compiled.kernel.events():
            thread = lanes.setdefault(lane, len(lanes))
            events.append({"name": op, "ph": "X", "pid": number, "tid": thread, "ts": begin, "dur": end - begin,
                           "args": {"line": line}})
        events.append({"name": "process_name", "ph": "M", "pid": number, "args": {"name": compiled.name}})
        events += [{"name": "thread_name", "ph": "M", "pid": number, "tid": t, "args": {"name": lane}}
                   for lane, t in lanes.items()]
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"traceEvents": events, "displayTimeUnit": "ns"}, out)


def _source(line):
    file, _, number = line.rpartition(":")
    return linecache.getline(file, int(number)).strip() if number.isdigit() else ""


def notebook(compiled, time, lines=8):
    """Latency, a bar for each engine, and the lines that took longest, for a notebook."""
    from trnsim._results import _html_bars, _html_table
    total = time["seconds"]
    engines = [(name, 100 * e["busy"] / total, f"{100 * e['busy'] / total:.1f}") for name, e in time["engines"].items()]
    engines.append(("dma", 100 * time["dma_active"] / total, f"{100 * time['dma_active'] / total:.1f}"))
    rows = [(os.path.basename(l[0]), _source(l[0])[:60], l[1], f"{100 * l[5] / total:.1f}") for l in time["lines"][:lines]]
    return (_html_bars(f"{compiled.name}: {_ms(total)}, busy", engines)
            + _html_table(["line", "source", "engine", "critical %"], rows))


def html(kernels, file):
    """Writes one page with the time of each kernel: by engine, over time, by line, against its roofline."""
    from trnsim import _core
    pages = []
    for compiled in kernels:
        t = compiled.time(path=True)
        r = roofline(t)
        figures = [("latency", _ms(t["seconds"])), ("instructions", str(t["instructions"])),
                   ("HBM read", f"{t['hbm_read_bytes'] / 1e6:.2f} MB"), ("HBM written", f"{t['hbm_write_bytes'] / 1e6:.2f} MB"),
                   ("spilled", f"{t['spill_save_bytes'] / 1e6:.2f} MB"), ("matmuls", f"{t['matmul_flops'] / 1e9:.3f} GFLOP"),
                   ("roofline", f"{r['bound']}, {100 * r['reached']:.1f} % reached"),
                   ("SBUF of a partition", f"{t['sbuf_bytes'] / 1024:.0f} KiB"),
                   ("PSUM of a partition", f"{t['psum_bytes'] / 1024:.0f} KiB")]
        pages.append((compiled.kernel, compiled.name, figures, {l[0]: _source(l[0]) for l in t["lines"]}))
    with open(file, "w", encoding="utf-8") as out:
        out.write(_core.Kernel.html(pages))


def compare(scripts, function, inputs, form):
    """The kernels of several scripts on the same inputs, the fastest first."""
    from trnsim.nki import _jit
    rows = []
    for script in scripts:
        if not os.path.isfile(script):
            raise Error(script, "there is no such script", "name a Python file")
        module = runpy.run_path(script, run_name="kernel")
        kernels = {k: v for k, v in module.items() if isinstance(v, _jit.Kernel)}
        if function:
            kernels = {k: v for k, v in kernels.items() if k == function}
        if len(kernels) != 1:
            raise Error(script, f"it has {len(kernels)} kernels: {', '.join(kernels) or 'none'}", "choose one with function")
        name, kernel = next(iter(kernels.items()))
        arrays = _inputs(module, inputs, script)
        compiled = kernel.compile(*arrays)
        rows.append((compiled.time()["seconds"], script, name, compiled))
    rows.sort(key=lambda r: r[0])
    if form == "json":
        return json.dumps([record(r[3], r[3].time()) | {"script": r[1]} for r in rows], indent=2)
    out = [f"{'rank':>4} {'time':>12} {'times':>7}  {'HBM MB':>9}  {'spill MB':>8}  script"]
    for i, (seconds, script, name, compiled) in enumerate(rows):
        t = compiled.time()
        out.append(f"{i + 1:>4} {_ms(seconds):>12} {seconds / rows[0][0]:6.2f}x  "
                   f"{(t['hbm_read_bytes'] + t['hbm_write_bytes']) / 1e6:9.2f}  {t['spill_save_bytes'] / 1e6:8.2f}  {script}:{name}")
    return "\n".join(out)


def row(script, function, shapes, machine):
    """The figures of one kernel of a script as JSON, for `trnsim validate`; or why there are none."""
    from trnsim.nki import _jit
    from trnsim.nki.__main__ import python_error
    _jit.settings.machine = machine
    try:
        kernel = runpy.run_path(script, run_name="kernel")[function]
        compiled = kernel.compile(*_inputs({}, shapes, script))
    except Error as error:
        return json.dumps({"error": f"{error.where}: {error.what}"})
    except Exception:
        error = python_error(script)
        return json.dumps({"error": f"{error.where}: {error.what}"})
    out = record(compiled, compiled.time())
    del out["lines"]
    return json.dumps(out)


def _inputs(module, text_of, script):
    """Arrays of the shapes that are asked for, or what the script's own `inputs()` gives."""
    from trnsim.nki import _dtypes
    if text_of:
        out = []
        for item in text_of.split(","):
            shape, _, dtype = item.partition(":")
            kind = {"fp32": np.float32, "bf16": _dtypes.bfloat16, "fp16": np.float16, "int32": np.int32}.get(dtype or "fp32")
            if kind is None or not all(p.isdigit() for p in shape.split("x")):
                raise Error("inputs", f"{item} is no shape and type", 'write it as 128x512:fp32')
            out.append(np.ones([int(p) for p in shape.split("x")], np.float32).astype(kind))
        return out
    if "inputs" not in module:
        raise Error(script, "it does not say what its kernel is called with", "define inputs(), or give shapes")
    return module["inputs"]()


def listing():
    """Each function of the language and the instruction set: there, or why not."""
    from trnsim.nki import _emit, isa, language
    missing = {"nl.all_reduce": "over one program only: programs of a grid run one after the other",
               "nl.device_print": "prints nothing", "nisa.range_select": "NeuronCore-v3 and later",
               "nisa.builtin_custom_op": "nothing is published about library calls on GpSimdE",
               "nccl.*": "collectives inside of a kernel"}
    out = []
    for prefix, module in (("nl", language), ("nisa", isa)):
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or not callable(value) or isinstance(value, type) or name in _HELPERS:
                continue
            if (getattr(value, "__module__", None) or "").startswith("trnsim.nki._"):
                continue
            reason = missing.pop(f"{prefix}.{name}", None)
            out.append(f"{prefix + '.' + name:34} {'no: ' + reason if reason else 'yes'}")
    out += [f"{name:34} no: {reason}" for name, reason in missing.items()]
    return "\n".join(out)


_HELPERS = {"code", "is_integer", "binary", "is_tile", "put", "temp", "tile", "current", "error", "missing", "alu_name", "float32"}
