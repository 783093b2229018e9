"""nki.jit, simulate_kernel, benchmark, profile: a kernel is traced, compiled, computed and timed."""
import contextlib
import functools
import inspect
import math
import os
import time as _time

import numpy as np

from trnsim import _core
from trnsim.nki import _dialects, _doubts, _dtypes, _grids, _prints, _programs, _report, _torch
from trnsim.nki._arguments import Arguments, written
from trnsim.nki._latency import BenchmarkResult
from trnsim.nki._state import HBM, error, state
from trnsim.nki._watch import Watch
from trnsim.nki.typing import TensorType


class Settings:
    """The options of `python3 -m trnsim.nki`."""
    machine, changes = "trn1.2xlarge", []
    passes = ""              # switches of the compiler's: "-join,+fuse"; none: as written
    numbers = True           # compute results
    timed = False            # time every kernel that the script calls
    threads = 0
    instructions = int(os.environ.get("TRNSIM_NKI_INSTRUCTIONS", 4_000_000))
    seconds = float(os.environ.get("TRNSIM_NKI_SECONDS", 120))
    report = None            # called with (Compiled, times)
    kernels = 0              # that were called
    warns = True             # what a chip would do wrongly without a word is said on stderr
    heard = None             # called with (kernel, args, kwargs) in place of every call


settings = Settings()


def machine(cores=1, changes=()):
    """The machine of the command, of physical cores; one does the work of several programs that meet, with the memories
    of all. `changes`: unless the command says otherwise."""
    more = [f"{memory}.partition={cores}x" for memory in ("sbuf", "psum")] if cores > 1 else []
    key = (settings.machine, ("chip.logical=1", *changes, *settings.changes, *more))
    if key not in _machines:
        _machines[key] = _core.Machine(settings.machine, list(key[1]))
    return _machines[key]


_machines = {}
type(state).machine = staticmethod(machine)


@contextlib.contextmanager
def _on(name, changes):
    """Kernels are compiled for that machine, with these changes."""
    before = settings.machine, settings.changes
    settings.machine, settings.changes = name, changes
    try:
        yield
    finally:
        settings.machine, settings.changes = before


class Compiled:
    """A kernel for arguments of certain shapes: `seconds`, `engines`, `lines`, ... once it is timed."""

    def __init__(self, name, kernel, inputs, results, traced_in):
        self.name, self.kernel, self.inputs, self.results, self.traced_in = name, kernel, inputs, results, traced_in
        self._time, self._path = None, False
        self.iterations = state.iterations  # of dynamic loops
        self.grid = math.prod(state.grid)         # programs
        self.programs = max(state.cores, _grids.cores(state.grid))  # that the chip runs on cores of their own
        self.of_cores = None  # gives the kernel of each core; None: one core does the work of all here

    def time(self, path=False):
        """Seconds, bytes, engines, lines; with `path` how much of the critical path each line holds. Of several cores
        those of the slowest one."""
        if self._time is None or (path and not self._path):
            self._time, self._path = self.timed.time(path), path
        return self._time

    @functools.cached_property
    def timed(self):
        """The kernel whose time counts."""
        return self.kernel if self.of_cores is None else _core.Kernel.slower(*self.of_cores())

    def __repr__(self):
        return _report.text(self, self.time(path=True))

    def _repr_html_(self):
        return _report.notebook(self, self.time(path=True))


def compile_kernel(func, grid, args, kwargs, simulated=False, prints=False):
    """Traces the kernel once for each program of the grid, and compiles what it did. `prints`: nl.device_print does."""
    together = False
    try:
        compiled = _compiled(func, grid, args, kwargs, (simulated, prints, together))
    except _programs.Meets:
        together = True
        compiled = _compiled(func, grid, args, kwargs, (simulated, prints, together))
    if compiled.programs > 1:
        chosen = settings.machine, settings.changes

        def of_cores():
            with _on(*chosen):
                if together:
                    return _compiled(func, grid, args, kwargs, (simulated, False, True), _EACH)
                return [_compiled(func, grid, args, kwargs, (simulated, False, False), core)
                        for core in range(compiled.programs)]
        compiled.of_cores = of_cores
    return compiled


