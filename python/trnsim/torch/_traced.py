"""torch_neuronx.trace: a model compiled ahead of time. Its weights are constants of the program, which the compiler may
store as TensorE takes them, and a call is one launch: no framework traces anything."""
import copy

import torch

from trnsim.torch._engine import Refused, engine, script_line
from trnsim.torch._tensor import DEVICE
from trnsim.torch._values import HOOKS

MARK = "trnsim.traced"  # in a file that TracedModel.save() wrote


def mapped(call, x):
    """`x` with `call` of each tensor in it."""
    if isinstance(x, torch.Tensor):
        return call(x)
    if isinstance(x, dict):  # a ModelOutput of transformers is one, with a constructor of its own
        return type(x)(**{key: mapped(call, value) for key, value in x.items()})
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[mapped(call, value) for value in x])
    return type(x)(mapped(call, value) for value in x) if isinstance(x, (list, tuple)) else x


def tensors_of(x):
    found = []
    mapped(lambda t: found.append(t) or t, x)
    return found


def shapes_of(inputs):
    return [(tuple(t.shape), t.dtype) for t in tensors_of(inputs)]


class TracedModel(torch.nn.Module):
    """Takes tensors of the host, and gives such; with `--timed` those of the device, which nobody computes."""

    def __init__(self, func, examples):
        super().__init__()
        self._given, self._examples = func, examples
        self._func = copy.deepcopy(func).to(DEVICE) if isinstance(func, torch.nn.Module) else func
        self._shapes = shapes_of(examples)
        tensors = [*self._func.parameters(), *self._func.buffers()] if isinstance(func, torch.nn.Module) else []
        self._held = [HOOKS["current"](t) for t in tensors]  # kept, so that their ids stay theirs

    def forward(self, *inputs):
        if shapes_of(inputs) != self._shapes:
            raise Refused(script_line(), f"the model was traced for inputs {self._shapes} and gets {shapes_of(inputs)}: "
                                         "trace it for these, or pad them")
        running = engine()
        with torch.no_grad():
            out = self._func(*mapped(lambda t: t.to(DEVICE), inputs))
        values = [HOOKS["current"](t) for t in tensors_of(out) if hasattr(t, "_base_storage")]
        pending = [value for value in {id(v): v for v in values}.values() if value.pending]
        if pending:
            running.cuts["a traced model"] += 1
            running.compute(pending, "a traced model", {id(v) for v in self._held})
        return mapped(lambda t: t.cpu(), out) if running.backend.computes else out

    def save(self, f, _extra_files=None):
        torch.save({MARK: self._given, "examples": self._examples}, f)


def trace(func, example_inputs, *_, **options):
    """As torch_neuronx.trace(): `example_inputs` is a tensor or a tuple. Options of the compiler's own are taken as they
    are: NEURON_CC_FLAGS decides what the simulator obeys."""
    known = {"compiler_workdir", "compiler_args", "partitioner_config", "inline_weights_to_neff", "cpu_backend",
             "input_output_aliases", "states"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(f"trace() got an unexpected keyword argument '{unknown[0]}'")
    examples = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    model = TracedModel(func, examples)
    model(*examples)
    return model


def load(original):
    """torch.jit.load(), which also reads what TracedModel.save() wrote."""
    def loaded(f, *args, **kwargs):
        try:
            return original(f, *args, **kwargs)
        except RuntimeError:
            if hasattr(f, "seek"):
                f.seek(0)
            found = torch.load(f)
            if not isinstance(found, dict) or MARK not in found:
                raise
            return trace(found[MARK], found["examples"])
    return loaded
