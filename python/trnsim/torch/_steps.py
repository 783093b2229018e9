"""A model's operators as torch.jit traces them: one after another, each with the values that it takes. Numbers among
these are those of the example, as in every trace."""
import torch

from trnsim.torch._engine import Refused, engine, script_line
from trnsim.torch._values import ALLOCATED

DTYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16,
          6: torch.float32, 7: torch.float64, 11: torch.bool, 15: torch.bfloat16}  # by PyTorch's numbers in its graphs
FORMATS = {0: torch.contiguous_format, 1: torch.preserve_format, 2: torch.channels_last, 3: torch.channels_last_3d}
CODED = {"dtype": DTYPES, "memory_format": FORMATS, "layout": {0: torch.strided}}


class Ref:
    """A value of the model's inputs, of its weights, or of a step."""
    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def __reduce__(self):
        return Ref, (self.number,)


def replaced(item, call):
    """`item` with `call` of each Ref in it."""
    if isinstance(item, Ref):
        return call(item)
    return type(item)(replaced(x, call) for x in item) if type(item) in (list, tuple) else item


def refs_of(item):
    found = []
    replaced(item, lambda ref: found.append(ref.number))
    return found


def operator(name, overload):
    packet = torch.ops.aten
    for part in name.split("."):
        packet = getattr(packet, part)
    return getattr(packet, overload or "default")


class Step:
    """One operator. `outs`: numbers of its results, or of a list's elements; `place`: the script's line."""

    def __init__(self, kind, overload, given, outs=(), place=""):
        self.kind, self.overload, self.given, self.outs, self.place = kind, overload, given, list(outs), place

    def described(self):
        return self.kind, self.overload, self.given, self.outs, self.place

    def arguments(self, known):
        """(args, kwargs) for the operator; places are those of the tensors, which a record has on the device."""
        schema = operator(self.kind.split("::")[1], self.overload)._schema
        place = ALLOCATED if engine().compiles_ahead else torch.device("cpu")
        args, kwargs = [], {}
        for argument, item in zip(schema.arguments, self.given):
            item = replaced(item, lambda ref: known[ref.number])
            if type(item) is int and argument.name in CODED:
                item = CODED[argument.name][item]
            item = place if isinstance(item, torch.device) else item
            if argument.kwarg_only:
                kwargs[argument.name] = item
            else:
                args.append(item)
        return args, kwargs

    def run(self, known):
        args, kwargs = self.arguments(known)
        out = operator(self.kind.split("::")[1], self.overload)(*args, **kwargs)
        return list(out) if isinstance(out, (list, tuple)) else [out]


def inlined(traced):
    """PyTorch computes some of it meanwhile, of which no mode is to be asked."""
    guard = torch._C._DisableTorchDispatch()
    try:
        return traced.inlined_graph if isinstance(traced, torch.nn.Module) else traced.graph
    finally:
        del guard


class Steps:
    """The steps of a model, traced with examples. `weights`: by their numbers; `values`: of every number, with the
    examples; `out`: the results' form; `inputs`: their numbers."""

    def __init__(self, func, examples):
        self.steps, self.weights, self.values, self.names, self.lists = [], {}, [], {}, {}
        with torch.enable_grad():  # without gradients encoders are one operator of PyTorch's CPU
            traced = torch.jit.trace(func, examples, strict=False, check_trace=False)
        with torch.no_grad():
            graph = inlined(traced)
            inputs = list(graph.inputs())
            if isinstance(func, torch.nn.Module):
                self.names[inputs.pop(0).debugName()] = traced
            self.inputs = [self.number(value) for value in examples]
            self.names.update(zip((value.debugName() for value in inputs), map(Ref, self.inputs)))
            for node in graph.nodes():
                self.read(node)
        self.out = [self.names[value.debugName()] for value in graph.outputs()][0]

    def number(self, value):
        self.values.append(value)
        return len(self.values) - 1

    def read(self, node):
        kind, outs = node.kind(), [value.debugName() for value in node.outputs()]
        given = [self.names[value.debugName()] for value in node.inputs()]
        if kind == "prim::Constant":
            self.names[outs[0]] = next(node.outputs()).toIValue()
        elif kind == "prim::GetAttr":
            self.names[outs[0]] = self.held(getattr(given[0], node.s("name")))
        elif kind == "prim::ListConstruct":
            self.names[outs[0]] = given
        elif kind == "prim::TupleConstruct":
            self.names[outs[0]] = tuple(given)
        elif kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            self.names.update(zip(outs, given[0]))
        elif kind == "prim::NumToTensor":
            self.names[outs[0]] = torch.tensor(given[0])
        elif kind.startswith("aten::"):
            self.operator(node, kind, given, outs)
        else:
            raise Refused(script_line(), f"{kind} in a model's trace is not supported: trace the model without "
                                         "partitioner_config, or name its operators by functions of PyTorch")

    def held(self, item):
        """A tensor of the model, by its number."""
        if not isinstance(item, torch.Tensor):
            return item
        for number, weight in self.weights.items():
            if weight is item or weight.data_ptr() == item.data_ptr() and weight.shape == item.shape and weight.numel():
                return Ref(number)
        number = self.number(item)
        self.weights[number] = item
        return Ref(number)

    def operator(self, node, kind, given, outs):
        schema = torch._C.parse_schema(node.schema())
        step = Step(kind, schema.overload_name, given, (), node.sourceRange().strip())
        found = step.run(self.values)
        if not any(isinstance(x, torch.Tensor) for x in found):
            self.names.update(zip(outs, found if len(outs) > 1 else [found[0] if len(found) == 1 else found]))
            return
        step.outs = [self.number(value) for value in found]
        refs = [Ref(number) for number in step.outs]
        self.names.update(zip(outs, refs if len(outs) == len(refs) else [refs]))  # a list of tensors is one output
        self.steps.append(step)


class Part(torch.nn.Module):
    """Steps as a module: of the values that others have made to those that others read."""

    def __init__(self, steps, weights, takes, gives):
        super().__init__()
        self.steps, self.takes, self.gives, self.held = steps, takes, gives, list(weights)
        for number, weight in weights.items():
            self.register_buffer(f"weight{number}", weight.detach())

    def forward(self, *inputs):
        known = dict(zip(self.takes, inputs))
        known.update((number, getattr(self, f"weight{number}")) for number in self.held)
        for step in self.steps:
            known.update(zip(step.outs, step.run(known)))
        return tuple(known[number] for number in self.gives)

    def described(self):
        return dict(steps=[step.described() for step in self.steps], takes=self.takes, gives=self.gives,
                    weights={number: getattr(self, f"weight{number}") for number in self.held})


def part_of(found):
    return Part([Step(*words) for words in found["steps"]], found["weights"], found["takes"], found["gives"])
