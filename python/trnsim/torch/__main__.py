"""`python3 -m trnsim.torch [settings] train.py ...`: runs the script with the simulated device in place."""
import argparse
import json
import os
import sys
import traceback
import types


def parser():
    out = argparse.ArgumentParser(
        prog="python3 -m trnsim.torch", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="A PyTorch training script, as it is, on simulated Trainium cores: devices \"xla\" and \"neuron\".",
        epilog="examples:\n  python3 -m trnsim.torch train.py --lr 1e-3\n"
               "  python3 -m trnsim.torch --cores 32 train_xmp.py\n"
               "  python3 -m trnsim.torch --out graphs train.py")
    out.add_argument("--cores", type=int, default=int(os.environ.get("NEURON_RT_NUM_CORES", "2")),
                     help="processes that spawn() starts, a core each (NEURON_RT_NUM_CORES, else 2)")
    out.add_argument("--out", metavar="FOLDER", help="keeps each graph's StableHLO there, and torch.json: the figures")
    out.add_argument("--default_device", action="store_true",
                     help="tensors that name no device are on the simulated one: for scripts that know of none")
    out.add_argument("script")
    out.add_argument("args", nargs=argparse.REMAINDER)
    return out


def fail(what, fix, code=2):
    print(f"trnsim torch: {what}: {fix}", file=sys.stderr)
    return code


def backend(folder):
    from trnsim.torch._backend import Interpreted
    if folder:
        os.makedirs(folder, exist_ok=True)
    return Interpreted(folder)


def run_script(path, args):
    """As Python runs a script: its folder comes first in the path, its module is __main__."""
    sys.argv = [path, *args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = types.ModuleType("__main__")
    module.__file__, module.__builtins__ = path, __builtins__
    sys.modules["__main__"] = module
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)


def ended(path, args):
    """The exit code, with errors told."""
    from trnsim.torch._engine import Refused
    try:
        run_script(path, args)
        return 0
    except Refused as error:
        return fail(str(error), "trnsim's docs/your_script.md says what is there", 1)
    except KeyboardInterrupt:
        return fail("stopped", "by Ctrl-C", 130)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else fail(str(end.code), path, 1)
    except Exception:  # noqa: whatever the script raises ends it
        traceback.print_exc()
        return 1


def main():
    given = parser().parse_args()
    try:
        import torch  # noqa: whether it is there
    except ImportError:
        return fail("there is no PyTorch for this Python", "install python3-torch")
    try:
        engine_backend = backend(given.out)
    except ImportError as error:
        return fail(f"the compiled module of trnsim is not there ({error})", "./dev build builds it, ./dev install "
                    "installs it")
    if not os.path.isfile(given.script):
        return fail(f"{given.script} is no file", "name a Python script")
    from trnsim.torch import _install, _report
    engine = _install.install(engine_backend, given.default_device)
    engine.cores = given.cores
    code = ended(given.script, given.args)
    if engine.traced:
        sys.stdout.flush()
        print(_report.text(engine), file=sys.stderr)
        if given.out:
            with open(os.path.join(given.out, "torch.json"), "w", encoding="utf-8") as file:
                json.dump(_report.record(engine), file, indent=1)
    return code


if __name__ == "__main__":
    sys.exit(main())
