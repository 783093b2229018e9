"""A kernel's time as text, as JSON, as a trace and as a page."""
import json
import linecache
import os

from trnsim import _core
from trnsim._errors import Error
from trnsim._results import _html_bars, _html_table


LAUNCH = "launch and lead-in"  # the line of the time that no line of the kernel holds


def milliseconds(seconds):
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def _percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def profile(compiled, folder):
    """Writes NAME.json, the kernel's time by engine and line, and NAME.trace.json, a time line."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as problem:
        raise Error(str(folder), f"cannot be made: {problem.strerror}", "name another working_directory") from None
    name = os.path.join(folder, compiled.name)
    _core.write_file(name + ".json", json.dumps(record(compiled, compiled.time(path=True)), indent=2))
    trace([compiled], name + ".trace.json")


def record(compiled, time):
    """The figures of a kernel as JSON knows them: seconds, bytes, FLOPs."""
    keys = ("seconds", "benchmark", "lead_in", "dma_active", "hbm_read_bytes", "hbm_write_bytes", "spill_save_bytes",
            "spill_reload_bytes", "matmul_flops", "instructions", "sbuf_bytes", "psum_bytes", "reused", "reloads",
            "spills")
    out = {"kernel": compiled.name} | {k: time[k] for k in keys}
    out["engines"] = time["engines"]
    out["roofline"] = roofline(time)
    columns = ("line", "engine", "instructions", "busy", "waiting", "critical")
    out["lines"] = [dict(zip(columns, line)) for line in time["lines"]]
    return out


def roofline(time):
    """Seconds of the matmuls and of the HBM traffic at the machine's peaks, and which is longer."""
    matmul = time["matmul_flops"] / time["peak_flops"]
    memory = (time["hbm_read_bytes"] + time["hbm_write_bytes"]) / time["peak_bandwidth"]
    return {"matmul": matmul, "hbm": memory, "bound": "matmul" if matmul > memory else "hbm",
            "reached": max(matmul, memory) / time["seconds"]}


def text(compiled, time, lines=8):
    """A few lines for the terminal: latency, engines, HBM, and the kernel's lines that took longest."""
    total = time["seconds"]
    out = [f"{compiled.name}: {milliseconds(total)}, {time['instructions']} instructions, traced and compiled in "
           f"{compiled.traced_in:.2f} s"]
    out.append(f"  {'engine':8} {'busy':>8} {'waiting':>8} {'idle':>8}  waits for")
    for name, e in time["engines"].items():
        waits = sum(e["waiting"].values())
        most = sorted(e["waiting"].items(), key=lambda w: -w[1])[:2]
        shares = " ".join(f"{_percent(share, total):>8}" for share in (e["busy"], waits, e["idle"]))
        out.append(f"  {name:8} {shares}  " + ", ".join(f"{k} {_percent(v, total)}" for k, v in most))
    out.append(f"  {'dma':8} {_percent(time['dma_active'], total):>8}")
    r = roofline(time)
    read, written, spilled = (time[k] / 1e6 for k in ("hbm_read_bytes", "hbm_write_bytes", "spill_save_bytes"))
    out.append(f"  HBM {read:.2f} MB read, {written:.2f} MB written; spills {spilled:.2f} MB; "
               f"SBUF {time['sbuf_bytes'] / 1024:.0f} KiB of a partition, PSUM {time['psum_bytes'] / 1024:.0f} KiB")
    out.append(f"  {time['matmul_flops'] / 1e9:.3f} GFLOP in matmuls; roofline: {r['bound']}, "
               f"{100 * r['reached']:.1f} % of it reached")
    if compiled.iterations > 1:
        out.append(f"  {compiled.iterations} iterations of dynamic loops: all engines wait for one another after each")
    if compiled.programs > 1:
        out.append(f"  the launch grid has {compiled.programs} cores: the figures are those of the slower one")
    elif compiled.grid > 1:
        out.append(f"  {compiled.grid} programs of the launch grid: one core does the work of all")
    own = [line for line in time["lines"] if line[0] != LAUNCH]
    for line, engine, count, busy, waiting, critical in own[:lines]:
        source = _source(line)[:60]
        out.append(f"  {os.path.basename(line):>16} {engine:7} {count:7d} x  critical {_percent(critical, total):>7}  "
                   f"busy {milliseconds(busy):>11}  waits {milliseconds(waiting):>11}  {source}")
    out += [f"  {LAUNCH}: critical {_percent(line[5], total)}, {milliseconds(line[5])}"
            for line in time["lines"] if line[0] == LAUNCH]
    return "\n".join(out)


def trace(kernels, file):
    """Writes what every engine and DMA ring did as a trace that ui.perfetto.dev and chrome://tracing open."""
    events = []
    for number, compiled in enumerate(kernels):
        lanes = {}
        for lane, line, op, begin, end in compiled.timed.events():
            thread = lanes.setdefault(lane, len(lanes))
            events.append({"name": op, "ph": "X", "pid": number, "tid": thread, "ts": begin, "dur": end - begin,
                           "args": {"line": line}})
        events.append({"name": "process_name", "ph": "M", "pid": number, "args": {"name": compiled.name}})
        events += [{"name": "thread_name", "ph": "M", "pid": number, "tid": t, "args": {"name": lane}}
                   for lane, t in lanes.items()]
    _core.write_file(os.fspath(file), json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}))


def _source(line):
    file, _, number = line.rpartition(":")
    return linecache.getline(file, int(number)).strip() if number.isdigit() else ""


def notebook(compiled, time, lines=8):
    """Latency, a bar for each engine, and the lines that took longest, for a notebook."""
    total = time["seconds"]
    engines = [(name, 100 * e["busy"] / total, f"{100 * e['busy'] / total:.1f}") for name, e in time["engines"].items()]
    engines.append(("dma", 100 * time["dma_active"] / total, f"{100 * time['dma_active'] / total:.1f}"))
    rows = [(os.path.basename(line), _source(line)[:60], engine, f"{100 * critical / total:.1f}")
            for line, engine, _, _, _, critical in time["lines"][:lines]]
    return (_html_bars(f"{compiled.name}: {milliseconds(total)}, busy", engines)
            + _html_table(["line", "source", "engine", "critical %"], rows))


def html(kernels, file):
    """Writes one page with the time of each kernel: by engine, over time, by line, against its roofline."""
    pages = []
    for compiled in kernels:
        t = compiled.time(path=True)
        r = roofline(t)
        figures = [("latency", milliseconds(t["seconds"])), ("instructions", str(t["instructions"])),
                   ("HBM read", f"{t['hbm_read_bytes'] / 1e6:.2f} MB"),
                   ("HBM written", f"{t['hbm_write_bytes'] / 1e6:.2f} MB"),
                   ("spilled", f"{t['spill_save_bytes'] / 1e6:.2f} MB"),
                   ("matmuls", f"{t['matmul_flops'] / 1e9:.3f} GFLOP"),
                   ("roofline", f"{r['bound']}, {100 * r['reached']:.1f} % reached"),
                   ("SBUF of a partition", f"{t['sbuf_bytes'] / 1024:.0f} KiB"),
                   ("PSUM of a partition", f"{t['psum_bytes'] / 1024:.0f} KiB")]
        pages.append((compiled.timed, compiled.name, figures, {l[0]: _source(l[0]) for l in t["lines"]}))
    _core.write_file(os.fspath(file), _core.Kernel.html(pages))
