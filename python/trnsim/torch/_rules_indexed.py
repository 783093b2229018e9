"""Embeddings, indices, gathers, scatters, sorted orders."""
from trnsim.torch import _emit_more
from trnsim.torch._lower import rule
from trnsim.torch._emit import FLOATS
from trnsim.torch._rules_movement import cut
from trnsim.torch._rules_reductions import highest, lowest
from trnsim.torch._values import Unsupported


def wrapped(at, places, size):
    """Indices below zero count from the end."""
    text = at.text
    places = text.convert(places, "i64")
    below = text.compare("LT", places, text.constant(0, "i64", places.shape))
    return text.select(below, text.binary("add", places, text.constant(size, "i64", places.shape)), places)


def unsigned(at, places, size):
    """Indices as XLA's TorchIndexSelect has them: 64 bits become unsigned ones, of which the gather takes the largest
    for the last row. Those of 32 bits keep their sign, and below zero they are the first row."""
    text = at.text
    if places.element != "i64":
        return places
    below = text.compare("LT", places, text.constant(0, "i64", places.shape))
    return text.select(below, text.constant(size - 1, "i64", places.shape), places)


def rows(at, x, dim, places, of_places=wrapped):
    """x[:, places] at `dim`."""
    text = at.text
    if 0 in x.shape or 0 in places.shape:
        return text.constant(0, x.element, x.shape[:dim] + places.shape + x.shape[dim + 1:])
    column = text.reshape(of_places(at, places, x.shape[dim]), places.shape + (1,))
    sizes = list(x.shape)
    sizes[dim] = 1
    out = _emit_more.gather(text, x, column, sizes, [dim], [dim])
    n = places.rank
    rest = list(range(n, out.rank))
    return text.transpose(out, rest[:dim] + list(range(n)) + rest[dim:])


@rule("embedding")
def embedding(at, weight, places, *_):
    return rows(at, weight, 0, places, unsigned)


@rule("index_select")
def index_select(at, x, dim, places):
    if not x.rank:
        return x
    return rows(at, x, dim % x.rank, at.text.reshape(places, (places.shape or (1,))), unsigned)


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
    if 0 in at.shape:
        return at.cast(0)
    found, dims, shape = joined(at, x, places)
    sizes = [1 if d in dims else s for d, s in enumerate(x.shape)]
    out = _emit_more.gather(at.text, x, found, sizes, dims, dims)
    first = dims[0] if together(dims) else 0
    n = len(shape)
    rest = list(range(n, out.rank))
    return at.text.transpose(out, rest[:first] + list(range(n)) + rest[first:])


def hit_by(text, places, shape, dims):
    """Whether any of the places [..., k] of the dimensions `dims` is an element's."""
    zeros, ones = text.constant(0.0, "f32", shape), text.constant(1.0, "f32", places.shape[:-1])
    return text.convert(_emit_more.scatter(text, zeros, places, ones, list(dims), "add"), "i1")


@rule("index_put", "_index_put_impl", "_unsafe_index_put")
def index_put(at, x, places, values, accumulate=False, *_):
    text = at.text
    if 0 in x.shape or any(0 in p.shape for p in places if p is not None):
        return x
    found, dims, shape = joined(at, x, places)
    if number(values.shape) == 1 and not accumulate:
        sizes = tuple(x.shape[d] for d in dims)
        hits = text.broadcast_in_dim(hit_by(text, found, sizes, range(len(dims))), x.shape, dims)
        return text.select(hits, text.broadcast(text.reshape(text.convert(values, x.element), ()), x.shape), x)
    rest = [s for d, s in enumerate(x.shape) if d not in dims]
    first = dims[0] if together(dims) else 0
    wide = rest[:first] + list(shape) + rest[first:]
    values = text.broadcast(text.convert(values, x.element), wide)
    n = len(shape)
    order = list(range(first, first + n)) + list(range(first)) + list(range(first + n, len(wide)))
    values = text.transpose(values, order)
    if accumulate:
        return _emit_more.scatter(text, x, found, values, dims, "add")
    return replaced(at, x, found, values, dims)


MOST_COMPARED, MOST_IN_LINE = 1024, 8  # updates that are compared with one another: of all, and of a line


def replaced(at, x, places, values, dims, last=None):
    """`x` with `values` [..., window] at `places` [..., k] of the dimensions `dims`. The device's scatter adds: sums of
    the values, and of ones, say where. The last of equal places counts, as on the CPU: `last` has 1.0 for those that
    no later one equals, where that is known."""
    text, n = at.text, number(places.shape[:-1])
    window = [s for d, s in enumerate(x.shape) if d not in dims]
    if x.element == "i1":
        out = replaced(at, text.convert(x, "i32"), places, text.convert(values, "i32"), dims, last)
        return text.convert(out, "i1")
    if n > MOST_COMPARED and last is None:
        return _emit_more.scatter(text, x, places, values, dims, None)
    flat, rows_ = text.reshape(places, (n, len(dims))), text.reshape(values, [n] + window)
    if last is None:
        last = latest(text, in_a_line(text, flat, [x.shape[d] for d in dims]), 0)
    counted = text.broadcast_in_dim(text.reshape(last, (n,)), [n] + window, [0])
    # All but the last count as nothing: a product would make NaN of infinities.
    kept = text.select(text.convert(counted, "i1"), rows_, text.constant(0, x.element, rows_.shape))
    sums = added_up(text, x, flat, kept, dims)
    hits = _emit_more.scatter(text, text.constant(0, "f32", x.shape), flat, counted, dims, "add")
    return text.select(text.convert(hits, "i1"), sums, x)


