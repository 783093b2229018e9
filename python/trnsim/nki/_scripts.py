"""Scripts with kernels: run, compared, timed for `trnsim validate`."""
import contextlib
import errno
import json
import os
import runpy
import sys
import traceback

import numpy as np

from trnsim import _core
from trnsim._errors import Error
from trnsim.nki import _dtypes, _jit, _report


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # what a write meets, whatever the script says


def python_error(script):
    """The exception that Python raised in the script, as one error with its line."""
    kind, value, trace = sys.exc_info()
    place = script
    for frame in traceback.extract_tb(trace):
        if os.path.abspath(frame.filename) == os.path.abspath(script):
            place = f"{script}:{frame.lineno}"
    if isinstance(value, SyntaxError) and value.filename:
        place = f"{value.filename}:{value.lineno}"
    if isinstance(value, OSError) and value.errno in _FULL:
        return Error(place, f"its output cannot be written: {value.strerror}",
                     "free space, or send the output elsewhere")
    return Error(place, f"{kind.__name__}: {_in_words(str(value))}", _instead(value))


# Our classes as a kernel's author knows them.
_WORDS = {"trnsim._core.View": "a tensor", "trnsim._core.Affine": "an index", "trnsim._core.TileIndex": "an index",
          "trnsim._core.Mask": "a comparison of indices", "VirtualRegister": "a register"}


def _in_words(text):
    for name, word in _WORDS.items():
        text = text.replace(f"'{name}' object", word).replace(f"'{name}'", word).replace(f"type {name}", word)
    return text


def _instead(problem):
    """How to write what a tensor of PyTorch or NumPy has and one of a kernel has not."""
    from trnsim.nki import language
    if isinstance(problem, TypeError) and "for @: 'trnsim._core.View'" in str(problem):
        return "use nl.matmul or nisa.nc_matmul"
    name = problem.name if isinstance(getattr(problem, "obj", None), _core.View) else ""
    name = {"T": "transpose", "to": "copy"}.get(name, name)
    if name and not name.startswith("_") and callable(getattr(language, name, None)):
        return f"use nl.{name}(tensor, ...)"
    return "correct the script"


def without_calls(script, defined):
    """The error of a script that has ended without a call of a kernel. `defined`: its names."""
    kernels = [name for name, value in defined.items() if isinstance(value, _jit.Kernel)]
    if kernels:
        return Error(script, f"calls no kernel, but defines {kernels[0]}",
                     f"call {kernels[0]} in the script, or name a script with its inputs: trnsim nki --rank {script} "
                     "--inputs FILE")
    return Error(script, "calls no kernel: no function that nki.jit decorates",
                 "decorate a function with nki.jit and call it; python3 runs scripts without kernels")


