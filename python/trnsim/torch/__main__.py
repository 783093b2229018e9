"""`python3 -m trnsim.torch [settings] train.py ...`, and `trnsim torch`: runs the script with the simulated device in
place."""
import argparse
import os
import sys
import tempfile
import time
import types

from trnsim._errors import Parser, of_host


def parser():
    out = Parser(
        prog="trnsim torch", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs a PyTorch training script as it is on simulated Trainium cores: devices \"xla\" and "
                    "\"neuron\".",
        epilog="examples:\n  trnsim torch train.py --lr 1e-3\n"
               "  trnsim torch --cores 32 train_xmp.py        # spawn() starts 32 processes\n"
               "  trnsim torch --nproc_per_node 2 train.py    # as torchrun: RANK, WORLD_SIZE\n"
               "  trnsim torch --steps 10000 train.py         # and the price of 10,000 steps")
    out.add_argument("--cores", type=int, default=0, metavar="N",
                     help="processes that spawn() starts, a core each (NEURON_RT_NUM_CORES or _VISIBLE_CORES, else 2)")
    out.add_argument("--nproc_per_node", type=int, default=0, metavar="N",
                     help="start the script itself N times, a core each, with torchrun's environment")
    out.add_argument("--output_dir", "--out", metavar="FOLDER",
                     help="folder of the results (default runs/, the script's name and the time)")
    out.add_argument("--steps", type=int, default=0, metavar="N", help="also print the time and price of N such steps")
    out.add_argument("--instance_type", metavar="NAME", help="the machine (default: the smallest trn1 with the cores)")
    out.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                     help="another value of a machine parameter")
    out.add_argument("--timed", action="store_true",
                     help="time only: no value is computed; a script that reads one stops at that line")
    out.add_argument("--numeric", action="store_true", help="values only: no time is computed")
    out.add_argument("--default_device", action="store_true",
                     help="put tensors without a device on the simulated one: for scripts that name no device")
    out.add_argument("--cuda", action="store_true",
                     help="let the script's \"cuda\" be the simulated device, and available")
    out.add_argument("script")
    out.add_argument("args", nargs=argparse.REMAINDER)
    return out


def fail(what, fix, code=2):
    print(f"error: {what}\n  fix: {fix}", file=sys.stderr)
    return code


def new_folder(given):
    """Where the results will be, whatever folder the script goes to."""
    if given.output_dir:
        os.makedirs(given.output_dir, exist_ok=True)
        return os.path.abspath(given.output_dir)
    if given.numeric:
        return tempfile.mkdtemp(prefix="trnsim-torch-")
    name = os.path.splitext(os.path.basename(given.script))[0]
    first = folder = os.path.abspath(os.path.join("runs", f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"))
    number = 1
    while os.path.exists(folder):
        number += 1
        folder = f"{first}-{number}"
    os.makedirs(folder)
    return folder


def run_script(path, args):
    """As Python runs a script: its folder comes first in the path, its module is __main__."""
    sys.argv = [path, *args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = types.ModuleType("__main__")
    module.__file__, module.__builtins__ = path, __builtins__
    sys.modules["__main__"] = module
    with open(path, "rb") as file:  # its first lines may name an encoding
        exec(compile(file.read(), path, "exec"), module.__dict__)


def ended(run):
    """The exit code, with errors told."""
    from trnsim import Error
    from trnsim.torch import _absent, _engine
    from trnsim.torch._ranks import CoreFailed
    try:
        run()
        return 0
    except _engine.Refused as error:
        return fail(str(error),
                    "see docs/your_script.md for limits and `trnsim list ops --frontend aten` for operators", 1)
    except CoreFailed as error:
        return fail(str(error), "fix the error of that core; all others were stopped", 1)
    except Error as error:
        return fail(f"{_engine.script_line()}: {error.where}: {error.what}".strip(": "), error.fix, error.exit_code)
    except KeyboardInterrupt:
        return fail("stopped by Ctrl-C", "run it again", 130)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except (ImportError, AttributeError) as error:
        absent = _absent.way_out(error)
        if absent is None:
            sys.stderr.write(_engine.script_trace(error))
            return 1
        return fail(*absent, 1)
    except Exception as error:  # noqa: whatever the script raises ends it
        sys.stderr.write(_engine.script_trace(error))
        return 1


def started(given):
    """The function that runs the script, once or on each core."""
    if given.nproc_per_node < 1:
        return lambda: run_script(given.script, given.args)
    from trnsim.torch._ranks import spawn
    return lambda: spawn(lambda rank: run_script(given.script, given.args), (), given.nproc_per_node)


def main():
    try:
        return answer(parser().parse_args())
    except OSError as problem:  # of files beside the script's own: the folder of the results
        refused = of_host("trnsim torch", problem)
        return fail(f"{refused.where}: {refused.what}", refused.fix)


def answer(given):
    try:
        import torch  # noqa: whether it is there
    except ImportError:
        return fail(f"there is no PyTorch for {sys.executable}", "install python3-torch (Debian), or torch by pip")
    try:
        from trnsim.torch import _backend, _install, _report
        if not os.path.isfile(given.script):
            return fail(f"{given.script} is not a file", "name a Python script")
        kind = _backend.Timed if given.timed else _backend.Simulated
        backend = kind(new_folder(given), given.instance_type or "trn1.2xlarge")
    except ImportError as error:
        return fail(f"the compiled module of trnsim is missing ({error})", "./dev build builds it, ./dev install "
                    "installs it")
    engine = _install.install(backend, given.default_device, given.cuda)
    engine.cores = given.cores
    code = ended(started(given))
    sys.stdout.flush()
    gathered = engine.gathered or _report.gathered(engine)
    if gathered["executions"]:
        print(_report.written(gathered, given, backend.folder), file=sys.stderr)
    elif code == 0:
        print("nothing ran on the simulated device: name \"xla\" as the device, or use --cuda for a script that uses "
              "\"cuda\", --default_device for one that names none", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
