"""torch_neuronx.trace: a model compiled ahead of time. Its weights are constants of the program, which the compiler may
store as TensorE takes them, and a call is one launch: no framework traces anything."""
import io
import os
import warnings

import torch

from trnsim.torch import _recorded
from trnsim.torch._engine import Graph, Refused, engine, host_scalar, script_line
from trnsim.torch._environment import compiled_with, flags_of_model
from trnsim.torch._recorded import mapped, shapes_of, tensors_of
from trnsim.torch._tensor import DEVICE, from_host, new_tensor
from trnsim.torch._values import HOOKS, Slot, Value, contiguous, filled
from trnsim.torch._views import made

aten = torch.ops.aten

MARK = "trnsim.traced"  # in a file that TracedModel.save() wrote


class Folder:
    """Computes once, on the host, all that depends on weights alone: transposed weights, say, and the factors of a
    batch norm. A result that is larger than its operands is left to the program."""

    def __init__(self, weights):
        self.held = {id(v): v for v in weights}  # kept, so that their ids stay theirs
        self.folded = None  # Values, in the order in which the program's nodes ask for them
        self.kernels = {}  # of convolutions, with features outside: where TensorE takes them without turning them

    def __call__(self, values):
        nodes = Graph(values).nodes
        inside = {id(node) for node in self.foldable(nodes)}
        asked = []  # (node that asks, place among its inputs, value)
        for node in nodes:
            if id(node) not in inside:
                asked += [(node, i, v) for i, v in enumerate(node.inputs)
                          if v.node is not None and id(v.node) in inside]
        if self.folded is None:
            self.folded = self.computed([v for _, _, v in asked])
            self.held.update((id(v), v) for v in self.folded)
        for (node, place, _), value in zip(asked, self.folded):
            node.inputs = [*node.inputs[:place], value, *node.inputs[place + 1:]]
        for node in nodes:
            if node.call.func is aten.convolution.default and id(node.inputs[1]) in self.held:
                self.turn_kernel(node)

    def turn_kernel(self, node):
        """The kernel is stored as [features, outputs, ...], and the program sees it as it was."""
        kernel, transposed, groups = node.inputs[1], node.call.args[6], node.call.args[8]
        if transposed or groups != 1 or kernel.pending:
            return
        order = [1, 0, *range(2, len(kernel.meta.shape))]
        stored = self.kernels.get(id(kernel))
        if stored is None:
            tensor = self.weight(kernel).permute(order).contiguous()
            stored = Value(contiguous(tensor.shape, tensor.dtype), buffer=engine().upload(tensor))
            self.kernels[id(kernel)], self.held[id(stored)] = stored, stored
        seen = made(aten.permute.default, [stored], [Slot(0), order], contiguous(kernel.meta.shape, kernel.meta.dtype))
        node.inputs = [node.inputs[0], seen, *node.inputs[2:]]

    def foldable(self, nodes):
        found = set()
        for node in nodes:
            known = node.inputs and all(id(v.node) in found if v.node is not None else
                                        id(v) in self.held or v.host is not None for v in node.inputs)
            size = sum(meta.numel for meta in node.call.outs)
            if known and node.call.kind != "collective" and size <= sum(v.meta.numel for v in node.inputs):
                found.add(id(node))
                yield node

    def computed(self, values):
        results, out = {}, {}
        for value in values:
            key = (id(value.node), value.index)
            if key not in out:
                tensor = self.tensor(value, results).contiguous()
                out[key] = Value(contiguous(tensor.shape, tensor.dtype), buffer=engine().upload(tensor))
        return [out[id(v.node), v.index] for v in values]

    def weight(self, value):
        return engine().backend.download(value.buffer, value.meta, own=False)

    def tensor(self, value, results):
        """The value on the host; results of nodes are kept for the others that read them."""
        if value.node is None:
            return host_scalar(value) if value.buffer is None else self.weight(value)
        if id(value.node) not in results:
            call = value.node.call
            tensors = [self.tensor(v, results) for v in value.node.inputs]
            results[id(value.node)] = call.func(*filled(call.args, tensors), **filled(call.kwargs, tensors))
        found = results[id(value.node)]
        return found if value.node.call.single else found[value.index]