def run(script, arguments):
    """The script's names at its end."""
    if not os.path.isfile(script):
        raise Error(script, "there is no such script", "name a Python file")
    sys.argv = [script] + arguments
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        return runpy.run_path(script, run_name="__main__")
    except Error:
        raise
    except (SystemExit, KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception:
        raise python_error(script) from None


def given(script):
    """The arrays of a script of inputs, and its reference, or None. Errors: at its own lines."""
    try:
        names = runpy.run_path(script, run_name="inputs")
        if "inputs" not in names:
            raise Error(script, "it has no function inputs()", "define inputs(), which returns the arrays")
        return list(names["inputs"]()), names.get("reference")
    except Exception as problem:
        raise problem if isinstance(problem, Error) else python_error(script) from None


def first_call(script):
    """The kernel that the script calls first, with its arrays; None when it calls none."""
    def heard(kernel, args, kwargs):
        kernel.called, kernel.named = list(args), kwargs
        raise _Called(kernel)
    _jit.settings.heard = heard
    try:
        runpy.run_path(script, run_name="__main__")
    except _Called as call:
        return call.kernel
    finally:
        _jit.settings.heard = None
    return None


class _Called(BaseException):
    """The script has called a kernel."""

    def __init__(self, kernel):
        super().__init__()
        self.kernel = kernel


def compare(scripts, function, inputs, form):
    """The kernels of several scripts on the same inputs, the fastest first."""
    rows = []
    for script in scripts:
        if not os.path.isfile(script):
            raise Error(script, "there is no such script", "name a Python file")
        with contextlib.redirect_stdout(sys.stderr):  # the script's own words are no part of the table
            compiled = _compared(script, function, inputs)
        rows.append((compiled.time()["seconds"], script, compiled.name, compiled))
    rows.sort(key=lambda r: r[0])
    if form == "json":
        return json.dumps([_report.record(r[3], r[3].time()) | {"script": r[1]} for r in rows], indent=2)
    out = [f"{'rank':>4} {'time':>12} {'times':>7}  {'HBM MB':>9}  {'spill MB':>8}  script"]
    for i, (seconds, script, name, compiled) in enumerate(rows):
        t = compiled.time()
        out.append(f"{i + 1:>4} {_report.milliseconds(seconds):>12} {seconds / rows[0][0]:6.2f}x  "
                   f"{(t['hbm_read_bytes'] + t['hbm_write_bytes']) / 1e6:9.2f}  {t['spill_save_bytes'] / 1e6:8.2f}  "
                   f"{script}:{name}")
    return "\n".join(out)


def _compared(script, function, inputs):
    """The kernel of a script that is to be compared, by its name or as the only one, for its arrays."""
    module = runpy.run_path(script, run_name="kernel")
    kernels = {id(v.func): v for k, v in module.items() if isinstance(v, _jit.Kernel) and function in (None, "", k)}
    called = None if inputs or "inputs" in module or not kernels else first_call(script)
    if called is not None and called.func.__name__ in {v.func.__name__ for v in kernels.values()}:
        return called.compile(*called.called, **called.named)
    if len(kernels) != 1:
        names = ", ".join(v.func.__name__ for v in kernels.values())
        raise Error(script, f"it has {len(kernels)} kernels: {names or 'none'}", "choose one with function")
    return next(iter(kernels.values())).compile(*_inputs(module, inputs, script))


def row(script, function, shapes, machine, *changes):
    """The figures of one kernel of a script as JSON, for `trnsim validate`; or why there are none."""
    _jit.settings.machine = machine
    _jit.settings.changes = list(changes)
    try:
        kernel = runpy.run_path(script, run_name="kernel")[function]
        compiled = kernel.compile(*_inputs({}, shapes, script))
    except Error as error:
        return json.dumps({"error": f"{error.where}: {error.what}"})
    except Exception:
        error = python_error(script)
        return json.dumps({"error": f"{error.where}: {error.what}"})
    out = _report.record(compiled, compiled.time())
    del out["lines"]
    return json.dumps(out)


_TYPES = {"fp32": np.float32, "bf16": _dtypes.bfloat16, "fp16": np.float16, "int32": np.int32, "int8": np.int8}


def _inputs(module, text_of, script):
    """Arrays of the shapes that are asked for, or of a script of inputs, or what the script's own `inputs()` gives."""
    if text_of and os.path.isfile(text_of):
        return given(text_of)[0]
    if text_of:
        out = []
        for item in text_of.split(","):
            shape, _, dtype = item.partition(":")
            kind = _TYPES.get(dtype or "fp32")
            if kind is None or not all(p.isdigit() for p in shape.split("x")):
                raise Error("inputs", f"{item} is not a shape and a type", 'write it as 128x512:fp32')
            out.append(np.ones([int(p) for p in shape.split("x")], np.float32).astype(kind))
        return out
    if "inputs" not in module:
        raise Error(script, "the arguments of its kernel are not given",
                    "call the kernel, define inputs(), or give --inputs: a script, or shapes")
    return module["inputs"]()