def added_up(text, x, places, rows_, dims):
    """Rows added at their places in zeros. The device adds in fp32: whole numbers go in two halves."""
    def scattered(part):
        return _emit_more.scatter(text, text.constant(0, x.element, x.shape), places, part, dims, "add")
    if x.element not in ("i64", "i32"):
        return scattered(rows_)
    half = text.constant(65536, x.element, rows_.shape)
    low = text.binary("and", rows_, text.constant(65535, x.element, rows_.shape))
    high = text.binary("divide", text.binary("subtract", rows_, low), half)
    high = text.binary("multiply", scattered(high), text.constant(65536, x.element, x.shape))
    return text.binary("add", high, scattered(low))


def latest(text, places, dim):
    """1.0 for each of the places that no later one along `dim` equals, else 0."""
    shape, n = places.shape, places.shape[dim]
    order = [d for d in range(len(shape)) if d != dim] + [dim]
    lines = text.reshape(text.transpose(text.convert(places, "i32"), order), (number(shape) // n, n))
    pairs = (lines.shape[0], n, n)
    one, other = (text.broadcast_in_dim(lines, pairs, [0, d]) for d in (1, 2))
    later = text.compare("LT", text.iota(pairs, 1, "i32"), text.iota(pairs, 2, "i32"))
    both = text.binary("and", text.compare("EQ", one, other), later)
    hidden = text.reduce("maximum", text.convert(both, "f32"), 0.0, [2])
    last = text.binary("subtract", text.constant(1.0, "f32", hidden.shape), hidden)
    return text.transpose(text.reshape(last, [shape[d] for d in order]), [order.index(d) for d in range(len(shape))])


def in_a_line(text, places, sizes):
    """Places [n, k] of k dimensions as one number each."""
    n, out = places.shape[0], None
    for d, size in enumerate(sizes):
        part = text.reshape(text.slice(places, [0, d], [n, d + 1]), (n,))
        out = part if out is None else text.binary("add", text.binary("multiply", out, text.constant(
            size, "i64", (n,))), part)
    return out


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


def as_row(at, item):
    """A tensor without dimensions as one with one element."""
    return at.text.reshape(item, (1,)) if hasattr(item, "shape") and item.shape == () else item


@rule("scatter_reduce")
def scatter_reduce(at, x, dim, places, *rest):
    """The numbers that go to each place, with the one that is there. Means: sums over counts."""
    text, (values, reduce, *include) = at.text, rest
    include_self = (include or [True])[0]
    x, places, values = (as_row(at, item) for item in (x, places, values))
    ops = {"sum": ("add", 0), "mean": ("add", 0), "prod": ("multiply", 1), "amax": ("maximum", lowest(x.element)),
           "amin": ("minimum", highest(x.element))}
    if reduce == "mean" and x.element not in FLOATS:
        raise Unsupported("means of whole numbers")
    (op, start), every = ops[reduce], list(range(x.rank))
    found = positions(at, x, dim % x.rank, places)
    values = text.slice(values, [0] * x.rank, places.shape)
    counts = _emit_more.scatter(text, text.constant(0.0, "f32", x.shape), found,
                                text.constant(1.0, "f32", places.shape), every, "add")
    hit = text.convert(counts, "i1")
    first = x if include_self else text.select(hit, text.constant(start, x.element, x.shape), x)
    out = _emit_more.scatter(text, first, found, text.convert(values, x.element), every, op)
    if reduce != "mean":
        return out
    more = text.constant(1.0 if include_self else 0.0, "f32", x.shape)
    counts = text.binary("maximum", text.binary("add", counts, more), text.constant(1.0, "f32", x.shape))
    return text.binary("divide", out, text.convert(counts, x.element))


@rule("scatter", "scatter_add")
def scatter(at, x, dim, places, values, *rest):
    x, places, values = (as_row(at, item) for item in (x, places, values))
    dim, name = dim % x.rank, at.call.func._schema.name.split("::")[1]
    reduce = "add" if name == "scatter_add" else rest[0] if rest else None
    ops = {None: None, "add": "add", "multiply": "multiply"}
    if reduce not in ops:
        raise Unsupported(f"scatter with reduce={reduce!r}")
    values = at.cast(values, x.element, ()) if not hasattr(values, "shape") else values
    same = values.rank == 0 and ops[reduce] is None
    if values.rank == 0:
        values = at.text.broadcast(at.text.convert(values, x.element), places.shape)
    values = at.text.slice(values, [0] * values.rank, places.shape)
    if same:  # one number: wherever anything is written
        hits = hit_by(at.text, positions(at, x, dim, places), x.shape, range(x.rank))
        number_ = at.text.reshape(at.text.slice(values, [0] * values.rank, [1] * values.rank), ())
        return at.text.select(hits, at.text.broadcast(number_, x.shape), x)
    if ops[reduce] is None:
        every, few = list(range(x.rank)), places.shape[dim] <= MOST_IN_LINE
        last = latest(at.text, wrapped(at, places, x.shape[dim]), dim) if few else None  # other lines are other places
        return replaced(at, x, positions(at, x, dim, places), values, every, last)
    return _emit_more.scatter(at.text, x, positions(at, x, dim, places), values, list(range(x.rank)), ops[reduce])


@rule("index_add")
def index_add(at, x, dim, places, values, alpha=1):
    return along(at, x, dim, places, values, alpha, "add")


@rule("index_copy")
def index_copy(at, x, dim, places, values):
    return along(at, x, dim, places, values, 1, None)


def along(at, x, dim, places, *what):
    values, alpha, op = what
    x, places, values = (as_row(at, item) for item in (x, places, values))
    text, dim = at.text, dim % x.rank
    if alpha != 1:
        values = text.binary("multiply", values, text.constant(alpha, values.element, values.shape))
    order = [dim] + [d for d in range(x.rank) if d != dim]
    column = text.reshape(text.convert(places, "i64"), (values.shape[dim], 1))
    if op is None:
        return replaced(at, x, column, text.transpose(values, order), [dim])
    return _emit_more.scatter(text, x, column, text.transpose(values, order), [dim], op)


@rule("index_fill")
def index_fill(at, x, dim, places, value):
    """Where any of the indices is, the number."""
    text, shape = at.text, x.shape
    x, places = as_row(at, x), as_row(at, places)
    dim = dim % x.rank
    column = text.reshape(wrapped(at, places, x.shape[dim]), (places.shape[0], 1))
    size = (x.shape[dim],)
    hit = text.broadcast_in_dim(hit_by(text, column, size, [0]), x.shape, [dim])
    return text.reshape(text.select(hit, at.cast(value, x.element, x.shape), x), shape)


@rule("take")
def take(at, x, places):
    """From all elements in their order."""
    flat = at.text.reshape(x, (number(x.shape),))
    return rows(at, flat, 0, places)


@rule("masked_scatter")
def masked_scatter(at, x, mask, source):
    """The n-th true place gets the n-th element of the source."""
    text, x = at.text, at.cast(x)
    flat = text.reshape(at.cast(mask, "i1"), (number(x.shape),))
    n = flat.shape[0]
    if not n:
        return x
    one = ([n], [1], [[n - 1, 0]], [1])
    before = _emit_more.reduce_window(text, text.convert(flat, "i32"), "add", 0, one)
    place = text.binary("maximum", text.binary("subtract", before, text.constant(1, "i32", (n,))),
                        text.constant(0, "i32", (n,)))
    most = text.constant(number(source.shape) - 1, "i32", (n,))
    values = rows(at, text.reshape(source, (number(source.shape),)), 0, text.binary("minimum", place, most))
    out = text.select(flat, values, text.reshape(x, (n,)))
    return text.reshape(out, x.shape)


@rule("unfold")
def unfold(at, x, dim, size, step):
    """Windows along a dimension; their elements come last."""
    text = at.text
    x = as_row(at, x)
    dim = dim % x.rank
    out = rows(at, x, dim, window_places(at, (x.shape[dim] - size) // step + 1, size, step))
    order = [d for d in range(out.rank) if d != dim + 1] + [dim + 1]
    return text.transpose(out, order)


def window_places(at, count, size, step):
    text, shape = at.text, (count, size)
    first = text.binary("multiply", text.iota(shape, 0, "i64"), text.constant(step, "i64", shape))
    return text.binary("add", first, text.iota(shape, 1, "i64"))


@rule("unfold_backward")
def unfold_gradient(at, grad, shape, dim, size, step):
    text, shape = at.text, tuple(shape) or (1,)
    dim = dim % len(shape)
    grad = text.reshape(grad, (1,) + grad.shape) if grad.rank == len(shape) else grad
    count = grad.shape[dim]
    order = [dim, grad.rank - 1] + [d for d in range(grad.rank - 1) if d != dim]
    values = text.transpose(grad, order)
    values = text.reshape(values, (count * size,) + values.shape[2:])
    places = text.reshape(window_places(at, count, size, step), (count * size, 1))
    return _emit_more.scatter(text, text.constant(0, grad.element, shape), places, values, [dim], "add")


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
    last = text.constant(1.0, "f32", (n,)) if apart(size, stride) else None
    return replaced(at, flat, places, text.reshape(part, (n,)), [0], last)


def apart(size, stride):
    """Whether no two elements of a strided tensor are one in memory."""
    reach = 0
    for step, n in sorted((s, n) for s, n in zip(stride, size) if n > 1):
        if step <= reach:
            return False
        reach += step * (n - 1)
    return True


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
