"""python3 -m trnsim.nki kernel.py [args]: runs a script with NKI kernels, without the hardware."""
import argparse
import json
import os
import runpy
import sys
import traceback

import trnsim
from trnsim import _core
from trnsim.nki import _jit, _report


def _parser():
    out = argparse.ArgumentParser(prog="trnsim nki", description="Runs a Python script with NKI kernels as it is: their "
                                  "outputs are computed by simulated instructions, their time is simulated.")
    out.add_argument("script", nargs="?", help="the script; what follows it are its own arguments")
    out.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    out.add_argument("--time", action="store_true", help="time every kernel that the script calls")
    out.add_argument("--lines", type=int, default=8, metavar="N", help="lines of the kernel that --time shows (default 8)")
    out.add_argument("--trace", metavar="FILE", help="write a time line of those kernels for ui.perfetto.dev")
    out.add_argument("--report", metavar="FILE", help="write an HTML page of those kernels: engines, lines, roofline")
    out.add_argument("--list", action="store_true", help="what of NKI is there, what is not and why; then end")
    out.add_argument("--compare", nargs="+", metavar="SCRIPT", help="time the kernels of several scripts and rank them")
    out.add_argument("--function", metavar="NAME", help="--compare: the kernel, when a script has several")
    out.add_argument("--inputs", metavar="SHAPES", help='--compare: "128x512:fp32,512x64:bf16"')
    out.add_argument("--as_written", action="store_true", help="the kernel's own order: nothing is moved or reused")
    out.add_argument("--no_numbers", action="store_true", help="do not compute results: only time")
    out.add_argument("--instance_type", default="trn1.2xlarge", help="the machine (default trn1.2xlarge)")
    out.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another number of the machine")
    out.add_argument("--format", choices=("text", "json"), default="text", help="form of what is printed")
    return out


def _fail(error):
    print(f"error: {error}", file=sys.stderr)
    return error.exit_code


def python_error(script):
    """What Python raised in the script as one error with its line."""
    kind, value, trace = sys.exc_info()
    place = script
    for frame in traceback.extract_tb(trace):
        if os.path.abspath(frame.filename) == os.path.abspath(script):
            place = f"{script}:{frame.lineno}"
    if isinstance(value, SyntaxError) and value.filename:
        place = f"{value.filename}:{value.lineno}"
    return trnsim.Error(place, f"{kind.__name__}: {value}", "mend the script")


def _run(script, arguments):
    if not os.path.isfile(script):
        raise trnsim.Error(script, "there is no such script", "name a Python file")
    sys.argv = [script] + arguments
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except trnsim.Error:
        raise
    except (SystemExit, KeyboardInterrupt):
        raise
    except Exception:
        raise python_error(script) from None


def main(argv=None):
    options = _parser().parse_args(argv)
    settings = _jit.settings
    settings.machine, settings.changes, settings.as_written = options.instance_type, options.set, options.as_written
    settings.numbers = not options.no_numbers
    times, kernels = [], []

    def report(compiled, time):
        kernels.append(compiled)
        times.append(_report.record(compiled, time))
        if options.format == "text":
            print(_report.text(compiled, time, options.lines), flush=True)

    settings.timed = options.time or options.trace is not None or options.report is not None
    settings.report = report if settings.timed else None
    try:
        if options.list:
            print(_report.listing())
            return 0
        if options.compare:
            print(_report.compare(options.compare, options.function, options.inputs, options.format))
            return 0
        if not options.script:
            _parser().print_usage(sys.stderr)
            return _fail(trnsim.Error("trnsim nki", "no script was named", "name a Python file with NKI kernels"))
        _run(options.script, options.arguments)
        if settings.kernels == 0:
            print(f"{options.script} called no kernel: no function that nki.jit decorates", file=sys.stderr)
        if options.trace:
            _report.trace(kernels, options.trace)
        if options.report:
            _report.html(kernels, options.report)
        if options.time and options.format == "json":
            print(json.dumps(times, indent=2))
        return 0
    except trnsim.Error as error:
        return _fail(error)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
