"""python3 -m trnsim.nki kernel.py [args]: runs a script with NKI kernels, without the hardware."""
import argparse
import json
import sys

import trnsim
from trnsim.nki import _jit, _listing, _report, _scripts


def _parser():
    out = argparse.ArgumentParser(
        prog="trnsim nki", description="Runs a Python script with NKI kernels as it is: their outputs are computed by "
        "simulated instructions, their time is simulated.")
    out.add_argument("script", nargs="?", help="the script; what follows it are its own arguments")
    out.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    out.add_argument("--time", action="store_true", help="time every kernel that the script calls")
    out.add_argument("--lines", type=int, default=8, metavar="N",
                     help="lines of the kernel that --time shows (default 8)")
    out.add_argument("--trace", metavar="FILE", help="write a time line of those kernels for ui.perfetto.dev")
    out.add_argument("--report", metavar="FILE", help="write an HTML page of those kernels: engines, lines, roofline")
    out.add_argument("--list", action="store_true", help="what of NKI is there, what is not and why; then end")
    out.add_argument("--compare", nargs="+", metavar="SCRIPT", help="time the kernels of several scripts and rank them")
    out.add_argument("--function", metavar="NAME", help="--compare: the kernel, when a script has several")
    out.add_argument("--inputs", metavar="SHAPES", help='--compare: "128x512:fp32,512x64:bf16"')
    out.add_argument("--as_written", action="store_true", help="the kernel's own order: nothing is moved or reused")
    out.add_argument("--passes", default="", metavar="SWITCHES",
                     help="passes of the compiler: -join,-fuse,-reuse,-reload,-reorder,-transpose")
    out.add_argument("--no_numbers", action="store_true", help="do not compute results: only time")
    out.add_argument("--instance_type", default="trn1.2xlarge", help="the machine (default trn1.2xlarge)")
    out.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another number of the machine")
    out.add_argument("--format", choices=("text", "json"), default="text", help="form of what is printed")
    return out


def _fail(error):
    print(f"error: {error}", file=sys.stderr)
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
    settings.machine, settings.changes = options.instance_type, options.set
    settings.passes = "none" if options.as_written else options.passes
    settings.numbers = not options.no_numbers
    settings.timed = options.time or options.trace is not None or options.report is not None
    settings.report = reports.add if settings.timed else None
    return reports


def _answer(options):
    reports = _settle(options)
    if options.list:
        print(_listing.listing())
        return 0
    if options.compare:
        print(_scripts.compare(options.compare, options.function, options.inputs, options.format))
        return 0
    if not options.script:
        _parser().print_usage(sys.stderr)
        return _fail(trnsim.Error("trnsim nki", "no script was named", "name a Python file with NKI kernels"))
    _scripts.run(options.script, options.arguments)
    if _jit.settings.kernels == 0:
        print(f"{options.script} called no kernel: no function that nki.jit decorates", file=sys.stderr)
    reports.finish()
    return 0


def main(argv=None):
    try:
        return _answer(_parser().parse_args(argv))
    except trnsim.Error as error:
        return _fail(error)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
