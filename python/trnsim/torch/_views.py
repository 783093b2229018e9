"""Views: how a view's value comes from its storage, and how a write to a view changes the storage."""
import torch

from trnsim.torch._tensor import view_of
from trnsim.torch._values import HOOKS, Call, Node, Slot, Unsupported, Value, contiguous

aten = torch.ops.aten


class Step:
    """One view: a call whose first argument is the tensor that is looked at, and which of its results."""
    __slots__ = ("call", "index")

    def __init__(self, call, index):
        self.call, self.index = call, index


def steps_of(call):
    """The views that a call makes, kept at it."""
    if call.steps is None:
        call.steps = [Step(call, index) for index in range(len(call.outs))]
    return call.steps


def step_into(base, step):
    return view_of(base, (*base._chain, step), step.call.outs[step.index])


def apply(step, value):
    return Value(step.call.outs[step.index], Node(step.call, [value]), step.index)


def current(tensor):
    """The value of a tensor now."""
    storage = tensor._base_storage
    if not tensor._chain:
        return storage.value
    seen = tensor._seen
    if seen is not None and seen[0] == storage.version and seen[1] is storage:
        return seen[2]
    value = storage.value
    for step in tensor._chain:
        value = apply(step, value)
    tensor._seen = (storage.version, storage, value)
    return value


def write(tensor, value):
    storage = tensor._base_storage
    befores = [storage.value] if tensor._chain else ()
    for step in tensor._chain[:-1]:
        befores.append(apply(step, befores[-1]))
    for step, before in zip(reversed(tensor._chain), reversed(befores)):
        value = put_back(step, before, value)
    storage.value = value
    storage.version += 1


RESHAPES = {"view", "_reshape_alias", "squeeze", "unsqueeze", "alias", "detach", "lift_fresh", "expand",
            "_unsafe_view", "lift"}


def put_back(step, before, new):
    """The value that was looked at, with `new` where the view is."""
    key = (step.call.id, step.index, before.meta.key, new.meta.key)
    found = BACK.get(key)
    if found is None:
        found = BACK[key] = call_back(step, before, new)
    return Node(found, [before, new] if len(found.ins) > 1 else [new]).value(0)


def call_back(step, before, new):
    call, name = step.call, step.call.func._schema.name.split("::")[1]
    shape = before.meta.shape
    args = list(call.args[1:]) + list(call.kwargs.values())
    if call.func is aten.view.dtype:
        return made_call(call.func, [new], [Slot(0), before.meta.dtype], contiguous(shape, before.meta.dtype))
    if name in RESHAPES:
        if new.meta.numel != before.meta.numel:
            raise Unsupported("writing to an expanded tensor: give it memory of its own with .clone()")
        return made_call(aten.reshape.default, [new], [Slot(0), list(shape)], contiguous(shape, before.meta.dtype))
    if name in ("permute", "transpose", "t"):
        order = permutation(name, args, len(shape))
        inverse = [order.index(i) for i in range(len(order))]
        return made_call(aten.permute.default, [new], [Slot(0), inverse], contiguous(shape, before.meta.dtype))
    func, rest = scatter_of(name, args, step, shape)
    return made_call(func, [before, new], [Slot(0), Slot(1)] + rest, contiguous(shape, before.meta.dtype))


def permutation(name, args, rank):
    order = list(range(rank))
    if name == "permute":
        return [d % rank for d in args[0]]
    a, b = (0, 1) if name == "t" else args[:2]
    if rank > 1:
        order[a], order[b] = order[b], order[a]
    return order


def scatter_of(name, args, step, shape):
    if name == "slice":
        return aten.slice_scatter.default, args
    if name == "select":
        return aten.select_scatter.default, args
    if name == "diagonal":
        return aten.diagonal_scatter.default, args
    if name == "unbind":
        return aten.select_scatter.default, [args[0] if args else 0, step.index]
    if name in ("split", "split_with_sizes", "unsafe_split"):
        dim = args[1] if len(args) > 1 else 0
        sizes = [out.shape[dim] for out in step.call.outs]
        start = sum(sizes[:step.index])
        return aten.slice_scatter.default, [dim, start, start + sizes[step.index], 1]
    if name == "as_strided":
        return aten.as_strided_scatter.default, args
    raise Unsupported(f"writing to what {name} looks at: give it memory of its own with .clone()")


MADE, BACK = {}, {}  # calls that nothing but these functions makes; those that put views' values back


def made_call(func, values, args, meta):
    """A call whose result has the given meta, without asking PyTorch."""
    key = (func, tuple(v.meta.key for v in values), repr([a for a in args if not isinstance(a, Slot)]), meta.key)
    call = MADE.get(key)
    if call is None:
        call = MADE[key] = Call(func, args, {}, [v.meta for v in values])
        call.outs = [meta]
    return call


def made(func, values, args, meta):
    """The value of such a call."""
    return Node(made_call(func, values, args, meta), values).value(0)


HOOKS["current"] = current
