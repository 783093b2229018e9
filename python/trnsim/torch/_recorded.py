"""The record that torch_neuronx.trace() makes of a model: the calls of its operators with the weights that they read.
Its Python does not run again: branches stay as they were taken, and a script without the model's class can load it."""
import contextlib
import sys

import torch

from trnsim.torch import _record
from trnsim.torch._collectives import Collective, of_name
from trnsim.torch._engine import Graph, Refused, engine, script_line
from trnsim.torch._tensor import from_host, new_tensor
from trnsim.torch._values import HOOKS, Call, Meta, Node, Value, contiguous, filled

INPUT, STATE, HELD = -1, -2, -3  # sources of values, besides the number of a call
LOADED = {}  # calls in files, by their descriptions: models of the same calls are the same program


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


class Program:
    """`calls`, and for each the values that it reads: (source, index). `outs`: the same for the results, whose form is
    `form`. `held`: values besides inputs and states: weights and numbers. `states`: their first values, on the host;
    `becomes`: for each the result that it has after a call. `names`: places in `held` by the model's names of weights,
    several of one that it shares. `flags`: the compiler's."""

    def __init__(self, shapes):
        self.shapes, self.calls, self.reads, self.held, self.outs = shapes, [], [], [], []
        self.form, self.states, self.becomes, self.inlines, self.names, self.flags = None, [], [], True, {}, ""

    def take(self, outs, inputs, states):
        """Makes the record of the results' values."""
        places = {id(v): (INPUT, i) for i, v in enumerate(inputs)}
        places.update((id(v), (STATE, i)) for i, v in enumerate(states))
        pending = list({id(v): v for v in outs if v.pending}.values())
        nodes = Graph(pending).nodes if pending else []
        numbers = {id(node): number for number, node in enumerate(nodes)}

        def source(value):
            if value.node is not None:
                return numbers[id(value.node)], value.index
            if id(value) not in places:
                places[id(value)] = HELD, len(self.held)
                self.held.append(value)
            return places[id(value)]
        self.calls = [node.call for node in nodes]
        self.reads = [[source(v) for v in node.inputs] for node in nodes]
        self.outs = [source(v) for v in outs]

    def replay(self, inputs, states):
        """The results' values, of new nodes."""
        known = {INPUT: inputs, STATE: states, HELD: self.held}
        for number, (call, reads) in enumerate(zip(self.calls, self.reads)):
            node = Node(call, [known[source][index] for source, index in reads])
            known[number] = [Value(meta, node, i) for i, meta in enumerate(call.outs)]
        return [known[source][index] for source, index in self.outs]

    def described(self):
        """Everything, as a file has it."""
        down = engine().backend.download
        held = [(v.host, v.meta.dtype) if v.buffer is None else down(v.buffer, v.meta) for v in self.held]
        return dict(shapes=self.shapes, calls=[described(call) for call in self.calls], reads=self.reads, held=held,
                    outs=self.outs, form=plain(self.form), states=self.states, becomes=self.becomes,
                    inlines=self.inlines, names=self.names, flags=self.flags)

    def copied(self):
        """Another with the same calls, whose weights can be replaced."""
        other = Program(self.shapes)
        other.__dict__.update(self.__dict__, held=list(self.held))
        return other

    def replace(self, weights):
        """Other weights by name, as many as are given. Errors: Refused for other shapes and types."""
        for name, place in self.names.items():
            if name in weights:
                tensor, meta = weights[name].detach(), self.held[place].meta
                if (tuple(tensor.shape), tensor.dtype) != (meta.shape, meta.dtype):
                    raise Refused(script_line(), f"replace_weights(): {name} is {tuple(tensor.shape)} of "
                                  f"{tensor.dtype}, and the model was traced with {meta.shape} of {meta.dtype}: give "
                                  "weights of the same form, or trace it again")
                self.held[place] = there(tensor)


def loaded(found):
    """The program that described() has described."""
    program = Program(found["shapes"])
    program.__dict__.update({name: found[name] for name in ("reads", "outs", "form", "states", "becomes", "inlines")})
    program.names, program.flags = found.get("names", {}), found.get("flags", "")  # files of before have none
    program.calls = [call_of(words) for words in found["calls"]]
    for item in found["held"]:
        if isinstance(item, tuple):
            program.held.append(Value(Meta((), (), item[1]), host=item[0]))
        else:
            program.held.append(HOOKS["current"](from_host(item)))
    return program


def described(call):
    if isinstance(call.func, Collective):
        name = (*call.func._schema.name.split("::"), "default")
    elif not isinstance(call.func, torch._ops.OpOverload):
        raise Refused(script_line(), f"a traced model with {call.name} cannot be stored: trace it in the script that "
                                     "uses it")
    else:
        name = (*call.func._schema.name.split("::"), call.func._schema.overload_name or "default")
    metas = [[meta and (meta.shape, meta.stride, meta.dtype, meta.offset) for meta in side]
             for side in (call.ins, call.outs)]
    words = name, call.args, call.kwargs, *metas, call.single, call.kind
    LOADED.setdefault(key_of(words), call)
    return words


def key_of(words):
    """Equal for equal calls; slots are objects."""
    name, args, kwargs, *rest = words
    slots = [f"%{i}" for i in range(len(rest[0]))]
    return repr((name, filled(args, slots), filled(kwargs, slots), rest))


def call_of(words):
    key = key_of(words)
    if key not in LOADED:
        (space, name, overload), args, kwargs, ins, outs, single, kind = words
        func = of_name(name) if space == "trnsim" else getattr(getattr(getattr(torch.ops, space), name), overload)
        call = LOADED[key] = Call(func, args, kwargs, [meta and Meta(*meta) for meta in ins])
        call.outs, call.single, call.kind = [meta and Meta(*meta) for meta in outs], single, kind
        _record.CALLS.append(call)
    return LOADED[key]


