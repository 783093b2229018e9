"""Sums, extremes and what is made of them."""
import math

from trnsim.torch import _emit_more
from trnsim.torch._emit import FLOATS
from trnsim.torch._lower import rule

WHOLE = {"i64", "i32", "i16", "i8", "ui8", "i1"}
LIMITS = {"i64": (-2**63, 2**63 - 1), "i32": (-2**31, 2**31 - 1), "i16": (-2**15, 2**15 - 1), "i8": (-128, 127),
          "ui8": (0, 255), "i1": (False, True)}


def lowest(element):
    return -math.inf if element in FLOATS else LIMITS[element][0]


def highest(element):
    return math.inf if element in FLOATS else LIMITS[element][1]


def dims_of(x, dim):
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(x.rank))
    dims = dim if isinstance(dim, (list, tuple)) else [dim]
    return sorted(d % x.rank for d in dims) if x.rank else []


def count(x, dims):
    n = 1
    for d in dims:
        n *= x.shape[d]
    return n


def kept(at, x, op, initial, dims):
    """The reduction with sizes of one, broadcast to `x` again."""
    reduced = at.text.reduce(op, x, initial, dims)
    rest = [d for d in range(x.rank) if d not in dims]
    return at.text.broadcast_in_dim(reduced, x.shape, rest)


def kept_max(at, x, dims):
    return kept(at, x, "maximum", lowest(x.element), dims)


def given_dim(at, rest):
    """The dimensions among the arguments behind the tensor, by their name in the schema."""
    names = [a.name for a in at.call.func._schema.arguments[1:]]
    return rest[names.index("dim")] if "dim" in names else None


def total(at, x, dims):
    return at.text.reduce("add", at.text.convert(x, at.element), 0, dims)


@rule("sum", "sum_to_size")
def sum_(at, x, *rest):
    return total(at, x, dims_of(x, given_dim(at, rest)))


@rule("mean")
def mean(at, x, *rest):
    dims = dims_of(x, given_dim(at, rest))
    out = total(at, x, dims)
    return at.text.binary("divide", out, at.text.constant(float(count(x, dims)), out.element, out.shape))


@rule("prod")
def prod(at, x, *rest):
    return at.text.reduce("multiply", at.text.convert(x, at.element), 1, dims_of(x, given_dim(at, rest)))


@rule("any", "all")
def any_all(at, x, *rest):
    is_any = at.call.func._schema.name.endswith("any")
    dims = dims_of(x, given_dim(at, rest))
    return at.text.reduce("or" if is_any else "and", at.text.convert(x, "i1"), not is_any, dims)


@rule("amax")
def amax(at, x, *rest):
    return at.text.reduce("maximum", x, lowest(x.element), dims_of(x, given_dim(at, rest)))


@rule("amin")
def amin(at, x, *rest):
    return at.text.reduce("minimum", x, highest(x.element), dims_of(x, given_dim(at, rest)))


def counts_in(text, x, dim):
    """0, 1, 2, ... along `dim`, in fp32 where that has all these numbers: engines compute 32-bit integers in steps."""
    count = text.iota(x.shape, dim, "i32")
    return text.convert(count, "f32") if x.shape[dim] <= 1 << 24 else count


def place_of(at, x, dim, op):
    """The first position of the extreme along `dim`; along all: in row-major order."""
    text = at.text
    if dim is None:
        n = count(x, range(x.rank))
        x, dim = text.reshape(x, (n,)), 0
    if not x.rank:
        return text.constant(0, "i64")
    start = lowest(x.element) if op == "maximum" else highest(x.element)
    best = kept(at, x, op, start, [dim % x.rank])
    hit = text.compare("EQ", x, best)
    if x.element in FLOATS:
        hit = text.binary("or", hit, text.compare("NE", x, x))
    places = counts_in(text, x, dim % x.rank)
    never = text.constant(x.shape[dim], places.element, x.shape)
    return text.reduce("minimum", text.select(hit, places, never), highest(places.element), [dim % x.rank])


@rule("max", "min")
def extreme(at, x, *rest):
    name = at.call.func._schema.name.split("::")[1]
    op = name + "imum"
    overload = at.call.func._overloadname
    if overload == "other":
        return at.text.binary(op, at.cast(x), at.cast(rest[0]))
    start = lowest(x.element) if name == "max" else highest(x.element)
    if overload == "default":
        return at.text.reduce(op, x, start, list(range(x.rank)))
    dim = rest[0] % max(x.rank, 1)
    if not x.rank:
        return x, at.text.constant(0, "i64")
    return at.text.reduce(op, x, start, [dim]), place_of(at, x, dim, op) if 1 in at.used else None


@rule("argmax")
def argmax(at, x, dim=None, *_):
    return place_of(at, x, dim, "maximum")


@rule("argmin")
def argmin(at, x, dim=None, *_):
    return place_of(at, x, dim, "minimum")


