"""Operators between cores: recorded as nodes, computed by all cores together; one core alone
needs none."""
import types

import torch

from trnsim.torch import _emit_more
from trnsim.torch._engine import engine
from trnsim.torch._lower import rule
from trnsim.torch._tensor import from_host, new_tensor
from trnsim.torch._values import Call, Node, Slot, Unsupported, contiguous
from trnsim.torch._views import current

OPERATIONS = {"sum": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or"}
BUCKET_BYTES = 25 << 20  # of gradients that are reduced together; DistributedDataParallel's default


class Collective:
    """Stands for an operator of PyTorch in a call."""

    def __init__(self, name):
        self._schema = types.SimpleNamespace(name="trnsim::" + name, arguments=[])
        self._overloadname = "default"

    def __str__(self):
        return self._schema.name


FUNCTIONS, CALLS = {}, {}


def of_name(name):
    return FUNCTIONS.setdefault(name, Collective(name))


def collective(name, tensor, shape, *args):
    """A tensor of `shape` that `name` makes of each core's `tensor`."""
    func = of_name(name)
    key = (name, tensor._meta.key, tuple(shape), args)
    if key not in CALLS:
        call = CALLS[key] = Call(func, [Slot(0), *args], {}, [tensor._meta])
        call.outs, call.kind = [contiguous(shape, tensor.dtype)], "collective"
    node = Node(CALLS[key], [current(tensor)])
    value = node.value(0)
    engine().collectives.append(value)
    return new_tensor(value)


def frozen(groups):
    return None if not groups else tuple(tuple(int(r) for r in group) for group in groups)


def size_of(groups):
    return len(groups[0]) if groups else engine().ranks


def all_reduced(tensor, operation, groups=None):
    if size_of(groups) == 1:
        return tensor
    return collective("all_reduce", tensor, tensor._meta.shape, operation, frozen(groups))


def all_reduced_list(tensors, operation, groups=None, most=BUCKET_BYTES):
    """Each reduced; those of one type travel together, as compilers and buckets have them do, so many bytes at most."""
    out, kinds = [None] * len(tensors), {}
    for i, tensor in enumerate(tensors):
        bucket = kinds.setdefault(tensor.dtype, [[]])[-1]
        if bucket and sum(tensors[j].numel() for j in bucket) * tensor.element_size() > most:
            bucket = []
            kinds[tensor.dtype].append(bucket)
        bucket.append(i)
    for bucket in (b for buckets in kinds.values() for b in buckets):
        if len(bucket) == 1:
            out[bucket[0]] = all_reduced(tensors[bucket[0]], operation, groups)
            continue
        flat = all_reduced(torch.cat([tensors[i].reshape(-1) for i in bucket]), operation, groups)
        parts = flat.split([tensors[i].numel() for i in bucket])
        for i, part in zip(bucket, parts):
            out[i] = part.reshape(tensors[i].shape)
    return out


def all_gathered(tensor, dim=0, groups=None):
    if size_of(groups) == 1:
        return tensor
    shape, dim = list(tensor.shape), dim % max(tensor.dim(), 1)
    shape[dim] *= size_of(groups)
    return collective("all_gather", tensor, shape, dim, frozen(groups))


def reduce_scattered(tensor, operation, dim=0, groups=None):
    if size_of(groups) == 1:
        return tensor
    shape = list(tensor.shape)
    if shape[dim] % size_of(groups):
        raise ValueError(f"reduce_scatter: dimension {dim} of {shape} cannot be divided among {size_of(groups)} cores")
    shape[dim] //= size_of(groups)
    return collective("reduce_scatter", tensor, shape, operation, dim, frozen(groups))


def all_to_all(tensor, split, concat, count, groups=None):
    if count == 1:
        return tensor
    shape = list(tensor.shape)
    shape[split] //= count
    shape[concat] *= count
    return collective("all_to_all", tensor, shape, split, concat, count, frozen(groups))


def permuted(tensor, pairs):
    """The tensor of the source of this core; zeros where it has none. One program serves all cores, so all gather, and
    each core chooses by a number of its own on the device: the time is that of an all-gather."""
    pairs = [(int(a), int(b)) for a, b in pairs]
    if len({a for a, _ in pairs}) < len(pairs) or len({b for _, b in pairs}) < len(pairs):
        raise ValueError(f"collective_permute: a core appears twice as a source or as a target in {pairs}")
    source = next((a for a, b in pairs if b == engine().rank), -1)
    rows = all_gathered(tensor.reshape((1,) + tuple(tensor.shape)), 0)
    mine = rows.index_select(0, from_host(torch.tensor([max(source, 0)]))).reshape(tensor.shape)
    return torch.where(from_host(torch.tensor(source >= 0)), mine, torch.zeros_like(mine))


def broadcast(tensor, root, groups=None):
    """The root's: the sum, where all others bring zeros; each core's factor is a number on the device."""
    here = from_host(torch.tensor(1 if engine().rank == root else 0, dtype=torch.int64))
    mine = torch.where(here.to(torch.bool), tensor, torch.zeros_like(tensor))
    if tensor.dtype is torch.bool:
        return all_reduced(mine.to(torch.int32), "sum", groups).to(torch.bool)
    return all_reduced(mine, "sum", groups)


def rows(at, groups):
    return [list(group) for group in groups] if groups else [list(range(at.text.ranks))]


@rule("all_reduce")
def all_reduce_rule(at, x, operation, groups):
    if operation not in OPERATIONS:
        raise Unsupported(f"all_reduce of {operation!r}: {', '.join(OPERATIONS)} are there")
    return _emit_more.all_reduce(at.text, x, OPERATIONS[operation], rows(at, groups))


@rule("all_gather")
def all_gather_rule(at, x, dim, groups):
    attributes = f"all_gather_dim = {dim} : i64, {_emit_more.groups_text(rows(at, groups))}"
    return _emit_more.collective(at.text, "all_gather", x, at.shape, attributes)


@rule("reduce_scatter")
def reduce_scatter_rule(at, x, operation, dim, groups):
    at.text.collectives += 1
    attributes = f"scatter_dimension = {dim} : i64, {_emit_more.groups_text(rows(at, groups))}"
    return at.text.region([x], at.text.monoid(OPERATIONS[operation], x.element), attributes, [(at.shape, x.element)],
                          "reduce_scatter")[0]


@rule("all_to_all")
def all_to_all_rule(at, x, split, concat, count, groups):
    attributes = f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, split_count = {count} : i64, " \
                 f"{_emit_more.groups_text(rows(at, groups))}"
    return _emit_more.collective(at.text, "all_to_all", x, at.shape, attributes)