def plain(form):
    """Results of classes that another script cannot import become what these are derived from."""
    kind = type(form)
    if isinstance(form, dict):
        items = {key: plain(value) for key, value in form.items()}
        return kind(**items) if importable(kind) else items
    if isinstance(form, (list, tuple)):
        items = [plain(value) for value in form]
        if not importable(kind):
            return tuple(items) if isinstance(form, tuple) else items
        return kind(*items) if hasattr(form, "_fields") else kind(items)
    return form


def importable(kind):
    return kind.__module__ != "__main__" and getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


def there(tensor):
    """The value of an input on the device; pending ones are computed, so that no record goes on behind it."""
    if not hasattr(tensor, "_base_storage"):
        return HOOKS["current"](from_host(tensor))
    value = HOOKS["current"](tensor)
    if value.pending:
        engine().compute([value], "inputs of trace()")
    return value


@contextlib.contextmanager
def moved(func):
    """A module whose parameters and buffers are on the device inside of the block, and its state_dict()'s tensors there
    by name. It is no copy, which not every object in a module's attributes allows; behind the block each attribute is
    again the object that it was."""
    modules = list(func.modules()) if isinstance(func, torch.nn.Module) else []
    if any(isinstance(one, torch.jit.ScriptModule) for one in modules):
        raise Refused(script_line(), "trace() of a module that torch.jit has compiled: trace the module of which it "
                                     "was made")
    before = [(one, dict(vars(one)), dict(one._parameters), dict(one._buffers)) for one in modules]
    new, found = {}, {}

    def on_device(tensor):
        if id(tensor) not in new:
            here = new_tensor(there(tensor.detach()))
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            new[id(tensor)] = torch.nn.Parameter(here, tensor.requires_grad) if is_parameter else here
        return new[id(tensor)]
    try:
        for one in modules:
            for tensors in (one._parameters, one._buffers):
                tensors.update({name: on_device(t) for name, t in tensors.items() if t is not None})
        for one in modules:  # lists of its own parameters, as of recurrent layers; others stay the same objects
            vars(one).update({name: type(value)([new.get(id(t), t) for t in value])
                              for name, value in list(vars(one).items())
                              if type(value) in (list, tuple) and any(id(t) in new for t in value)})
        for prefix, one in func.named_modules() if modules else ():
            for name, tensor in (*one._parameters.items(), *one._buffers.items()):
                if tensor is not None:
                    found[f"{prefix}.{name}".lstrip(".")] = tensor
        yield found
    finally:
        for one, attributes, *own in before:
            vars(one).clear()
            vars(one).update(attributes)
            for tensors, old in zip((one._parameters, one._buffers), own):
                tensors.clear()
                tensors.update(old)


def record(func, examples, aliases):
    """The Program of a module or a function. `aliases`: {a parameter or a buffer: the number of the result that it has
    from then on}."""
    names = names_of(func, aliases)
    with moved(func) as held:
        program, outs = recorded(func, examples, names, held)
    program.becomes = list(aliases.values())
    program.states = [tensor.detach().clone() for tensor in aliases]
    for tensor, name, place in zip(aliases, names, program.becomes):
        check(tensor, name, place, outs)
    return program


def recorded(func, examples, names, held):
    """The Program, and the results' values. `names`: of the states, among the tensors `held` of a module."""
    program, running = Program(shapes_of(examples)), engine()
    inputs = [there(t) for t in tensors_of(examples)]
    inputs = [Value(contiguous(v.meta.shape, v.meta.dtype), buffer=v.buffer) for v in inputs]
    tensors = iter([new_tensor(value) for value in inputs])
    weights = {name: HOOKS["current"](tensor) for name, tensor in held.items()}
    states = [weights[name] for name in names]
    with torch.no_grad(), running.ahead(), running.freezing(inputs + states):
        out = func(*mapped(lambda _: next(tensors), examples))
    outs = [HOOKS["current"](t if hasattr(t, "_base_storage") else from_host(t)) for t in tensors_of(out)]
    program.take(outs, inputs, states)
    program.form = mapped(lambda _: torch.empty(0), out)
    places = {id(value): i for i, value in enumerate(program.held)}
    program.names = {name: places[id(value)] for name, value in weights.items() if id(value) in places}
    return program, outs


def names_of(func, aliases):
    tensors = [*func.named_parameters(), *func.named_buffers()] if isinstance(func, torch.nn.Module) else []
    names = {id(tensor): name for name, tensor in tensors}
    if any(id(tensor) not in names for tensor in aliases):
        raise Refused(script_line(), "trace(): input_output_aliases names a tensor that is no parameter and no buffer "
                                     "of the model: make states torch.nn.Parameter(..., requires_grad=False) of it")
    return [names[id(tensor)] for tensor in aliases]


def check(tensor, name, place, outs):
    if type(place) is not int or not 0 <= place < len(outs):
        raise Refused(script_line(), f"trace(): input_output_aliases gives {name} the result {place}, but the model "
                                     f"returns {len(outs)} tensors, which are counted from 0")
    meta = outs[place].meta
    if (tuple(tensor.shape), tensor.dtype) != (meta.shape, meta.dtype):
        raise Refused(script_line(), f"trace(): {name} is {tuple(tensor.shape)} of {tensor.dtype}, and the result "
                                     f"{place}, which input_output_aliases gives it, is {meta.shape} of {meta.dtype}")