def spread(at, x, dims, correction):
    """(variance, mean), reduced."""
    text, n = at.text, count(x, dims)
    divisor = text.constant(float(n), x.element, x.shape)
    centre = text.binary("divide", kept(at, x, "add", 0, dims), divisor)
    centred = text.binary("subtract", x, centre)
    squares = text.reduce("add", text.binary("multiply", centred, centred), 0, dims)
    freedom = text.constant(float(max(n - correction, 0)), x.element, squares.shape)
    mean_ = text.reduce("add", x, 0, dims)
    mean_ = text.binary("divide", mean_, text.constant(float(n), x.element, mean_.shape))
    return text.binary("divide", squares, freedom), mean_


@rule("var", "std", "var_mean", "std_mean")
def variance(at, x, *rest):
    names = [a.name for a in at.call.func._schema.arguments[1:]]
    found = dict(zip(names, rest))
    correction = found.get("correction", int(found.get("unbiased", True)))
    out, centre = spread(at, x, dims_of(x, found.get("dim")), 1 if correction is None else correction)
    name = at.call.func._schema.name.split("::")[1]
    out = at.text.unary("sqrt", out) if name.startswith("std") else out
    return (out, centre) if name.endswith("mean") else out


@rule("_softmax", "_safe_softmax")
def softmax(at, x, dim, *_):
    at.refuse(WHOLE)
    text, x = at.text, at.text.convert(x, at.element)
    dims = dims_of(x, dim)
    power = text.unary("exponential", text.binary("subtract", x, kept_max(at, x, dims)))
    return text.binary("divide", power, kept(at, power, "add", 0, dims))


@rule("_log_softmax")
def log_softmax(at, x, dim, *_):
    at.refuse(WHOLE)
    text, x = at.text, at.text.convert(x, at.element)
    dims = dims_of(x, dim)
    shifted = text.binary("subtract", x, kept_max(at, x, dims))
    sums = kept(at, text.unary("exponential", shifted), "add", 0, dims)
    return text.binary("subtract", shifted, text.unary("log", sums))


@rule("_softmax_backward_data")
def softmax_gradient(at, grad, y, dim, *_):
    text = at.text
    product = text.binary("multiply", grad, y)
    sums = kept(at, product, "add", 0, dims_of(y, dim))
    return text.binary("subtract", product, text.binary("multiply", y, sums))


@rule("_log_softmax_backward_data")
def log_softmax_gradient(at, grad, y, dim, *_):
    text = at.text
    sums = kept(at, grad, "add", 0, dims_of(y, dim))
    return text.binary("subtract", grad, text.binary("multiply", text.unary("exponential", y), sums))


@rule("logsumexp")
def logsumexp(at, x, dim, *_):
    text, x = at.text, at.text.convert(x, at.element)
    dims = dims_of(x, dim)
    top = text.reduce("maximum", x, -math.inf, dims)
    top = text.select(text.is_finite(top), top, text.constant(0.0, x.element, top.shape))
    rest = [d for d in range(x.rank) if d not in dims]
    power = text.unary("exponential", text.binary("subtract", x, text.broadcast_in_dim(top, x.shape, rest)))
    return text.binary("add", text.unary("log", text.reduce("add", power, 0, dims)), top)


@rule("linalg_vector_norm")
def vector_norm(at, x, order=2, dim=None, *_):
    return norm_of(at, x, order, dims_of(x, dim))


@rule("norm")
def norm(at, x, order=2, *rest):
    return norm_of(at, x, 2 if order is None else order, dims_of(x, given_dim(at, (order,) + rest)))


def norm_of(at, x, order, dims):
    text, x = at.text, at.text.convert(x, at.element)
    size = text.unary("abs", x)
    if order in (math.inf, -math.inf):
        return text.reduce("maximum" if order > 0 else "minimum", size, 0 if order > 0 else math.inf, dims)
    if order == 0:
        zero = text.constant(0, x.element, x.shape)
        return text.reduce("add", text.convert(text.compare("NE", x, zero), x.element), 0, dims)
    if order == 2:
        return text.unary("sqrt", text.reduce("add", text.binary("multiply", x, x), 0, dims))
    if order == 1:
        return text.reduce("add", size, 0, dims)
    sums = text.reduce("add", text.binary("power", size, text.constant(float(order), x.element, x.shape)), 0, dims)
    return text.binary("power", sums, text.constant(1.0 / order, x.element, sums.shape))


def running(at, x, dim, op, initial):
    """Each element with all before it, by a window that looks back."""
    x = at.text.convert(x, at.element)
    if not x.rank or 0 in x.shape:
        return x
    dim, n = dim % x.rank, x.shape[dim % x.rank]
    window, low = [1] * x.rank, [[0, 0] for _ in x.shape]
    window[dim], low[dim] = n, [n - 1, 0]
    return _emit_more.reduce_window(at.text, x, op, initial, (window, [1] * x.rank, low, [1] * x.rank))


@rule("cumsum")
def cumsum(at, x, dim, *_):
    return running(at, x, dim, "add", 0)


@rule("cumprod")
def cumprod(at, x, dim, *_):
    return running(at, x, dim, "multiply", 1)
