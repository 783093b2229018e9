"""Operators between cores: recorded as nodes, computed by all cores together; one core alone
needs none."""
import types

from trnsim.torch import _emit_more
from trnsim.torch._engine import engine
from trnsim.torch._lower import rule
from trnsim.torch._tensor import new_tensor
from trnsim.torch._values import Call, Node, Slot, Unsupported, contiguous
from trnsim.torch._views import current

OPERATIONS = {"sum": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or"}


class Collective:
    """Stands for an operator of PyTorch in a call."""

    def __init__(self, name):
        self._schema = types.SimpleNamespace(name="trnsim::" + name, arguments=[])
        self._overloadname = "default"

    def __str__(self):
        return self._schema.name


FUNCTIONS, CALLS = {}, {}


def collective(name, tensor, shape, *args):
    """A tensor of `shape` that `name` makes of each core's `tensor`."""
    func = FUNCTIONS.setdefault(name, Collective(name))
    key = (name, tensor._meta.key, tuple(shape), args)
    if key not in CALLS:
        call = CALLS[key] = Call(func, [Slot(0), *args], {}, [tensor._meta])
        call.outs, call.kind = [contiguous(shape, tensor.dtype)], "collective"
    node = Node(CALLS[key], [current(tensor)])
    engine().recorded(node)
    return new_tensor(node.outputs[0])


def every(at):
    return [list(range(at.text.ranks))]


@rule("all_reduce")
def all_reduce(at, x, operation):
    if operation not in OPERATIONS:
        raise Unsupported(f"all_reduce of {operation!r}: {', '.join(OPERATIONS)} are there")
    return _emit_more.all_reduce(at.text, x, OPERATIONS[operation], every(at))


@rule("all_gather")
def all_gather(at, x, dim):
    attributes = f"all_gather_dim = {dim} : i64, {_emit_more.groups_text(every(at))}"
    return _emit_more.collective(at.text, "all_gather", x, at.shape, attributes)


@rule("reduce_scatter")
def reduce_scatter(at, x, operation, dim):
    at.text.collectives += 1
    attributes = f"scatter_dimension = {dim} : i64, {_emit_more.groups_text(every(at))}"
    return at.text.region([x], at.text.monoid(OPERATIONS[operation], x.element), attributes, [(at.shape, x.element)],
                          "reduce_scatter")[0]
