"""neuronx_distributed.NxDModel: the model that ModelBuilder makes. Each core has a traced model for each program; those
of one core have the same weights and states."""
import contextlib
import io
import os

import torch

from trnsim.torch import _recorded, _traced
from trnsim.torch._engine import engine
from trnsim.torch._nxd import state
from trnsim.torch._tensor import from_host

BUILT = "trnsim.built"  # in a file that NxDModel.save() wrote


class TraceArtifacts:
    """The find of trace(): the program, the names of its inputs and states, and those of the model's parameters."""

    def __init__(self, program, names, states, parameters):
        self.program, self.names, self.states, self.parameters = program, names, states, parameters
        self.hlo = self.metaneff = self  # compile() takes them, and nothing else reads them here

    def route(self):
        return tuple((name, shape) for name, (shape, _) in zip(self.names, self.program.shapes))


class CompilationArtifacts:
    def __init__(self, flags):
        self.flags, self.neff_filepath = flags, None


@contextlib.contextmanager
def one_process():
    """The block computes for all cores, also where it is told that it is the first of them."""
    running = engine()
    before, running.ranks = running.ranks, 1
    try:
        yield
    finally:
        running.ranks = before


class StateInitializer(torch.nn.Module):
    """Zeros for the states of each core."""

    def __init__(self, shapes, dtypes, local_ranks_size):
        super().__init__()
        self.shapes, self.dtypes, self.local_ranks_size = shapes, dtypes, local_ranks_size

    def forward(self):
        return [{name: torch.zeros(shape, dtype=self.dtypes[name]) for name, shape in self.shapes.items()}
                for _ in range(self.local_ranks_size)]


