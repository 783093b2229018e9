"""Embeddings, indices, gathers, scatters, sorted orders."""
from trnsim.torch import _emit_more
from trnsim.torch._lower import rule
from trnsim.torch._rules_movement import cut
from trnsim.torch._values import Unsupported


def wrapped(at, places, size):
    """Indices below zero count from the end."""
    text = at.text
    places = text.convert(places, "i64")
    below = text.compare("LT", places, text.constant(0, "i64", places.shape))
    return text.select(below, text.binary("add", places, text.constant(size, "i64", places.shape)), places)


def rows(at, x, dim, places):
    """x[:, places] at `dim`."""
    text = at.text
    column = text.reshape(wrapped(at, places, x.shape[dim]), places.shape + (1,))
    sizes = list(x.shape)
    sizes[dim] = 1
    out = _emit_more.gather(text, x, column, sizes, [dim], [dim])
    n = places.rank
    rest = list(range(n, out.rank))
    return text.transpose(out, rest[:dim] + list(range(n)) + rest[dim:])


@rule("embedding")
def embedding(at, weight, places, *_):
    return rows(at, weight, 0, places)


@rule("index_select")
def index_select(at, x, dim, places):
    if not x.rank:
        return x
    return rows(at, x, dim % x.rank, at.text.reshape(places, (places.shape or (1,))))


@rule("embedding_dense_backward")
def embedding_gradient(at, grad, places, count, padding=-1, by_frequency=False):
    if by_frequency:
        raise Unsupported("embedding with scale_grad_by_freq=True")
    text = at.text
    width = grad.shape[-1]
    n = 1
    for d in places.shape:
        n *= d
    flat = text.reshape(text.convert(places, "i64"), (n, 1))
    grad = text.reshape(grad, (n, width))
    if padding >= 0:
        keep = text.compare("NE", flat, text.constant(padding, "i64", flat.shape))
        keep = text.broadcast_in_dim(text.reshape(keep, (n,)), grad.shape, [0])
        grad = text.select(keep, grad, text.constant(0, grad.element, grad.shape))
    return _emit_more.scatter(text, text.constant(0, grad.element, (count, width)), flat, grad, [0], "add")


def joined(at, x, places):
    """(indices [..., n], the dimensions that they index, their shape): all broadcast to one another."""
    dims = [d for d, p in enumerate(places) if p is not None]
    shape, rank = [], max(places[d].rank for d in dims)
    for i in range(rank):
        sizes = [p.shape[i - rank + p.rank] for p in (places[d] for d in dims) if i - rank + p.rank >= 0]
        shape.append(next((s for s in sizes if s != 1), 1))
    parts = [at.text.broadcast(wrapped(at, places[d], x.shape[d]), shape) for d in dims]
    parts = [at.text.reshape(p, tuple(shape) + (1,)) for p in parts]
    return at.text.concatenate(parts, rank), dims, tuple(shape)


def together(dims):
    return dims == list(range(dims[0], dims[-1] + 1))


@rule("index")
def index(at, x, places):
    found, dims, shape = joined(at, x, places)
    sizes = [1 if d in dims else s for d, s in enumerate(x.shape)]
    out = _emit_more.gather(at.text, x, found, sizes, dims, dims)
    first = dims[0] if together(dims) else 0
    n = len(shape)
    rest = list(range(n, out.rank))
    return at.text.transpose(out, rest[:first] + list(range(n)) + rest[first:])


@rule("index_put", "_index_put_impl", "_unsafe_index_put")
def index_put(at, x, places, values, accumulate=False, *_):
    text = at.text
    found, dims, shape = joined(at, x, places)
    rest = [s for d, s in enumerate(x.shape) if d not in dims]
    first = dims[0] if together(dims) else 0
    wide = rest[:first] + list(shape) + rest[first:]
    values = text.broadcast(text.convert(values, x.element), wide)
    n = len(shape)
    order = list(range(first, first + n)) + list(range(first)) + list(range(first + n, len(wide)))
    values = text.transpose(values, order)
    return _emit_more.scatter(text, x, found, values, dims, "add" if accumulate else None)


