"""torch.compile() and torch._dynamo, which an older PyTorch does not have. With torch_xla's backends a call of a
compiled function runs its graph at once, whether its results are read or not; with other backends the function is as it
was, as graphs are compiled for the device without it too."""
import contextlib
import functools
import sys
import types

import torch

from trnsim.torch._engine import GRAPHS, engine
from trnsim.torch._newer import only, supplied
from trnsim.torch._tensor import DeviceTensor
from trnsim.torch._values import HOOKS, LIVE

RUNNING = ("openxla", "openxla_eval", "torchxla_trace_once", "aot_torchxla_trace_once", "torchxla_trivial",
           "aot_torchxla_trivial", "neuron")
CAUSE = "a compiled function"
OPTIONS = ("fullgraph", "dynamic", "backend", "mode", "options", "disable")
SETTINGS = dict(
    accumulated_cache_size_limit=256, allow_ignore_mark_dynamic=False, allow_rnn=False, assume_static_by_default=True,
    automatic_dynamic_shapes=True, cache_size_limit=8, capture_dynamic_output_shape_ops=False,
    capture_func_transforms=True, capture_scalar_outputs=False, compiled_autograd=False, dead_code_elimination=True,
    disable=False, do_not_emit_runtime_asserts=False, dynamic_shapes=True, enforce_cond_guards_match=True,
    error_on_recompile=False, fail_on_recompile_limit_hit=False, force_parameter_static_shapes=True,
    guard_nn_modules=False, inline_inbuilt_nn_modules=False, log_level=30, numpy_default_float="float64",
    optimize_ddp=True, print_graph_breaks=False, recompile_limit=8, repro_after=None, repro_level=2,
    report_guard_failures=True, skip_nnmodule_hook_guards=True, specialize_float=False, specialize_int=False,
    suppress_errors=False, trace_numpy=True, verbose=False, verify_correctness=False)
AROUND = []  # of each compiled function that runs: the values that were pending before it


def pending():
    return GRAPHS.pending(LIVE.left(), [])


def compute_new(before):
    """Computes what has come since; all that was pending before belongs to other graphs."""
    known = set(map(id, before))
    values = [value for value in pending() if id(value) not in known]
    if values:
        engine().cuts[CAUSE] += 1
        engine().compute(values, CAUSE)


def tensors_in(item):
    if isinstance(item, DeviceTensor):
        yield item
    elif isinstance(item, torch.nn.Module):
        yield from tensors_in([*item.parameters(), *item.buffers()])
    elif isinstance(item, (list, tuple, dict)):
        for one in item.values() if isinstance(item, dict) else item:
            yield from tensors_in(one)


def executed(function, args, kwargs):
    """function(*args, **kwargs), whose graph has run behind it. Pending inputs are computed by one before it."""
    if AROUND or engine().compiles_ahead:  # a part of the graph around
        return function(*args, **kwargs)
    given = [HOOKS["current"](t) for t in tensors_in([function, args, kwargs])]
    given = [value for value in given if value.pending]
    if given:
        engine().cuts["inputs of a compiled function"] += 1
        engine().compute(given, "inputs of a compiled function")
    AROUND.append(pending())
    try:
        out = function(*args, **kwargs)
        compute_new(AROUND[-1])
        return out
    finally:
        AROUND.pop()


class OptimizedModule(torch.nn.Module):
    """A compiled module: attributes are those of the module inside, whose state it has."""

    def __init__(self, mod):
        super().__init__()
        self._orig_mod, self.training = mod, mod.training

    def forward(self, *args, **kwargs):
        return executed(self._orig_mod, args, kwargs)

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)


def compiled(model):
    if isinstance(model, torch.nn.Module):
        return OptimizedModule(model)

    @functools.wraps(model)
    def called(*args, **kwargs):
        return executed(model, args, kwargs)
    return called


def compile(model=None, **options):  # noqa: A001
    """torch.compile()."""
    only(options, OPTIONS, "compile")
    runs = options.get("backend") in RUNNING and not options.get("disable")
    if model is None:
        return compiled if runs else lambda function: function
    return compiled(model) if runs else model


def compile_in_place(module, **options):
    """Module.compile()."""
    only(options, OPTIONS, "compile")
    if options.get("backend") in RUNNING and not options.get("disable"):
        module.forward = functools.partial(forward_of, module, module.forward)


def forward_of(module, forward, *args, **kwargs):
    return executed(lambda _, *rest, **named: forward(*rest, **named), (module, *args), kwargs)


def optimize(backend="inductor", **options):
    """torch._dynamo.optimize(backend)(function)."""
    only(options, ("nopython", "guard_export_fn", "guard_fail_fn", "disable", "dynamic"), "optimize")
    return compile(backend=backend, disable=options.get("disable", False))


def graph_break():
    """The graph of a compiled function ends here, and another begins."""
    if AROUND:
        compute_new(AROUND[-1])


class Config(types.ModuleType):
    """Settings that bind nothing here: how often a function may be compiled, which shapes are fixed."""

    def __init__(self, name):
        super().__init__(name)
        vars(self).update(SETTINGS)

    def __setattr__(self, name, value):
        if name not in SETTINGS and not name.startswith("__"):
            raise AttributeError(f"{self.__name__}.{name} does not exist")
        super().__setattr__(name, value)

    @contextlib.contextmanager
    def patch(self, changes=None, **more):
        changes = {**({} if changes is None else changes), **more}
        before = {name: getattr(self, name) for name in changes}
        for name, value in changes.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)


def plain(fn=None, *_, **__):
    """In place of decorators that keep a function out of a graph, or in it: there is none to keep it out of."""
    return fn if fn is not None else lambda function: function


def nothing(*_, **__):
    """In place of calls that forget compiled functions, and of marks of shapes: each is compiled for itself here."""


def modules():
    """{module: its names}."""
    said = dict(reset=nothing, disable=plain, allow_in_graph=plain, is_compiling=lambda: False,
                list_backends=lambda exclude_tags=(): sorted((*RUNNING, "inductor")))
    marks = dict(mark_dynamic=nothing, maybe_mark_dynamic=nothing, mark_static=nothing, mark_static_address=nothing)
    found = {"torch._dynamo": dict(said, **marks, disallow_in_graph=plain, forbid_in_graph=plain, optimize=optimize,
                                   run=plain, graph_break=graph_break, OptimizedModule=OptimizedModule,
                                   is_dynamo_supported=lambda: True),
             "torch._dynamo.eval_frame": dict(OptimizedModule=OptimizedModule),
             "torch.compiler": dict(said, compile=compile, is_dynamo_compiling=lambda: False,
                                    cudagraph_mark_step_begin=nothing)}
    return found


def install():
    if hasattr(torch, "compile"):
        return
    supplied(torch, compile=compile)
    supplied(torch.nn.Module, compile=compile_in_place)
    made = {name: types.ModuleType(name) for name in modules()}
    made["torch._dynamo.config"] = Config("torch._dynamo.config")
    for name, module in made.items():
        vars(module).update(modules().get(name, {}))
        if name == "torch._dynamo":
            module.__path__ = []
        sys.modules[name] = module
        place, _, last = name.rpartition(".")
        setattr(sys.modules[place], last, module)