class NxDModel(torch.nn.Module):
    def __init__(self, world_size, start_rank=None, local_ranks_size=None, state_initializer=None,
                 layout_transformer=None):
        super().__init__()
        if start_rank not in (None, 0) or local_ranks_size not in (None, world_size):
            state.refuse("NxDModel: cores of several instances are not supported: leave out start_rank and "
                         "local_ranks_size")
        self.world_size, self.state_initializer, self.loaded_on_neuron = world_size, state_initializer, False
        self.traces, self.flags = {}, {}
        self.cores = {}  # for each program the traced models of all cores
        self.memory = [{} for _ in range(world_size)]  # {a weight's or a state's name: its parameter} of each core
        self.names_of_states = set()

    def add(self, key, trace_artifacts, compilation_artifacts):
        found, program = trace_artifacts, trace_artifacts.program
        if self.traces and found.names[0] not in next(iter(self.traces.values())).names:
            raise AssertionError("The model provided appears to have a different signature than all other models added "
                                 "prior.")
        self.traces[key], self.flags[key] = found, compilation_artifacts.flags
        self.names_of_states.update(found.states)
        self.cores[key] = []
        for rank in range(self.world_size):
            own = program.copied()
            own.flags = compilation_artifacts.flags
            if program.place is not None:
                own.held[program.place] = _recorded.there(torch.tensor(rank))
            model = _traced.TracedModel(own).train(False)
            self.share(model, found.states, self.memory[rank])
            self.cores[key].append(model)
        running = engine()
        running.copies = max(running.copies, self.world_size)
        return self

    @staticmethod
    def share(model, states, memory):
        """The traced model's weights and states are those that other programs of the core have by their names."""
        for i, name in enumerate(states):
            model.states[i] = memory.setdefault(name, model.states[i])
        for name in model._program.names:
            key = name.replace(".", "->")
            if key in model.weights:
                model.weights[key] = memory.setdefault(name, model.weights[key])

    @property
    def states(self):
        return [{name: t for name, t in own.items() if name in self.names_of_states} for own in self.memory]

    @property
    def weights(self):
        return [{name: t for name, t in own.items() if name not in self.names_of_states} for own in self.memory]

    def get_available_keys(self):
        return set(self.traces)

    def set_weights(self, sharded_checkpoint):
        if self.loaded_on_neuron:
            raise ValueError("set_weights() was called when the model was already loaded on neuron. If you need to "
                             "replace your weights, call `replace_weights()` instead.")
        if len(sharded_checkpoint) != self.world_size:
            state.refuse(f"set_weights(): there are {self.world_size} cores, and weights of {len(sharded_checkpoint)}: "
                         "give a dictionary for each core (shard_checkpoint)")
        needed = {name for found in self.traces.values() for name in found.parameters}
        for rank, (own, memory) in enumerate(zip(sharded_checkpoint, self.memory)):
            missing = sorted(needed & (set(memory) - set(own)))
            if missing:
                state.refuse(f"set_weights(): the weights of core {rank} lack {', '.join(missing[:3])}")
            for name in sorted((set(memory) - self.names_of_states) & set(own)):
                self.set_one(memory[name], own[name], name, rank)

    @staticmethod
    def set_one(parameter, tensor, name, rank):
        if (tensor.shape, tensor.dtype) != (parameter.shape, parameter.dtype):
            state.refuse(f"set_weights(): {name} of core {rank} is {tuple(tensor.shape)} of {tensor.dtype}, and the "
                         f"model was traced with {tuple(parameter.shape)} of {parameter.dtype}: give weights of the "
                         "same form, or trace it again")
        parameter.data = from_host(tensor.detach().cpu().contiguous())

    def to_neuron(self):
        """States begin with zeros, or as the state initializer has them."""
        if self.loaded_on_neuron:
            return
        given = self.state_initializer() if self.state_initializer is not None else [{}] * self.world_size
        for own, first in zip(self.states, given):
            for name, parameter in own.items():
                parameter.data = from_host(first.get(name, torch.zeros(parameter.shape, dtype=parameter.dtype)))
        self.loaded_on_neuron = True

    def replace_weights(self, sharded_checkpoint):
        self.loaded_on_neuron = False
        self.set_weights(sharded_checkpoint)
        self.to_neuron()

    def buffer(self, buffer_key, rank):
        assert self.loaded_on_neuron, "Model must be loaded on neuron before calling these methods"
        if not 0 <= rank < self.world_size or buffer_key not in self.memory[rank]:
            raise KeyError(f"Could not find neuron buffer: {buffer_key} in rank {rank}")
        return self.memory[rank][buffer_key]

    def read_from_neuron_buffer(self, buffer_key, rank):
        return self.buffer(buffer_key, rank).detach().cpu()

    def write_to_neuron_buffer(self, tensor, buffer_key, rank):
        there = self.buffer(buffer_key, rank)
        if tensor.shape != there.shape:
            raise KeyError(f"Cannot write tensor of shape {tuple(tensor.shape)} to neuron buffer with shape "
                           f"{tuple(there.shape)}")
        there.data = from_host(tensor.detach().to(there.dtype).contiguous())

    def routed(self, args, kwargs, model_name):
        """The program's key, and its inputs in order."""
        first = next(iter(self.traces.values()))
        order = list(dict.fromkeys(name for found in self.traces.values() for name in found.names))
        if len(args) > len(order) or set(kwargs) - set(order) or set(order[:len(args)]) & set(kwargs):
            raise TypeError(f"NxDModel takes the inputs {', '.join(order)}, and got {len(args)} by place and "
                            f"{', '.join(kwargs) or 'none'} by name")
        given = {**dict(zip(order, args)), **kwargs}
        route = {name: tuple(t.shape) for name, t in given.items()}
        keys = [key for key, found in self.traces.items() if dict(found.route()) == route]
        if not keys:
            traced = "; ".join(f"{key}: {dict(found.route())}" for key, found in self.traces.items())
            state.refuse(f"NxDModel: no program was traced for inputs of {route}, only {traced}: pad the inputs, or "
                         "trace the model for these")
        if len(keys) > 1 and model_name is None:
            raise AssertionError(f"Got {len(keys)} possible routes but model_name wasn't provided. The Model Name must "
                                 "be provided if input routing is ambiguous.")
        if model_name is not None and model_name not in keys:
            raise AssertionError("Provided model_name does not match model name found by the shape router. Found "
                                 f"{keys[0]} but got {model_name}")
        key = model_name or keys[0]
        return key, [given[name] for name in self.traces[key].names]

    def forward(self, *args, model_name=None, forward_mode="default", **kwargs):
        if not self.loaded_on_neuron:
            raise RuntimeError("Model not initialized. Call set_weights() followed by to_neuron()")
        if forward_mode != "default":
            state.refuse(f"NxDModel(forward_mode={forward_mode!r}) is not supported, only \"default\", whose inputs "
                         "are the same for all cores")
        key, inputs = self.routed(args, kwargs, model_name)
        with one_process():
            return _traced.together(self.cores[key], inputs)

    def save(self, path_to_save, save_weights=False):
        """With the weights of each core, or with those that it was traced with, which no core keeps."""
        memory = io.BytesIO()
        torch.save({BUILT: 1, **self.stored(save_weights)}, memory)
        _traced.replace(os.fspath(path_to_save), memory.getvalue())

    def stored(self, save_weights):
        parts = [dict(key=key, names=found.names, states=found.states, parameters=found.parameters,
                      place=found.program.place, flags=self.flags[key], program=found.program.described())
                 for key, found in self.traces.items()]
        held = [{name: t.detach().cpu() for name, t in own.items()} for own in self.weights] if save_weights else None
        return {"world_size": self.world_size, "parts": parts, "weights": held}

    @classmethod
    def load(cls, path_to_model, start_rank=None, local_ranks_size=None):
        found = torch.load(path_to_model)
        if not isinstance(found, dict) or BUILT not in found:
            raise ValueError("The Torchscript Model Supplied was not produced with the NxDModel.save method.")
        return read(found, start_rank, local_ranks_size)


def read(found, *placed, kind=NxDModel):
    """The model that save() has stored."""
    model = kind(found["world_size"], *placed)
    for part in found["parts"]:
        program = _recorded.loaded(part["program"])
        program.place = part["place"]
        model.add(part["key"], TraceArtifacts(program, part["names"], part["states"], part["parameters"]),
                  CompilationArtifacts(part["flags"]))
    if found["weights"] is not None:
        model.set_weights(found["weights"])
        model.to_neuron()
    return model


_traced.READERS[BUILT] = read
