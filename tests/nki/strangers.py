"""The tests of a folder with public sources: (suite, name, function that gives the end and a word about it)."""
import glob
import importlib.util
import inspect
import io
import itertools
import os
import sys
import types
import unittest

import numpy as np

import references
import trnsim
from trnsim.nki import _jit

_RULES = ("NeuronCore-v3", "NeuronCore-v4", "NEFF", "exists from", "v3 on")


def _end(error):
    """How a test that raised ended: by a rule of the chip, or wrongly."""
    text = str(error).split("\n")[0]
    place = text.rsplit("/", 1)[-1]
    if isinstance(error, trnsim.Error):
        return ("refused" if any(rule in text for rule in _RULES) else "error"), place
    return "wrong" if isinstance(error, AssertionError) else "error", f"{type(error).__name__}: {place}"[:160]


def _guarded(function):
    def run():
        out, sys.stdout = sys.stdout, io.StringIO()
        try:
            function()
            return "right", ""
        except unittest.SkipTest as skip:
            return "skipped", str(skip)
        except Exception as error:  # noqa: BLE001
            return _end(error)
        finally:
            sys.stdout = out
    return run


def _module(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# ---- unittest
def documentation(folder):
    for path in sorted(glob.glob(os.path.join(folder, "docs", "tests_2.26", "test_*.py"))):
        name = os.path.basename(path)[len("test_"):-3]
        try:
            module = _module(path, "documented_" + name)
        except Exception as error:  # noqa: BLE001
            found = _end(error)
            yield "sdk-2.26", name, lambda found=found: found
            continue
        for case in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in case:
                yield "sdk-2.26", f"{name}.{test._testMethodName}", _guarded(lambda t=test: _debug(t))


def _debug(test):
    test.setUp()
    getattr(test, test._testMethodName)()
    test.tearDown()


# ---- what of pytest the samples use
def _pytest():
    module = types.ModuleType("pytest")

    def parametrize(names, values):
        keys = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
        rows = [dict(zip(keys, v if len(keys) > 1 else [v])) for v in values]

        def mark(function):
            function.rows = [a | b for a, b in itertools.product(rows, getattr(function, "rows", [{}]))]
            return function
        return mark

    def fixture(function=None, **_):
        def mark(f):
            f.fixture = True
            return f
        return mark(function) if function else mark

    class Marks:
        def __getattr__(self, name):
            def mark(*args, **kwargs):
                return args[0] if args and callable(args[0]) else (lambda f: f)
            return mark
    Marks.parametrize = staticmethod(parametrize)
    module.mark, module.fixture = Marks(), fixture

    def raises(kind, match=None):
        return unittest.TestCase().assertRaises(kind)

    def skip(reason=""):
        raise unittest.SkipTest(reason)
    module.raises, module.skip = raises, skip
    return module


def _scipy():
    """scipy.special.softmax, all of scipy that the samples' tests use."""
    package, special = types.ModuleType("scipy"), types.ModuleType("scipy.special")

    def softmax(x, axis=-1):
        powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)
    special.softmax = softmax
    package.special = special
    sys.modules["scipy"], sys.modules["scipy.special"] = package, special


def samples(folder):
    sys.modules.setdefault("pytest", _pytest())
    if importlib.util.find_spec("scipy") is None:
        _scipy()
    sys.path.insert(0, os.path.join(folder, "samples", "src"))
    for path in sorted(glob.glob(os.path.join(folder, "samples", "test", "unit", "test_*.py"))):
        name = os.path.basename(path)[len("test_"):-3]
        try:
            module = _module(path, "sampled_" + name)
        except Exception as error:  # noqa: BLE001
            found = _end(error)
            yield "samples", name, lambda found=found: found
            continue
        for kind in [v for k, v in vars(module).items() if k.startswith("Test") and isinstance(v, type)]:
            yield from _methods(name, kind)


def _methods(name, kind):
    for method, function in inspect.getmembers(kind, inspect.isfunction):
        if not method.startswith("test"):
            continue
        for i, row in enumerate(getattr(function, "rows", [{}])):
            label = f"{name}.{method}" + (f"[{i}]" if row else "")
            yield "samples", label, _guarded(lambda k=kind, f=function, r=row: _call(k(), f, r))


def _call(instance, function, row):
    values = dict(row)
    for parameter in list(inspect.signature(function).parameters)[1:]:
        if parameter not in values:
            made = getattr(type(instance), parameter, None)
            values[parameter] = made(instance) if getattr(made, "fixture", False) else True  # simulation_only
    function(instance, **values)


# ---- kernels without tests of their own
def written(folder):
    samples = os.path.join(folder, "samples")
    for machine, calls in (("trn1.2xlarge", references.SAMPLES), ("trn2.3xlarge", references.SAMPLES_V3)):
        for call in calls:
            yield "references", call.__name__, _guarded(
                lambda c=call, m=machine: references.within(c, samples, machine=m))


def searched(folder):
    for operator in ("adamw", "silu", "matmul"):
        for path in sorted(glob.glob(os.path.join(folder, "trn2", "kda", operator, operator + "_v*.py"))):
            yield "kda", os.path.basename(path)[:-3], _guarded(
                lambda p=path, o=operator: references.within(references.searched, p, o, machine="trn2.3xlarge"))


# file, kernel, shapes, and the module's own reference
_FUSED = (("baseline/attention.py", "baseline_attention", [(128, 512)] * 3, "numpy_attention"),
          ("fused/attention.py", "fused_attention", [(128, 512)] * 3, "numpy_attention"),
          ("baseline/softmax.py", "softmax_kernel", [(256, 512)], "numpy_softmax"))


def fused(folder):
    """Kernels of Trn2 with references of their own, in fp32."""
    for file, function, shapes, reference in _FUSED:
        path = os.path.join(folder, "trn2", "fused", file)
        if os.path.isfile(path):
            yield "fused", function, _guarded(lambda p=path, f=function, s=shapes, r=reference: _equal(p, f, s, r))


def _equal(path, function, shapes, reference):
    before, _jit.settings.machine = _jit.settings.machine, "trn2.3xlarge"
    try:
        module = _module(path, "fused_" + function)
        arrays = [references.f32(*shape) / 4 for shape in shapes]
        got, want = np.asarray(getattr(module, function)(*arrays)), getattr(module, reference)(*arrays)
        apart = np.linalg.norm(got.astype(np.float64) - want) / np.linalg.norm(want)
        assert apart <= 1e-5, f"differs by {apart:.2g} of the norm"
    finally:
        _jit.settings.machine = before


def tests(folder):
    yield from documentation(folder)
    yield from samples(folder)
    yield from written(folder)
    yield from searched(folder)
    yield from fused(folder)
