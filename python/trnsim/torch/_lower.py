"""A recorded graph as StableHLO: each call by the rule of its operator, or by PyTorch's decomposition of it, whose own
operators are recorded and lowered in turn."""
import torch

from trnsim.torch import _emit
from trnsim.torch._decompositions import OURS
from trnsim.torch._engine import Graph, engine
from trnsim.torch._environment import settled
from trnsim.torch._tensor import DeviceTensor, new_tensor
from trnsim.torch._values import DTYPES, ELEMENTS, HOOKS, Unsupported, Value, contiguous, element_of, filled
from trnsim.torch._views import current

RULES = {}  # by the operator's name without its overload


def rule(*names):
    def register(function):
        for name in names:
            RULES[name] = function
        return function
    return register


class Lowering:
    """One call: its results' metas, and numbers and values brought to a shape and an element."""

    def __init__(self, text, call, used):
        self.text, self.call, self.used = text, call, used
        self.meta = call.outs[0]

    @property
    def shape(self):
        return self.meta.shape

    @property
    def element(self):
        return element_of(self.meta.dtype)

    def arguments(self, tensors):
        """All arguments of the schema, in its order."""
        given = filled(self.call.args, tensors)
        named = filled(self.call.kwargs, tensors)
        out = list(given)
        for argument in self.call.func._schema.arguments[len(given):]:
            out.append(named.get(argument.name, argument.default_value if argument.has_default_value() else None))
        return out

    def cast(self, item, element=None, shape=None):
        """A value, or a number, in an element and a shape: those of the result unless they are given."""
        element = element or self.element
        shape = self.shape if shape is None else tuple(shape)
        if not isinstance(item, _emit.X):
            return self.text.constant(item, element, shape)
        return self.text.broadcast(self.text.convert(item, element), shape)

    def refuse(self, elements):
        """Results of these elements, which PyTorch's meta functions let pass: its operator tells why, on the host."""
        if self.element in elements:
            raise Unsupported(f"{self.call.func} of {self.meta.dtype} is not supported: use numbers of another type")

    def common(self, *items):
        """The element in which PyTorch compares or combines values and numbers."""
        def plain(item):
            if isinstance(item, _emit.X):
                return torch.empty((1,) * item.rank, dtype=DTYPES[item.element], device="meta")
            return item
        first, second = (plain(i) for i in items)
        return element_of(torch.result_type(first, second))


def name_of(call):
    return call.func._schema.name.split("::")[1]


def lower_call(text, call, tensors, used=(0,)):
    """The results of one call."""
    lowering = Lowering(text, call, used)
    found = RULES.get(name_of(call))
    if found is None:
        return decomposed(text, call, tensors)
    out = found(lowering, *lowering.arguments(tensors))
    out = list(out) if isinstance(out, (list, tuple)) else [out]
    return [None if x is None or meta is None else text.reshape(text.convert(x, element_of(meta.dtype)), meta.shape)
            for x, meta in zip(out, call.outs)]


def known(func):
    """Whether there is a rule, or a decomposition."""
    return func._schema.name.split("::")[1] in RULES or decomposition(func) is not None


FOLLOWED = []  # operators whose decompositions are being followed


def decomposing():
    return bool(FOLLOWED)


def left_to_host(call):
    """Whether the host computes a call, as torch_xla has it where an operator has no lowering. Tried once."""
    if call.kind is None and not decomposing():
        leaves = [_emit.X(f"%arg{i}", meta.shape, element_of(meta.dtype)) for i, meta in enumerate(call.ins)]
        text = _emit.Text()
        try:
            lower_call(text, call, leaves, range(len(call.outs)))
            call.kind = "device"
        except (Unsupported, NotImplementedError):
            call.kind = "host"
    if call.kind == "host" and decomposing():
        raise Unsupported(f"{call.func} is not supported: `trnsim list ops --frontend aten` lists the operators that "
                          "are")
    return call.kind == "host"


def decomposition(func):
    """Ours, or PyTorch's own, of a private table that every version so far has in one of two places; None without."""
    if func in OURS:
        return OURS[func]
    try:
        from torch._decomp import decomposition_table
    except ImportError:
        return None
    return decomposition_table.get(func)


