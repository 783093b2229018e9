"""neuronx_distributed.ModelBuilder: a model's programs for several sizes of inputs, recorded once for all cores.
Buffers that forward() assigns are states, which stay on the cores and which all programs of a model share."""
import contextlib
import inspect
import os

import torch

from trnsim.torch import _dist, _recorded
from trnsim.torch._engine import engine
from trnsim.torch._environment import flags_of_model
from trnsim.torch._nxd import built, sharding, state
from trnsim.torch._values import HOOKS

FLAGS = "--enable-saturate-infinity --auto-cast=none --model-type=transformer -O1"  # the documented default
PRETENDED = []  # of how many cores this process, which is one, takes itself for the first


@contextlib.contextmanager
def mock_distributed(world_size=1):
    """The block is told that it is the first of so many cores. The process groups are the script's to make."""
    running = engine()
    if running.ranks > 1:
        state.refuse("one process builds the model of all cores: call it without spawn() and --nproc_per_node")
    running.ranks = world_size
    PRETENDED.append(world_size)
    try:
        with sharding.kept_state():
            yield
    finally:
        PRETENDED.pop()
        running.ranks, running.collectives = 1, []
        _dist.destroy_process_group()


class NxDParallelState:
    def __init__(self, world_size=1, rank=0, tensor_model_parallel_size=1, **others):
        if rank != 0:
            state.refuse(f"NxDParallelState(rank={rank}): one process builds the model of all cores, as the first; "
                         "leave it at 0")
        self.size, self.others = world_size, dict(others, tensor_model_parallel_size=tensor_model_parallel_size)

    def __enter__(self):
        self.inside = contextlib.ExitStack()
        try:
            if not PRETENDED:
                self.inside.enter_context(mock_distributed(self.size))
                _dist.init_process_group("xla")
            state.initialize_model_parallel(**self.others)
        except BaseException:
            self.inside.close()
            raise
        return self

    def __exit__(self, *_):
        state.destroy_model_parallel()
        self.inside.close()


class Stateful(torch.nn.Module):
    """Takes the inputs of `names`; returns the model's results, and the buffers that it has assigned."""

    def __init__(self, model, names, assigned):
        super().__init__()
        self.model, self.names, self.assigned, self.found = model, names, assigned, []

    def forward(self, *tensors):
        before = self.buffers_now()
        values = {name: HOOKS["current"](t) for name, t in before.items()}
        out = self.model(**dict(zip(self.names, tensors)))
        after = self.buffers_now()
        for name, tensor in after.items():
            if tensor is before[name] and HOOKS["current"](tensor) is not values[name]:
                state.refuse(f"ModelBuilder: forward() writes to the buffer {name} in place: assign the result to it "
                             f"(self.{name} = ...)")
        self.found[:] = [name for name, t in after.items() if t is not before[name]]
        return (out, [after[name] for name in self.assigned])

    def buffers_now(self):
        return dict(self.model.named_buffers()) if isinstance(self.model, torch.nn.Module) else {}


def inputs_of(model, args, kwargs):
    """{a parameter's name: its example}. Errors: those that are documented."""
    call = model.forward if isinstance(model, torch.nn.Module) else model
    known = inspect.signature(call).parameters
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in known.values()) or not known:
        raise ValueError("trace(): the model must have explicitly defined parameters, at least one, and no *args or "
                         "**kwargs")
    if args is None and kwargs is None:
        raise ValueError("trace(): give example inputs as args or kwargs")
    args = (args,) if isinstance(args, torch.Tensor) else tuple(args or ())
    given = inspect.signature(call).bind(*args, **(kwargs or {})).arguments
    for name, tensor in given.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"trace(): the example of {name} is a {type(tensor).__name__}: give a tensor")
    return dict(given)


