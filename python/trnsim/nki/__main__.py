"""python3 -m trnsim.nki kernel.py [args]: runs a script with NKI kernels, without the hardware."""
import argparse
import contextlib
import json
import os
import sys

import trnsim
from trnsim._errors import Parser, of_host
from trnsim.nki import _check, _devices, _jit, _listing, _rank, _report, _scripts


def _parser():
    out = Parser(
        prog="trnsim nki", description="Runs a Python script with NKI kernels as it is: their outputs are computed by "
        "simulated instructions, their time is simulated. `trnsim nki tune KERNEL.py --param NAME=1,2,4` tries the "
        "settings of a kernel's keyword arguments.")
    out.add_argument("script", nargs="?", help="the script; what follows it are its own arguments")
    out.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    out.add_argument("--time", action="store_true", help="time every kernel that the script calls")
    out.add_argument("--lines", type=_count, default=8, metavar="N",
                     help="lines of the kernel that --time shows (default 8)")
    out.add_argument("--trace", metavar="FILE", help="write a time line of those kernels for ui.perfetto.dev")
    out.add_argument("--report", metavar="FILE", help="write an HTML page of those kernels: engines, lines, roofline")
    out.add_argument("--list", action="store_true",
                     help="list the parts of NKI that are supported, and why others are not; then exit")
    out.add_argument("--check", nargs="+", metavar="SCRIPT",
                     help="print which dialects each script satisfies, and the line that breaks the others")
    out.add_argument("--compare", nargs="+", metavar="SCRIPT", help="time the kernels of several scripts and rank them")
    out.add_argument("--rank", nargs="+", metavar="SCRIPT",
                     help="rank scripts and folders: time, binding engine, correctness of results, refusals")
    out.add_argument("--function", metavar="NAME", help="--compare: the kernel, when a script has several")
    _common(out)
    return out


def _tuner():
    out = Parser(prog="trnsim nki tune", description="Times a kernel under every combination of "
                                  "keyword arguments: the best, the Pareto front of time and SBUF, and why others "
                                  "are illegal.")
    out.add_argument("script", help="a script with one kernel")
    out.add_argument("--param", action="append", default=[], metavar="NAME=VALUES",
                     help="a keyword argument and its values: TILES_IN_BLOCK_M=1,2,4")
    _common(out)
    return out


def _count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


_count.__name__ = "int"  # as argparse names it to who gives no number


def _common(out):
    """The options that runs, ranks and tuning share."""
    out.add_argument("--inputs", metavar="INPUTS",
                     help='a script with inputs() and perhaps reference(); --compare also: "128x512:fp32,512x64:bf16"')
    out.add_argument("--processes", type=_count, default=os.cpu_count() or 1, metavar="N",
                     help="--rank, tune: candidates to run at the same time (default: one for each core)")
    out.add_argument("--no_cache", action="store_true", help="--rank, tune: measure again, without the cache")
    out.add_argument("--as_written", action="store_true", help="keep the kernel's own order: move and reuse nothing")
    out.add_argument("--passes", default="", metavar="SWITCHES",
                     help="compiler passes: -share,-join,-forward,-fuse,-reuse,-reload,-reorder,+near,-transpose")
    out.add_argument("--no_numbers", action="store_true", help="do not compute results: only time")
    out.add_argument("--instance_type", default="trn1.2xlarge", help="the machine (default trn1.2xlarge)")
    out.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                     help="another value of a machine parameter")
    out.add_argument("--format", choices=("text", "json"), default="text", help="form of what is printed")


def _drop_output():
    """What stdout still keeps is lost: Python would try to write it again at its end, and end otherwise."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error):
    print(f"error: {error}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    return error.exit_code


class _Reports:
    """The kernels that the script has called, and what is asked for about them."""

    def __init__(self, options):
        self.options, self.kernels, self.times = options, [], []

    def add(self, compiled, time):
        self.kernels.append(compiled)
        self.times.append(_report.record(compiled, time))
        if self.options.format == "text":
            print(_report.text(compiled, time, self.options.lines), flush=True)

    def finish(self):
        if self.options.trace:
            _report.trace(self.kernels, self.options.trace)
        if self.options.report:
            _report.html(self.kernels, self.options.report)
        if self.options.time and self.options.format == "json":
            print(json.dumps(self.times, indent=2))


def _settle(options):
    """The settings of all kernels, and what hears of each."""
    settings, reports = _jit.settings, _Reports(options)
    _devices.install()
    settings.machine, settings.changes = options.instance_type, options.set
    settings.passes = "none" if options.as_written else options.passes
    settings.numbers = not options.no_numbers
    asked = (getattr(options, name, None) for name in ("time", "trace", "report"))
    settings.timed = any(a is not None and a is not False for a in asked)
    settings.report = reports.add if settings.timed else None
    return reports


def _answer(options):
    reports = _settle(options)
    if options.list:
        print(_listing.listing(options.format))
        return 0
    if options.check:
        print(_check.text([_check.check(script) for script in options.check], options.format))
        return 0
    if options.rank:
        return _ranked(_rank.rank(options.rank, options.inputs, **_rank_settings(options)), options)
    if options.compare:
        print(_scripts.compare(options.compare, options.function, options.inputs, options.format))
        return 0
    if not options.script:
        return _fail(trnsim.Error("trnsim nki", "no script was named", "name a Python file with NKI kernels"))
    # With JSON on stdout the script's own words go to stderr.
    with contextlib.redirect_stdout(sys.stderr) if options.format == "json" else contextlib.nullcontext():
        defined = _scripts.run(options.script, options.arguments)
    if _jit.settings.kernels == 0:
        raise _scripts.without_calls(options.script, defined)
    reports.finish()
    return 0


def _rank_settings(options):
    return {"numbers": not options.no_numbers, "processes": options.processes, "cache": not options.no_cache}


def _ranked(rows, options):
    print(_rank.text(rows, options.format))
    wrong = [r for r in rows if r.get("correct") is False]
    return 1 if wrong or all(r.get("error") for r in rows) else 0


def _value(text):
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"True": True, "False": False, "None": None}.get(text, text)


def _tune(options):
    _settle(options)
    parameters = {}
    for item in options.param:
        name, sign, values = item.partition("=")
        if not sign or not name.isidentifier() or not values:
            raise trnsim.Error("--param", f"{item} is not NAME=VALUES", "write it as NAME=1,2,4")
        if name in parameters:
            raise trnsim.Error("--param", f"{name} is given twice", f"write {name}=VALUES once, with all its values")
        parameters[name] = [_value(v) for v in values.split(",")]
    rows = _rank.tune(options.script, parameters, options.inputs, **_rank_settings(options))
    code = _ranked(rows, options)
    if options.format == "text":
        print("front of time and SBUF: " + "; ".join(
            f"{' '.join(f'{k}={v}' for k, v in r.get('parameters', {}).items())}: "
            f"{_report.milliseconds(r['seconds'])}, {r['sbuf_bytes'] / 1024:.0f} KiB" for r in _rank.front(rows)))
    return code if rows and rows[0].get("error") else 0


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))
    try:
        code = _tune(_tuner().parse_args(argv[1:])) if argv[:1] == ["tune"] else _answer(_parser().parse_args(argv))
        sys.stdout.flush()
        return code
    except trnsim.Error as error:
        return _fail(error)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of the output has gone: no mistake of the script
        _drop_output()
        return 130
    except OSError as problem:  # of stdout, or of files beside the script's own: TMPDIR's, those of processes
        return _fail(of_host("trnsim nki", problem))


if __name__ == "__main__":
    sys.exit(main())