_EACH = -1  # in place of a core: the programs of each, which meet


def _begin(func, grid, together, timed):
    """A trace with nothing in it. `timed`: of programs that meet, each for its own core."""
    state.__dict__.clear()
    state.cores, state.timed = math.prod(grid) if together else 1, timed
    state.trace = machine(state.cores).trace(func.__name__, settings.instructions)
    if together:
        state.trace.set_apart()
    if timed:
        state.trace.set_timed()
    state.newer = _dialects.is_newer(func)
    if state.newer:
        state.trace.set_newer()
    state.grid, state.tensors, state.constants, state.shared = tuple(grid), [], [], []
    state.known, state.loops, state.placed, state.lent, state.masks, state.iterations = {}, [], {}, [], {}, 0
    state.doubts, state.recipes, state.heard, state.prints = [], {}, None, None
    state.descriptors, state.keeps_order = set(), False
    state.transposes = settings.passes != "none" and "-transpose" not in settings.passes
    state.direct = getattr(func, "_nki_auto_alloc", False)


def _compiled(func, grid, args, kwargs, kind, core=None):
    """The kernel of all programs; with `core` only the instructions of that one's programs, or a kernel for each."""
    simulated, prints, together = kind
    names = list(inspect.signature(func).parameters)
    settings.kernels += core is None
    begin = _time.perf_counter()
    before = dict(state.__dict__)
    _begin(func, grid, together, core == _EACH)
    state.prints = [] if prints else None
    try:
        arguments = Arguments()
        state.arrays = arguments.inputs
        with Watch(settings.seconds):
            views = [arguments.tensor(a, names[i] if i < len(names) else f"argument{i}") for i, a in enumerate(args)]
            named = {k: arguments.tensor(v, k) for k, v in kwargs.items()}
            results = _programs.traced(grid, lambda: _programs.given(func(*views, **named), simulated), together,
                                       None if core in (None, _EACH) else _grids.on_core(grid, core))
        inputs = [(reg, array) for reg, array, _ in arguments.inputs] + list(state.constants)
        taken = {reg for reg, _ in inputs}
        tensors = [(name or f"tensor{i}", int(np.prod(shape)) * _dtypes.size_of(number), i in taken)
                   for i, (_, name, number, shape) in enumerate(state.tensors)]
        changes, passes = _dialects.generators(machine().generation), _dialects.passes(func, settings.passes)
        if core == _EACH:
            return _core.Kernel.apart(state.trace, state.cores, tensors, machine(1, changes), passes)
        kernel = _core.Kernel(state.trace, tensors, machine(state.cores, changes), passes)
        if core is not None:
            return kernel
        compiled = Compiled(func.__name__, kernel, inputs, results, _time.perf_counter() - begin)
        idle = _doubts.unwritten(results, set(kernel.written()), func)
        compiled.warnings = _doubts.said(state.doubts + kernel.doubts() + idle, settings.warns)
        compiled.arguments, compiled.prints = arguments.inputs, state.prints or []
        return compiled
    finally:
        state.__dict__.clear()
        state.__dict__.update(before)


def _memory(kernel, view):
    flat = np.frombuffer(kernel.memory(view.reg), _dtypes.dtype_of(view.code))[view.offset:]
    return np.lib.stride_tricks.as_strided(flat, view.shape, [step * flat.itemsize for step, _ in view._steps()])


def _put(kernel, reg, array):
    memory = np.frombuffer(kernel.memory(reg), np.uint8)
    memory[:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1) if array.dtype.kind != "V" else \
        np.frombuffer(array.tobytes(), np.uint8)


def compute(compiled):
    """NumPy arrays of what the kernel returns, computed by its instructions."""
    for reg, array in compiled.inputs:
        _put(compiled.kernel, reg, array)
    compiled.kernel.compute(settings.threads)
    compiled.warnings += _doubts.said(compiled.kernel.outside(), settings.warns)
    for reg, array, given in compiled.arguments:  # a kernel may write to its arguments
        written(given, array, np.frombuffer(compiled.kernel.memory(reg), array.dtype).reshape(array.shape))
    _prints.said(compiled.prints, lambda view: _memory(compiled.kernel, view))
    return outputs(compiled)


