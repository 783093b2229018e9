"""torch_xla.debug.metrics: counters and metrics of this run under torch_xla's names. Times are those of this simulator,
not the machine's, which the report tells."""
from trnsim.torch._engine import engine

LATER = {"TransferToDeviceTime": "TransferToServerTime", "TransferFromDeviceTime": "TransferFromServerTime"}
PARTS = (("d", 86400e9), ("h", 3600e9), ("m", 60e9), ("s", 1e9), ("ms", 1e6))
SHORT = (("CachedCompile", "MarkStep"), ("CompileTime", "ExecuteTime", "TransferToServerTime",
                                         "TransferFromServerTime"))
BEFORE = {}  # counters as they were when they were cleared last: the end's report counts on


def totals():
    running = engine()
    return {"MarkStep": running.marks, "UncachedCompile": len(running.programs),
            "CachedCompile": len(running.log) - len(running.programs), **running.counters}


def counters():
    """Those that have counted anything since they were cleared."""
    return {name: value - BEFORE.get(name, 0) for name, value in totals().items() if value > BEFORE.get(name, 0)}


def counter_value(name):
    return counters().get(name)


def metric_data(name):
    """(how many samples, their sum, the last of them as (seconds since 1970, value)); None without a sample."""
    samples = engine().samples.get(LATER.get(name, name))
    if not samples or not samples.count:
        return None
    return samples.count, samples.sum, list(samples.last)


def metric_names():
    return [name for name, samples in engine().samples.items() if samples.count]


def clear_counters():
    BEFORE.clear()
    BEFORE.update(totals())


def clear_metrics():
    engine().samples.clear()


def clear_all():
    clear_metrics()
    clear_counters()


def duration(ns):
    """As torch_xla writes it: 01s234ms567.890us."""
    out = ""
    for unit, size in PARTS:
        count = int(ns // size)
        if count or out:
            out += f"{count:0{3 if unit == 'ms' else 2}d}{unit}"
            ns -= count * size
    return f"{out}{ns / 1e3:07.3f}us"


def size(count):
    for unit, least in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= least:
            return f"{count / least:.2f}{unit}"
    return f"{count:.2f}B"


def report_of(metric_names_wanted, counter_names_wanted):
    lines = []
    for name in metric_names_wanted:
        count, total, last = metric_data(name) or (0, 0, [])
        if not count:
            continue
        told = size if name.endswith("Data") else duration
        lines += [f"Metric: {name}", f"  TotalSamples: {count}", f"  Accumulator: {told(total)}"]
        ordered = sorted(value for _, value in last)
        shares = (1, 5, 10, 20, 50, 80, 90, 95, 99)
        lines.append("  Percentiles: " + "; ".join(
            f"{share}%={told(ordered[min(len(ordered) * share // 100, len(ordered) - 1)])}" for share in shares))
    known = counters()
    for name in counter_names_wanted:
        if name in known:
            lines += [f"Counter: {name}", f"  Value: {known[name]}"]
    return "\n".join(lines) + "\n"


def metrics_report():
    return report_of(metric_names(), counters())


def short_metrics_report(counter_names=None, metric_names=None):  # noqa: as torch_xla names them
    return report_of(metric_names or SHORT[1], counter_names or SHORT[0])


def executed_fallback_ops():
    """Operators that the host has computed."""
    return [name for name in counters() if name.startswith("aten::")]


def names():
    return dict(metrics_report=metrics_report, short_metrics_report=short_metrics_report,
                counter_names=lambda: list(counters()), counter_value=counter_value, metric_names=metric_names,
                metric_data=metric_data, clear_all=clear_all, clear_counters=clear_counters,
                clear_metrics=clear_metrics, executed_fallback_ops=executed_fallback_ops)