def decomposed(text, call, tensors):
    function = decomposition(call.func)
    if function is None or call.func in FOLLOWED:  # some are made of themselves
        raise Unsupported(f"{call.func} is not supported: `trnsim list ops --frontend aten` lists the operators that "
                          "are")
    known = {}

    def stand_in(x, meta):
        value = Value(contiguous(meta.shape, meta.dtype))  # a view's value has no memory around it
        known[id(value)] = (value, x)
        return new_tensor(value)
    stands = [x if not isinstance(x, _emit.X) else stand_in(x, meta) for x, meta in zip(tensors, call.ins)]
    running = engine()
    traced = running.traced
    FOLLOWED.append(call.func)
    try:
        with torch.no_grad(), HOOKS["operators"]():
            out = function(*filled(call.args, stands), **filled(call.kwargs, stands))
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        values = [None if not isinstance(t, DeviceTensor) else current(t) for t in out]
        return lower_values(text, values, known)
    finally:
        running.untraced += running.traced - traced
        FOLLOWED.pop()


def lower_values(text, wanted, known):
    """The wanted values in the text; `known` has those of the leaves by id."""
    graph = Graph([v for v in wanted if v is not None and v.pending])

    def leaf(value):
        if id(value) in known:
            return known[id(value)][1]
        if value.host is not None:
            return text.constant(value.host, element_of(value.meta.dtype))
        tensor = engine().backend.download(value.buffer, value.meta)  # of the host, made by the decomposition
        return text.literal(tensor.tolist(), element_of(tensor.dtype), tuple(tensor.shape))
    leaves = [leaf(v) for v in graph.leaves]
    done = lower_nodes(text, graph, leaves)
    return [None if v is None else leaf(v) if not v.pending else done[id(v.node)][v.index] for v in wanted]


def lower_nodes(text, graph, leaves):
    used = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value.pending:
                used.setdefault(id(value.node), set()).add(value.index)
    for place, index in graph.outs:
        used.setdefault(id(graph.nodes[place]), set()).add(index)
    done, given = {}, dict(zip(map(id, graph.leaves), leaves))
    for node in graph.nodes:
        tensors = [done[id(v.node)][v.index] if v.pending else given[id(v)] for v in node.inputs]
        done[id(node)] = lower_call(text, node.call, tensors, used[id(node)])
    return done


def given_up(graph, place):
    """Says that a result takes a parameter's memory."""
    index = graph.donated.get(place)
    return "" if index is None else f" {{tf.aliasing_output = {index} : i32}}"


def lowered_in(element, text, graph, leaves):
    """The results, where the compiler casts all that is fp32 (--auto-cast=all); parameters and results stay."""
    ELEMENTS[torch.float32] = element
    try:
        done = lower_nodes(text, graph, [text.convert(x, element) if x.element == "f32" else x for x in leaves])
    finally:
        ELEMENTS[torch.float32] = "f32"
    metas = [graph.nodes[place].call.outs[index] for place, index in graph.outs]
    outs = [done[id(graph.nodes[place])][index] for place, index in graph.outs]
    return [text.convert(x, element_of(meta.dtype)) for x, meta in zip(outs, metas)]


def program_text(graph, name, ranks=1):
    """The module's text, and whether its processes talk to one another."""
    text = _emit.Text()
    text.ranks = ranks
    leaves = [_emit.X(f"%arg{i}", v.meta.shape, element_of(v.meta.dtype)) for i, v in enumerate(graph.leaves)]
    inside = settled().inside
    if inside and ELEMENTS[torch.float32] == "f32":
        outs = lowered_in(inside, text, graph, leaves)
    else:
        done = lower_nodes(text, graph, leaves)
        outs = [done[id(graph.nodes[place])][index] for place, index in graph.outs]
    parameters = ", ".join(f"{x.name}: {x.type}{given_up(graph, i)}" for i, x in enumerate(leaves))
    results = ", ".join(x.type for x in outs)
    traced = f'trnsim.traced_ops = "{len(graph.nodes)}"'
    if graph.constants is not None:
        traced = f"""trnsim.traced_ops = "0", trnsim.constants = "{' '.join(map(str, graph.constants))}\""""
    lines = [f"module @{name} attributes {{mhlo.num_replicas = {ranks} : i32, mhlo.num_partitions = 1 : i32, "
             f"{traced}}} {{",
             f"  func.func public @main({parameters}) -> ({results}) {{"]
    lines += text.lines
    lines += [f"    return {', '.join(x.name for x in outs)} : {results}", "  }", "}", ""]
    return "\n".join(lines)
