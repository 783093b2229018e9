"""Operators that are made of a few others, by their definitions."""
import math

from trnsim.torch._emit import FLOATS
from trnsim.torch._lower import rule
from trnsim.torch._rules_reductions import dims_of, given_dim


def times(at, x, factor):
    return at.text.binary("multiply", x, at.text.constant(factor, x.element, x.shape))


@rule("deg2rad", "rad2deg")
def degrees(at, x):
    return times(at, at.cast(x), math.pi / 180 if at.call.func._schema.name.endswith("rad") else 180 / math.pi)


@rule("logaddexp", "logaddexp2")
def log_of_sum(at, a, b):
    """The larger one and a logarithm that the other adds: infinities stay."""
    text, two = at.text, at.call.func._schema.name.endswith("2")
    a, b = at.cast(a), at.cast(b)
    top = text.binary("maximum", a, b)
    apart = text.unary("negate", text.unary("abs", text.binary("subtract", a, b)))
    apart = times(at, apart, math.log(2)) if two else apart
    more = text.unary("log_plus_one", text.unary("exponential", apart))
    more = times(at, more, 1 / math.log(2)) if two else more
    infinite = text.compare("EQ", text.unary("abs", top), text.constant(math.inf, top.element, top.shape))
    return text.select(infinite, top, text.binary("add", top, more))


@rule("nansum")
def nansum(at, x, *rest):
    text = at.text
    x = at.cast(x, at.element, x.shape)
    if x.element in FLOATS:
        x = text.select(text.compare("EQ", x, x), x, text.constant(0, x.element, x.shape))
    return text.reduce("add", x, 0, dims_of(x, given_dim(at, rest)))


@rule("count_nonzero")
def count_nonzero(at, x, dim=None):
    text = at.text
    some = text.convert(text.convert(text.convert(x, "i1"), "i32"), "i64")
    return text.reduce("add", some, 0, dims_of(x, dim))


@rule("fmax", "fmin")
def of_numbers(at, a, b):
    """NaN only where both are."""
    text, a, b = at.text, at.cast(a), at.cast(b)
    out = text.binary("maximum" if at.call.func._schema.name.endswith("max") else "minimum", a, b)
    if a.element not in FLOATS:
        return out
    return text.select(text.compare("NE", a, a), b, text.select(text.compare("NE", b, b), a, out))


@rule("hypot")
def hypot(at, a, b):
    text, a, b = at.text, at.cast(a), at.cast(b)
    return text.unary("sqrt", text.binary("add", text.binary("multiply", a, a), text.binary("multiply", b, b)))


@rule("diag")
def diag(at, x, offset=0):
    """A matrix's diagonal, or a matrix around one: elements where the column is the row and `offset`."""
    text = at.text
    if x.rank == 1:
        shape = at.shape
        wide = text.broadcast_in_dim(x, (x.shape[0], x.shape[0]), [0])
        low, high = [max(-offset, 0), max(offset, 0)], [max(offset, 0), max(-offset, 0)]
        on = text.compare("EQ", text.iota(wide.shape, 0, "i32"), text.iota(wide.shape, 1, "i32"))
        square = text.select(on, wide, text.constant(0, x.element, wide.shape))
        return text.pad(square, text.constant(0, x.element), low, high) if offset else text.reshape(square, shape)
    n = at.shape[0]
    rows, columns = max(-offset, 0), max(offset, 0)
    part = text.slice(x, [rows, columns], [rows + n, columns + n])
    on = text.compare("EQ", text.iota(part.shape, 0, "i32"), text.iota(part.shape, 1, "i32"))
    return text.reduce("add", text.select(on, part, text.constant(0, x.element, part.shape)), 0, [1])


@rule("special_entr")
def entropy(at, x):
    text, x = at.text, at.cast(x)
    out = text.unary("negate", text.binary("multiply", x, text.unary("log", x)))
    zero = text.constant(0.0, x.element, x.shape)
    out = text.select(text.compare("EQ", x, zero), zero, out)
    return text.select(text.compare("LT", x, zero), text.constant(-math.inf, x.element, x.shape), out)


@rule("special_xlog1py")
def xlog1py(at, a, b):
    text, a, b = at.text, at.cast(a), at.cast(b)
    zero = text.constant(0.0, a.element, a.shape)
    out = text.select(text.compare("EQ", a, zero), zero, text.binary("multiply", a, text.unary("log_plus_one", b)))
    return text.select(text.compare("NE", b, b), b, out)


@rule("linalg_cross")
def cross(at, a, b, dim=-1):
    text, a, b = at.text, at.cast(a), at.cast(b)
    dim = dim % a.rank

    def turn(x, by):
        parts = [text.slice(x, [i if d == dim else 0 for d in range(x.rank)],
                            [i + 1 if d == dim else s for d, s in enumerate(x.shape)]) for i in range(3)]
        return text.concatenate(parts[by:] + parts[:by], dim)
    return text.binary("subtract", text.binary("multiply", turn(a, 1), turn(b, 2)),
                       text.binary("multiply", turn(a, 2), turn(b, 1)))


@rule("narrow_copy")
def narrow_copy(at, x, dim, start, length):
    from trnsim.torch._rules_movement import cut
    dim = dim % x.rank
    start = start + x.shape[dim] if start < 0 else start
    return cut(at, x, dim, start, start + length)


@rule("dist")
def dist(at, a, b, p=2.0):
    text = at.text
    shape = [max(s) for s in zip((1,) * (max(a.rank, b.rank) - a.rank) + a.shape,
                                 (1,) * (max(a.rank, b.rank) - b.rank) + b.shape)]
    apart = text.unary("abs", text.binary("subtract", text.broadcast(a, shape), text.broadcast(b, shape)))
    every = range(apart.rank)
    if math.isinf(p):
        return text.reduce("maximum" if p > 0 else "minimum", apart, 0.0 if p > 0 else math.inf, every)
    if p == 0:
        return text.reduce("add", text.convert(text.convert(apart, "i1"), "f32"), 0, every)
    total = text.reduce("add", text.binary("power", apart, text.constant(p, apart.element, apart.shape)), 0, every)
    return text.binary("power", total, text.constant(1 / p, total.element))