def trace(model, args=None, kwargs=None, spmd=True, preserve_parameters=True):
    if not spmd:
        raise NotImplementedError("trace(spmd=False): only spmd=True is supported")
    if engine().ranks > 1 and not PRETENDED:
        state.refuse("ModelBuilder records one core's program for all: call it from one process, within "
                     "NxDParallelState(world_size=...), without spawn() and --nproc_per_node")
    examples = inputs_of(model, args, kwargs)
    own = Stateful(model, list(examples), [])
    program = recorded(own, examples, [])  # which says which buffers are states
    if own.found:
        own.assigned, count = list(own.found), len(program.outs)
        program = recorded(own, examples, [count + i for i in range(len(own.assigned))])
    return artifacts(program, list(examples), list(own.assigned), model)


def artifacts(program, inputs, states, model):
    """The find of a program that returns (the model's results, its states), of a module whose `model` it is."""
    engine().collectives = []
    program.form, program.inlines = program.form[0], False
    program.names = {name[len("model."):]: place for name, place in program.names.items()}
    program.place = place_of(program)
    parameters = [name for name, _ in model.named_parameters()] if isinstance(model, torch.nn.Module) else []
    return built.TraceArtifacts(program, inputs, states, [name for name in parameters if name not in states])


def recorded(own, examples, places):
    """The program; `places` of the buffers that are states, among the results."""
    buffers, before = own.buffers_now(), torch.get_rng_state()
    try:
        return _recorded.record(own, tuple(examples.values()),
                                {buffers[name]: place for name, place in zip(own.assigned, places)})
    finally:
        torch.set_rng_state(before)


def place_of(program):
    """The place of the core's number among the program's held values, or None."""
    number = state.STATE.get("place")
    value = number is not None and HOOKS["current"](number)
    return next((i for i, held in enumerate(program.held) if held is value), None)


def compiled(hlo_module, metaneff, compiler_workdir=None, compiler_args=None, key=None):
    return built.CompilationArtifacts(flags_of_model(FLAGS if compiler_args is None else compiler_args))


class ModelBuilder:
    def __init__(self, model):
        if not callable(model):
            raise TypeError("ModelBuilder(model): give a torch.nn.Module or a function")
        self.model, self.traces, self.cores = model, {}, engine().ranks

    def trace(self, args=None, kwargs=None, tag=None, spmd=True):
        found = trace(self.model, args, kwargs, spmd)
        tag = f"{found.route()}" if tag is None else tag
        if tag in self.traces:
            raise ValueError(f"ModelBuilder.trace(): there is a trace with the tag {tag!r} already")
        self.traces[tag], self.cores = found, engine().ranks
        return self

    def compile(self, priority_model_key=None, compiler_workdir=None, compiler_args=None, max_workers=None):
        if not self.traces:
            raise ValueError("ModelBuilder.compile(): there is no trace: call trace() before it")
        if isinstance(compiler_args, dict) and set(compiler_args) - set(self.traces):
            raise ValueError("ModelBuilder.compile(): compiler_args has tags that no trace has: "
                             f"{sorted(set(compiler_args) - set(self.traces))}")
        model = built.NxDModel(self.cores)
        for tag, found in self.traces.items():
            flags = compiler_args.get(tag) if isinstance(compiler_args, dict) else compiler_args
            model.add(tag, found, compiled(found.hlo, found.metaneff, compiler_args=flags))
        return model


def shard_checkpoint(checkpoint, model, start_rank=None, end_rank=None, load_on_device=False, serialize_path=None):
    """The weights of each core, of those of the whole model."""
    count = state.get_tensor_model_parallel_size()
    first, last = start_rank or 0, count - 1 if end_rank is None else end_rank
    if not 0 <= first <= last < count:
        raise ValueError(f"shard_checkpoint(): start_rank {first} and end_rank {last} must be in order and below the "
                         f"{count} cores")
    parts = []
    for rank in range(first, last + 1):
        own = sharding.part_of(checkpoint, model, rank, count)
        parts.append({name: own[name] for name in model.state_dict() if name in own})
    if serialize_path is not None:
        from safetensors.torch import save_file
        os.makedirs(serialize_path, exist_ok=True)
        for rank, own in enumerate(parts, first):
            save_file({name: tensor.contiguous() for name, tensor in own.items()},
                      os.path.join(serialize_path, f"tp{rank}_sharded_checkpoint.safetensors"))
    return parts
