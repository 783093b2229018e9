"""Operators that move elements and change none."""
import torch

from trnsim.torch._lower import rule
from trnsim.torch._values import DTYPES, Unsupported

aten = torch.ops.aten
VIEWS_OF_BITS = {aten.view.dtype, aten.view_copy.dtype}
NATURAL = {dtype: element for element, dtype in DTYPES.items()}  # whatever the compiler casts it to
SIZES = {element: torch.empty((), dtype=dtype).element_size() for element, dtype in DTYPES.items()}


@rule("view", "_reshape_alias", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "view_copy")
def reshape(at, x, *_):
    if at.call.func in VIEWS_OF_BITS:
        return bits(at, x)
    return at.text.reshape(x, at.shape)


def bits(at, x):
    """x.view(dtype): the same bits as numbers of another type; several smaller numbers are one larger, and they are
    neighbours in the last dimension. A truth is a byte."""
    read, made = [NATURAL[meta.dtype] for meta in (at.call.ins[0], at.meta)]
    if 8 in (SIZES[read], SIZES[made]) and read != made:
        raise Unsupported(f"{at.call.func}: the device has 32 bits in the place of 64: view types of 32 "
                          "bits as one another")
    x = at.text.convert(x, read if read != "i1" else "ui8")
    ratio, shape = SIZES[read] // SIZES[made], list(at.shape)
    if ratio > 1:
        shape = [*x.shape, ratio]
    elif ratio < 1:
        x = at.text.reshape(x, [*shape, SIZES[made] // SIZES[read]])
    element = made if made != "i1" else "ui8"
    if x.element == element:
        return x
    return at.text.reshape(at.text.line(f"stablehlo.bitcast_convert {x.name}", shape, element, x.type), at.shape)


@rule("expand")
def expand(at, x, *_):
    return at.text.broadcast(x, at.shape)


@rule("permute")
def permute(at, x, order):
    return at.text.transpose(x, [d % x.rank for d in order])


@rule("t")
def turned(at, x):
    return x if x.rank < 2 else at.text.transpose(x, [1, 0])


@rule("transpose")
def transpose(at, x, a, b):
    order = list(range(x.rank))
    if x.rank:
        order[a], order[b] = order[b], order[a]
    return at.text.transpose(x, order)


def bounded(index, size):
    """An index of a slice, as Python reads it."""
    index = index + size if index < 0 else index
    return min(max(index, 0), size)


def cut(at, x, dim, start, end, step=1):
    starts, limits, strides = [0] * x.rank, list(x.shape), [1] * x.rank
    starts[dim], limits[dim], strides[dim] = start, max(start, end), step
    return at.text.slice(x, starts, limits, strides)


def ends(x, dim, start, end):
    size = x.shape[dim]
    return bounded(start or 0, size), bounded(size if end is None else end, size)


@rule("slice")
def slice_(at, x, dim=0, start=None, end=None, step=1):
    return cut(at, x, dim % x.rank, *ends(x, dim, start, end), step)


@rule("select")
def select(at, x, dim, index):
    dim, index = dim % x.rank, index % x.shape[dim]
    return cut(at, x, dim, index, index + 1)


@rule("unbind")
def unbind(at, x, dim=0):
    dim = dim % x.rank
    return [cut(at, x, dim, i, i + 1) for i in range(x.shape[dim])]


@rule("split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk")
def split(at, x, _, dim=0):
    parts, start, dim = [], 0, dim % x.rank
    for meta in at.call.outs:
        parts.append(cut(at, x, dim, start, start + meta.shape[dim]))
        start += meta.shape[dim]
    return parts


@rule("cat")
def cat(at, parts, dim=0):
    parts = [at.text.convert(p, at.element) for p in parts if p.shape != (0,) or at.shape == (0,)]
    return at.text.concatenate(parts, dim % len(at.shape))


@rule("stack")
def stack(at, parts, dim=0):
    dim = dim % len(at.shape)
    return at.text.concatenate([at.text.reshape(at.text.convert(p, at.element), p.shape[:dim] + (1,) + p.shape[dim:])
                                for p in parts], dim)


@rule("flip")
def flip(at, x, dims):
    return at.text.reverse(x, sorted(d % x.rank for d in dims)) if x.rank and dims else x


@rule("roll")
def roll(at, x, shifts, dims=()):
    flat = not dims
    y = at.text.reshape(x, (x_size(x),)) if flat else x
    for shift, dim in zip(shifts, dims or [0]):
        size = y.shape[dim]
        if size and shift % size:
            split_at = size - shift % size
            dim = dim % y.rank
            y = at.text.concatenate([cut(at, y, dim, split_at, size), cut(at, y, dim, 0, split_at)], dim)
    return y


def x_size(x):
    size = 1
    for d in x.shape:
        size *= d
    return size


@rule("repeat")
def repeat(at, x, times):
    y = at.text.reshape(x, (1,) * (len(times) - x.rank) + x.shape)
    for dim, n in enumerate(times):
        y = at.text.concatenate([y] * n, dim) if n else cut(at, y, dim, 0, 0)
    return y


@rule("constant_pad_nd")
def pad(at, x, amounts, value=0):
    low, high = [0] * x.rank, [0] * x.rank
    for i in range(len(amounts) // 2):
        low[-1 - i], high[-1 - i] = amounts[2 * i], amounts[2 * i + 1]
    return at.text.pad(x, at.cast(value, shape=()), low, high)


@rule("slice_scatter")
def slice_scatter(at, x, part, *where):
    """The part padded to the whole, chosen where the mask says."""
    dim, start, end, step = where
    dim = dim % x.rank
    start, end = ends(x, dim, start, end)
    return embedded(at, x, at.text.convert(part, x.element), dim, start, step)


def embedded(at, x, part, dim, start, step):
    n = part.shape[dim]
    if n == 0:
        return x
    low, high, interior = [0] * x.rank, [0] * x.rank, [0] * x.rank
    low[dim], interior[dim] = start, step - 1
    high[dim] = x.shape[dim] - start - (n - 1) * step - 1
    whole = at.text.pad(part, at.text.constant(0, x.element), low, high, interior)
    mask = at.text.pad(at.text.constant(True, "i1", part.shape), at.text.constant(False, "i1"), low, high, interior)
    return at.text.select(mask, whole, x)


@rule("select_scatter")
def select_scatter(at, x, part, dim, index):
    dim, index = dim % x.rank, index % x.shape[dim]
    shape = list(x.shape)
    shape[dim] = 1
    return embedded(at, x, at.text.reshape(at.text.convert(part, x.element), shape), dim, index, 1)


@rule("diagonal_scatter")
def diagonal_scatter(at, x, part, offset=0, first=0, second=1):
    """Where the column is the row and `offset`, the part's elements."""
    text, (a, b) = at.text, (first % x.rank, second % x.rank)
    n, rows, columns = part.shape[-1], max(-offset, 0), max(offset, 0)
    if not n:
        return x
    lead = [d for d in range(x.rank) if d not in (a, b)]
    wide = text.broadcast_in_dim(text.convert(part, x.element), part.shape[:-1] + (n, n),
                                 list(range(part.rank - 1)) + [part.rank - 1])
    order = lead + [a, b]
    low, high = [0] * x.rank, [0] * x.rank
    low[-2:] = [rows, columns]
    high[-2:] = [x.shape[a] - rows - n, x.shape[b] - columns - n]
    wide = text.pad(wide, text.constant(0, x.element), low, high)
    wide = text.transpose(wide, [order.index(d) for d in range(x.rank)])
    on = text.compare("EQ", text.iota(x.shape, b, "i32"), text.binary(
        "add", text.iota(x.shape, a, "i32"), text.constant(offset, "i32", x.shape)))
    return text.select(on, wide, x)


def below(at, shape, diagonal, direction):
    rows, columns = (at.text.iota(shape, len(shape) - 2 + i, "i32") for i in (0, 1))
    return at.text.compare(direction, columns,
                           at.text.binary("add", rows, at.text.constant(diagonal, "i32", shape)))


@rule("tril")
def tril(at, x, diagonal=0):
    return at.text.select(below(at, x.shape, diagonal, "LE"), x, at.cast(0))


@rule("triu")
def triu(at, x, diagonal=0):
    return at.text.select(below(at, x.shape, diagonal, "GE"), x, at.cast(0))


@rule("pixel_shuffle")
def pixel_shuffle(at, x, r):
    *batch, c, h, w = x.shape
    n = len(batch)
    y = at.text.reshape(x, (*batch, c // (r * r), r, r, h, w))
    return at.text.transpose(y, list(range(n)) + [n, n + 3, n + 1, n + 4, n + 2])


@rule("pixel_unshuffle")
def pixel_unshuffle(at, x, r):
    *batch, c, h, w = x.shape
    n = len(batch)
    y = at.text.reshape(x, (*batch, c, h // r, r, w // r, r))
    return at.text.transpose(y, list(range(n)) + [n, n + 2, n + 4, n + 1, n + 3])


@rule("broadcast_in_dim")
def broadcast_in_dim(at, x, shape, dims):
    return at.text.broadcast_in_dim(x, shape, dims)