def positions(at, x, dim, places):
    """[..., rank] for gather and scatter along `dim`: every position of `places`, with the index at `dim`."""
    text, parts = at.text, []
    for d in range(x.rank):
        part = wrapped(at, places, x.shape[dim]) if d == dim else text.iota(places.shape, d, "i64")
        parts.append(text.reshape(part, places.shape + (1,)))
    return text.concatenate(parts, x.rank)


@rule("gather")
def gather(at, x, dim, places, *_):
    if not x.rank:
        return x
    dim = dim % x.rank
    found = positions(at, x, dim, places)
    every = list(range(x.rank))
    return _emit_more.gather(at.text, x, found, [1] * x.rank, every, every)


@rule("scatter", "scatter_add", "scatter_reduce")
def scatter(at, x, dim, places, values, *rest):
    if not x.rank:
        raise Unsupported("scatter of a tensor without dimensions")
    dim, name = dim % x.rank, at.call.func._schema.name.split("::")[1]
    reduce = "add" if name == "scatter_add" else rest[0] if rest else None
    ops = {None: None, "add": "add", "sum": "add", "multiply": "multiply", "prod": "multiply", "amax": "maximum",
           "amin": "minimum"}
    if reduce not in ops or (len(rest) > 1 and rest[1] is False):
        raise Unsupported(f"scatter with reduce={reduce!r}")
    values = at.cast(values, x.element, ()) if not hasattr(values, "shape") else values
    if values.rank == 0:
        values = at.text.broadcast(at.text.convert(values, x.element), places.shape)
    values = at.text.slice(values, [0] * values.rank, places.shape)
    return _emit_more.scatter(at.text, x, positions(at, x, dim, places), values, list(range(x.rank)), ops[reduce])


@rule("index_add")
def index_add(at, x, dim, places, values, alpha=1):
    return along(at, x, dim, places, values, alpha, "add")


@rule("index_copy")
def index_copy(at, x, dim, places, values):
    return along(at, x, dim, places, values, 1, None)


def along(at, x, dim, places, *what):
    (values, alpha, op), text, dim = what, at.text, dim % x.rank
    if alpha != 1:
        values = text.binary("multiply", values, text.constant(alpha, values.element, values.shape))
    order = [dim] + [d for d in range(x.rank) if d != dim]
    column = text.reshape(text.convert(places, "i64"), (values.shape[dim], 1))
    return _emit_more.scatter(text, x, column, text.transpose(values, order), [dim], op)


@rule("sort")
def sort(at, x, *rest):
    names = [a.name for a in at.call.func._schema.arguments[1:]]
    found = dict(zip(names, rest))
    if not x.rank:
        return x, at.text.constant(0, "i64")
    dim = found["dim"] % x.rank
    return _emit_more.sort(at.text, x, at.text.iota(x.shape, dim, "i64"), dim, bool(found["descending"]))


@rule("topk")
def topk(at, x, k, dim=-1, largest=True, *_):
    if not x.rank:
        return x, at.text.constant(0, "i64")
    dim = dim % x.rank
    both = _emit_more.sort(at.text, x, at.text.iota(x.shape, dim, "i64"), dim, largest)
    return [cut(at, y, dim, 0, k) for y in both]


@rule("as_strided")
def as_strided(at, x, size, stride, offset=None):
    """By the position of each element in memory, where the tensor is contiguous."""
    text, flat = at.text, at.text.reshape(x, (number(x.shape),))
    if not size:
        return cut(at, flat, 0, offset or 0, (offset or 0) + 1)
    return text.reshape(rows(at, flat, 0, text.reshape(places_of(at, size, stride, offset), (number(size),))), size)


@rule("as_strided_scatter")
def as_strided_scatter(at, x, part, size, stride, offset=None):
    text, n = at.text, number(size)
    flat = text.reshape(x, (number(x.shape),))
    places = text.reshape(places_of(at, size, stride, offset), (n, 1))
    return _emit_more.scatter(text, flat, places, text.reshape(part, (n,)), [0], None)


def number(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def places_of(at, size, stride, offset):
    text = at.text
    total = text.constant(offset or 0, "i64", tuple(size))
    for d, step in enumerate(stride):
        part = text.binary("multiply", text.iota(size, d, "i64"), text.constant(step, "i64", tuple(size)))
        total = text.binary("add", total, part)
    return total