def outputs(compiled):
    """Arrays of the kernel's results, tensors of PyTorch where its arguments were; zeros when nothing was computed.
    A type of ml_dtypes that an argument has is the results' type too."""
    of_torch = any(_torch.is_tensor(given) for _, _, given in compiled.arguments)
    theirs = {array.dtype: given.dtype for _, array, given in compiled.arguments
              if isinstance(getattr(given, "dtype", None), np.dtype) and given.dtype != array.dtype
              and _dtypes.ours(given.dtype) == array.dtype}

    def one(value):
        if isinstance(value, _core.View):
            if value.space != HBM:
                raise error("the kernel returns a tile in SBUF or PSUM", "store it to a tensor in shared HBM")
            array = np.array(_memory(compiled.kernel, value))
            return _torch.from_numpy(array) if of_torch else array.view(theirs.get(array.dtype, array.dtype))
        if isinstance(value, dict):
            return {k: one(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(*map(one, value)) if hasattr(value, "_fields") else type(value)(map(one, value))
        return value
    return one(compiled.results)


_LATER = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)


class Kernel:
    """A function that nki.jit decorates."""

    def __init__(self, func, grid=(), target=None, simulated=False):
        self.func, self.grid, self.target = getattr(func, "func", func), grid, target
        if isinstance(func, Kernel):  # with the grid that it is launched on
            self.grid, self.target = grid or func.grid, target or func.target
        self.simulated = simulated  # results on the chip are given too
        self.changes = []           # of the machine, by its compiler's options
        self.called = None          # the arrays of its first call, where rank asks for them
        functools.update_wrapper(self, self.func)
        self.func_name = self.func.__name__
        if any(kind(self.func) for kind in _LATER):
            raise TypeError(f"{self.func_name} is a generator or a coroutine, whose call runs nothing: return results")

    __iter__ = None  # its items are its launches, without end

    def __getitem__(self, grid):
        return type(self)(self.func, _grids.sizes(grid, settings.instructions), target=self.target,
                          simulated=self.simulated)

    def compile(self, *args, **kwargs):
        return self._compiled(args, kwargs, False)

    def _compiled(self, args, kwargs, prints):
        with _on(settings.machine, settings.changes):
            if self.target is not None and not settings.machine.startswith(self.target):
                settings.machine = _TARGETS[self.target]
            if self.changes and machine().generation >= 3:
                settings.changes = [*settings.changes, *self.changes]
            return compile_kernel(self.func, self.grid, args, kwargs, self.simulated, prints)

    def __call__(self, *args, **kwargs):
        if state.trace is not None:
            return self.func(*args, **kwargs)  # a kernel that another one calls is part of it
        if settings.heard:
            settings.heard(self, args, kwargs)
        compiled = self._compiled(args, kwargs, settings.numbers and not settings.timed)
        if settings.timed and settings.report:
            settings.report(compiled, compiled.time(path=True))
        return compute(compiled) if settings.numbers else outputs(compiled)


def _decorator(cls):
    def decorate(func=None, **options):
        return (lambda f: cls(f, **options)) if func is None else cls(func, **options)
    return decorate


# platform_target of nki.jit, and a machine with that chip
_TARGETS = {"trn1": "trn1.2xlarge", "inf2": "trn1.2xlarge", "trn2": "trn2.3xlarge"}
_MODES = ("auto", "jax", "torchxla", "baremetal", "benchmark", "profile", "simulation", "trace")
# Options of the SDK's compiler, which change no result: without its check of bounds, a place out of them has none.
_IGNORED = {"kernel_return", "show_compiler_tb", "debug_kernel", "enable_cache", "additional_compile_opt",
            "experimental_flags", "enable_out_of_bound_check"}


def jit(func=None, *, mode="auto", platform_target=None, **options):
    """Decorates a kernel: called with NumPy arrays, it returns NumPy arrays computed by the simulated instructions."""
    unknown = next((name for name in options if name not in _IGNORED), None)
    if unknown is not None:
        raise error(f"nki.jit takes no {unknown}", "leave it out")
    if mode not in _MODES:
        raise error(f"nki.jit has no mode {mode!r}", "choose from " + ", ".join(_MODES))
    if platform_target is not None and platform_target not in _TARGETS:
        raise error(f"{platform_target!r} is not a platform of nki.jit here", "choose from " + ", ".join(_TARGETS))
    kind = _Timed if mode in ("benchmark", "profile") else Kernel
    wrap = functools.partial(kind, target=platform_target, simulated=mode == "simulation")
    return wrap(func) if func is not None else wrap


trace = jit


def baremetal(func=None, **_):
    return jit(func)


def simulate_kernel(kernel, *args, **kwargs):
    """The kernel's results for these arguments."""
    own = kernel if isinstance(kernel, Kernel) else Kernel(kernel)
    if settings.heard:
        settings.heard(own, args, kwargs)
    shown = Kernel(own.func, own.grid, own.target, simulated=True)
    return compute(shown._compiled(args, kwargs, True))


_TIMED = {"warmup": 10, "iters": 100, "folder": None, "changes": []}
# Options of nki.benchmark and nki.profile that say where the SDK's tools write and run: they change no result.
_TOOLS = {"device_count", "save_neff_name", "save_trace_name", "additional_compile_opt", "show_compiler_tb",
          "profile_nth", "debug_kernel", "experimental_flags", "platform_target", "kernel_return"}


def _changes_of(name, options):
    """What the options change of the machine: without DGE, descriptors are made before the program runs. Errors:
    TypeError for an option that there is not."""
    for option in options:
        if option not in _TOOLS:
            raise TypeError(f"nki.{name}() got an unexpected keyword argument '{option}'")
    return ["dma.generators=0"] if "--disable-dge" in (options.get("additional_compile_opt") or "") else []


class _Timed(Kernel):
    def __init__(self, func, grid=(), target=None, simulated=False, **options):
        super().__init__(func, grid, target, simulated)
        self.warmup, self.iters, self.folder, self.changes = (options.get(k, v) for k, v in _TIMED.items())
        self.benchmark_result = None

    def __getitem__(self, grid):
        out = super().__getitem__(grid)
        out.warmup, out.iters, out.folder, out.changes = self.warmup, self.iters, self.folder, self.changes
        return out

    def __call__(self, *args, **kwargs):
        if settings.heard:
            settings.heard(self, args, kwargs)
        compiled = self.compile(*args, **kwargs)
        self.benchmark_result = BenchmarkResult(compiled, compiled.time())
        if self.folder is not None:
            _report.profile(compiled, self.folder)
        elif settings.report is None:
            print(self.benchmark_result.text(self.func_name))
        if settings.report:
            settings.report(compiled, compiled.time(path=True))
        return compute(compiled) if settings.numbers and not _only_shapes(args) else outputs(compiled)


def _only_shapes(args):
    return any(isinstance(a, TensorType) for a in args)


def benchmark(func=None, *, warmup=10, iters=100, **options):
    """Decorates a kernel so that a call times it and prints its latency. `benchmark_result.nc_latency` has microseconds
    on a NeuronCore; `benchmark_result.full_results["latency"]` also includes the runtime around the kernel, by
    percentile ("50"), as neuron-bench does."""
    wrap = functools.partial(_Timed, warmup=warmup, iters=iters, changes=_changes_of("benchmark", options))
    return wrap(func) if func is not None else wrap


def profile(func=None, *, working_directory=None, save_neff_name="file.neff", save_trace_name="profile.ntff",
            **options):
    """Like `benchmark`; with `working_directory` it also writes KERNEL.json, the time by engine and by line, and
    KERNEL.trace.json, a time line for ui.perfetto.dev. NEFF and NTFF, the formats of the compiler and of
    neuron-profile, are not written; names for them other than the default are refused."""
    for given, usual in ((save_neff_name, "file.neff"), (save_trace_name, "profile.ntff")):
        if given not in (usual, None):
            raise error(f"nki.profile writes no {given}: NEFF and NTFF are formats of the hardware's own tools",
                        "leave the name out; working_directory gets KERNEL.json and KERNEL.trace.json")
    wrap = functools.partial(_Timed, folder=working_directory, changes=_changes_of("profile", options))
    return wrap(func) if func is not None else wrap


def sync_thread(*_, **__):
    """Does nothing: the programs of a grid run one after the other here."""