class TracedModel(torch.nn.Module):
    """Takes tensors of the host, and gives such; with `--timed` those of the device, without numbers. Its parameters
    are `states`, which stay on the device from call to call; weights belong to the program."""

    def __init__(self, program):
        super().__init__()
        self._program, self._shapes = program, program.shapes
        self.states = torch.nn.ParameterList(torch.nn.Parameter(from_host(t), False) for t in program.states)
        one = {place: torch.nn.Parameter(new_tensor(value), False) for place, value in self.placed_weights()}
        self.weights = torch.nn.ParameterDict({name.replace(".", "->"): one[place]
                                               for name, place in program.names.items() if place in one})
        self._fold = Folder([v for v in program.held if v.buffer is not None] if program.inlines else [])

    def placed_weights(self):
        """Weights that are parameters of the program, each with its place there."""
        program = self._program
        return [] if program.inlines else [(place, program.held[place]) for place in set(program.names.values())]

    def take_weights(self):
        """The program has the weights that the script has written."""
        for name, place in self._program.names.items() if len(self.weights) else ():
            value = HOOKS["current"](self.weights[name.replace(".", "->")])
            if value.pending:
                engine().compute([value], "a weight is written")
            self._program.held[place] = value

    def replace_weights(self, weights):
        self.take_weights()
        self._program.replace(weights)
        for name, place in self._program.names.items():
            self.weights[name.replace(".", "->")].data = new_tensor(self._program.held[place])

    def forward(self, *inputs):
        return together([self], inputs)

    def called(self, given, states):
        """The values of a call's results, and those among them that are still to be computed."""
        self.take_weights()
        with engine().ahead():
            values = self._program.replay(given, states)
        pending = [value for value in {id(v): v for v in values}.values() if value.pending]
        if pending:
            self._fold(pending)
        for state, place in zip(self.states, self._program.becomes):
            HOOKS["assign"](state, values[place])
        return values, pending

    @staticmethod
    def settled(state):
        """The value of a state, also of one that the script has written to, whose memory the next may take."""
        value = HOOKS["current"](state)
        if value.pending:
            engine().compute([value], "a state is written")
        state._base_storage.home = value
        return value

    def begin(self):
        """States are again those that the model was traced with."""
        for state, begin in zip(self.states, self._program.states):
            state.data = from_host(begin)

    def __deepcopy__(self, memo):
        """A model of its own: its weights and its states can be replaced."""
        self.take_weights()
        copied = TracedModel(self._program.copied()).train(self.training)
        for mine, other in zip(copied.states, self.states):
            mine.data = other.detach().clone()
        return copied

    def save_to_buffer(self, _extra_files=None):
        self.take_weights()
        memory = io.BytesIO()  # PyTorch's own writer of files ends the process on a full disk
        torch.save({MARK: 2, "training": self.training, **self._program.described()}, memory)
        return memory.getvalue()

    def save(self, f, _extra_files=None):
        keep(self.save_to_buffer(), f)


def together(models, inputs):
    """The results of one call: of the first of several cores' models, which work at the same time."""
    first, running = models[0], engine()
    if shapes_of(inputs) != first._shapes:
        raise Refused(script_line(), f"the model was traced for inputs {first._shapes} and gets "
                                     f"{shapes_of(inputs)}: trace it for these, or pad them")
    given = [HOOKS["current"](t.detach().to(DEVICE).contiguous()) for t in tensors_of(inputs)]
    states = [[model.settled(state) for state in model.states] for model in models]
    (values, pending), *others = [model.called(given, before) for model, before in zip(models, states)]
    if pending:
        running.cuts["a traced model"] += 1
        with compiled_with(first._program.flags):
            running.compute(pending, "a traced model", set(first._fold.held), [more for _, more in others])
    asked = values[:len(tensors_of(first._program.form))]
    copies = [new_tensor(Value(v.meta, buffer=v.buffer, host=v.host)) for v in asked]  # states keep their memory
    tensors = iter([t.cpu() for t in copies] if running.backend.computes else copies)
    return mapped(lambda _: next(tensors), first._program.form)


def keep(data, f):
    """In a file that is open, or in all of the one of that path."""
    if hasattr(f, "write"):
        f.write(data)
    else:
        replace(os.fspath(f), data)


def replace(path, data):
    """Writes all of a file, or leaves the old one."""
    regular = os.path.isfile(path) or not os.path.exists(path)
    beside = f"{path}.{os.getpid()}.new" if regular else path
    try:
        with open(beside, "wb") as file:
            file.write(data)
        if regular:
            os.replace(beside, path)
    except OSError:
        if regular and os.path.exists(beside):
            os.remove(beside)
        raise


def made_model(func, example_inputs, *_, input_output_aliases=None, compiler_args=None, **options):
    """As torch_neuronx.trace(): `example_inputs` is a tensor or a tuple. `compiler_args` are as NEURON_CC_FLAGS,
    for this model; `compiler_workdir` and `cpu_backend` say where neuronx-cc works, and change no program here."""
    known = {"compiler_workdir", "inline_weights_to_neff", "cpu_backend"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise TypeError(f"trace() got an unexpected keyword argument '{unknown[0]}'")
    flags = flags_of_model(compiler_args)
    examples = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    program = _recorded.record(func, examples, dict(input_output_aliases or {}))
    program.flags, program.inlines = flags, bool(options.get("inline_weights_to_neff", True))
    return TracedModel(program).train(getattr(func, "training", False)), examples  # as torch.jit.trace()'s


def trace(func, example_inputs, *placed, partitioner_config=None, **options):
    """The model that made_model() makes, compiled, which runs it once. `partitioner_config`: operators that the device
    does not have are computed by the host."""
    if partitioner_config is not None:
        divided = HOOKS["partition"](func, example_inputs, partitioner_config, options)
        if divided is not None:
            return divided
        options.update(partitioner_config.trace_kwargs or {})
    model, examples = made_model(func, example_inputs, *placed, **options)
    model(*examples)
    model.begin()
    return model


def traced(model, user):
    """The traced model itself, also of one around it. Errors: TypeError for any other."""
    while not isinstance(model, TracedModel):
        model = getattr(model, "model", None) or getattr(model, "module", None)
        if model is None:
            raise TypeError(f"{user} takes a model that torch_neuronx.trace() made")
    return model


def replace_weights(neuron_model, weights):
    """Other weights, of a module or its state_dict(), in a model that was traced with inline_weights_to_neff=False."""
    model = traced(neuron_model, "replace_weights()")
    if model._program.inlines or not model._program.names:
        warnings.warn("replace_weights(): the model has no separate weights and stays as it is: trace it with "
                      "inline_weights_to_neff=False", stacklevel=2)
        return
    model.replace_weights(weights.state_dict() if isinstance(weights, torch.nn.Module) else weights)


def without_states(model, user):
    if getattr(model, "_program", None) is not None and model._program.states:
        raise Refused(script_line(), f"{user} of a model with input_output_aliases: its states belong to one core and "
                                     "the traced inputs; call the model itself")


class Batches(torch.nn.Module):
    """dynamic_batch(): any batch, in parts of the size that the model was traced for; the last is filled up."""

    def __init__(self, model):
        super().__init__()
        without_states(model, "dynamic_batch()")
        self.model, self.size = model, model._shapes[0][0][0]

    def forward(self, *inputs):
        size, count = self.size, inputs[0].shape[0]
        outs = []
        for first in range(0, count, size):
            parts = [t[first:first + size] for t in inputs]
            missing = size - parts[0].shape[0]
            parts = [torch.cat([t, t.new_zeros((missing, *t.shape[1:]))]) if missing else t for t in parts]
            outs.append(mapped(lambda t: t[:size - missing], self.model(*parts)))
        found = [tensors_of(out) for out in outs]
        joined = iter([torch.cat(parts) for parts in zip(*found)])
        return mapped(lambda _: next(joined), outs[0])


def names():
    """torch_neuronx's; those that say when and where a model is loaded change no number and no program."""
    def placed(model, *_, **__):
        return model
    return dict(trace=trace, replace_weights=replace_weights, dynamic_batch=Batches, lazy_load=placed,
                async_load=placed, move_trace_to_device=placed)


def read(found):
    return TracedModel(_recorded.loaded(found)).train(found.get("training", False))


READERS = {MARK: read}  # of the files that save() of a traced model and of those made of several have written


def load(original):
    """torch.jit.load(), which also reads these files."""
    def loaded(f, *args, **kwargs):
        try:
            return original(f, *args, **kwargs)
        except RuntimeError:
            if hasattr(f, "seek"):
                f.seek(0)
            found = torch.load(f)
            mark = next((mark for mark in READERS if isinstance(found, dict) and mark in found), None)
            if mark is None:
                raise
            return READERS[mark](found)
    return loaded
