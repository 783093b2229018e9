"""Running extremes, places in a sorted order, membership, distances."""
import math

import torch

from trnsim.torch import _emit_more
from trnsim.torch._emit import FLOATS
from trnsim.torch._lower import rule
from trnsim.torch._rules_movement import cut
from trnsim.torch._rules_order import MOST_COMPARED, extreme, ordered, pairs
from trnsim.torch._rules_reductions import counts_in, dims_of, given_dim, highest, lowest, running
from trnsim.torch._values import Unsupported


@rule("cummax", "cummin")
def running_extreme(at, x, dim):
    """(the extreme so far, the last place of it so far)."""
    text, largest = at.text, at.call.func._schema.name.endswith("max")
    if not x.rank or 0 in x.shape:
        return x, text.constant(0, "i64", x.shape)
    dim = dim % x.rank
    values = running(at, x, dim, "maximum" if largest else "minimum", (lowest if largest else highest)(x.element))
    hit = text.compare("EQ", values, x)
    if x.element in FLOATS:
        hit = text.binary("or", hit, text.compare("NE", x, x))
    count = counts_in(text, x, dim)
    places = text.select(hit, count, text.constant(0, count.element, x.shape))
    window, low, ones = [1] * x.rank, [[0, 0] for _ in x.shape], [1] * x.rank
    window[dim], low[dim] = x.shape[dim], [x.shape[dim] - 1, 0]
    return values, text.convert(_emit_more.reduce_window(text, places, "maximum", 0, (window, ones, low, ones)), "i64")


def compared(number):
    if number > MOST_COMPARED:
        raise Unsupported(f"{number} comparisons")


@rule("logcumsumexp")
def log_of_running_sum(at, x, dim):
    """Each prefix against its own largest element, so that nothing vanishes."""
    text = at.text
    if not x.rank:
        return x
    dim = dim % x.rank
    compared(math.prod(x.shape) * x.shape[dim])
    top = running(at, x, dim, "maximum", lowest(x.element))
    top = text.select(text.is_finite(top), top, text.constant(0.0, x.element, top.shape))
    one, _ = pairs(at, top, dim)
    _, other = pairs(at, x, dim)
    ahead = text.compare("LE", text.iota(one.shape, x.rank, "i32"), text.iota(one.shape, dim, "i32"))
    power = text.unary("exponential", text.binary("subtract", other, one))
    power = text.select(ahead, power, text.constant(0.0, x.element, one.shape))
    return text.binary("add", text.unary("log", text.reduce("add", power, 0, [x.rank])), top)


def placed(at, x, dim, place):
    """(value, index) of the element at a place of the sorted order, with `dim` of the size one."""
    return [cut(at, y, dim, place, place + 1) for y in ordered(at, x, dim, False)]


@rule("kthvalue")
def kth_value(at, x, k, dim=-1, *_):
    return placed(at, x, dim % x.rank, k - 1) if x.rank else (x, at.text.constant(0, "i64"))


@rule("median")
def median(at, x, *rest):
    """The lower one of two; NaN where there is one."""
    text, dim = at.text, given_dim(at, rest)
    if not x.rank:
        return x, text.constant(0, "i64")
    if 0 in x.shape:  # NaN, if PyTorch has any result
        value = text.constant(math.nan if x.element in FLOATS else 0, x.element, at.shape)
        return value, text.constant(0, "i64", at.shape)
    flat = dim is None
    x = text.reshape(x, (math.prod(x.shape),)) if flat else x
    dim = 0 if flat else dim % x.rank
    value, place = placed(at, x, dim, (x.shape[dim] - 1) // 2)
    if x.element in FLOATS:  # NaN is the largest of all
        last, its_place = extreme(at, x, dim, True)
        nan = text.compare("NE", last, last)
        value = text.select(nan, last, value)
        place = text.select(nan, text.convert(its_place, "i64"), place)
    return value if flat else (value, place)


@rule("aminmax")
def both_extremes(at, x, dim=None, *_):
    dims = dims_of(x, dim)
    return (at.text.reduce("minimum", x, highest(x.element), dims),
            at.text.reduce("maximum", x, lowest(x.element), dims))


def against(at, values, row):
    """Both as [..., n]: each value beside every element of the row behind all dimensions."""
    text, shape = at.text, values.shape + row.shape[-1:]
    compared(math.prod(shape))
    element = at.common(values, row)
    wide = text.broadcast_in_dim(text.convert(values, element), shape, range(values.rank))
    lead = list(range(row.rank - 1)) if row.rank > 1 else []
    if row.rank > 1:  # rows of their own: [..., m] beside [..., n]
        lead = list(range(values.rank - 1))
    return wide, text.broadcast_in_dim(text.convert(row, element), shape, lead + [values.rank])


def counted(at, values, row, direction):
    wide, others = against(at, values, row)
    hits = at.text.convert(at.text.compare(direction, others, wide), "i32")
    return at.text.reduce("add", hits, 0, [values.rank])


@rule("searchsorted")
def search_sorted(at, row, values, *rest):
    _, right, side, sorter = rest
    if sorter is not None or not hasattr(values, "shape"):
        raise Unsupported("searchsorted with a sorter, or of a number")
    return counted(at, values, row, "LE" if right or side == "right" else "LT")


@rule("bucketize")
def bucketize(at, values, row, out_int32=False, right=False):
    if not hasattr(values, "shape"):
        raise Unsupported("bucketize of a number")
    return counted(at, values, row, "LE" if right else "LT")


@rule("isin")
def is_in(at, values, tests, assume_unique=False, invert=False):
    text = at.text
    if not (hasattr(values, "shape") and hasattr(tests, "shape")):
        raise Unsupported("isin of a number")
    wide, others = against(at, values, text.reshape(tests, (math.prod(tests.shape),)))
    found = text.reduce("or", text.compare("EQ", wide, others), False, [values.rank])
    return text.unary("not", found) if invert else found


def differences(at, a, b):
    """a[..., i, None, :] - b[..., None, j, :], with the dimensions in front broadcast."""
    text, lead = at.text, torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    n, m, width = a.shape[-2], b.shape[-2], a.shape[-1]
    compared(math.prod(lead) * n * m * width)
    k = len(lead)
    a, b = (text.broadcast(x, tuple(lead) + x.shape[-2:]) for x in (a, b))
    shape = tuple(lead) + (n, m, width)
    first = text.broadcast_in_dim(a, shape, list(range(k)) + [k, k + 2])
    return text.binary("subtract", first, text.broadcast_in_dim(b, shape, list(range(k)) + [k + 1, k + 2]))


@rule("_cdist_forward", "_euclidean_dist")
def distances(at, a, b, p=2.0, *_):
    text, gap = at.text, differences(at, a, b)
    last, size = gap.rank - 1, at.text.unary("abs", gap)
    if p == 2:
        return text.unary("sqrt", text.reduce("add", text.binary("multiply", gap, gap), 0, [last]))
    if p == 1:
        return text.reduce("add", size, 0, [last])
    if p == math.inf:
        return text.reduce("maximum", size, 0, [last])
    raise Unsupported(f"distances of order {p}")


@rule("_cdist_backward")
def distances_gradient(at, grad, a, b, p, found):
    """The gradient of the first."""
    text, gap = at.text, differences(at, a, b)
    if gap.shape[:-3] != a.shape[:-2]:
        raise Unsupported("gradients of distances whose first dimensions are broadcast")
    wide = list(range(gap.rank - 1))
    if p == 1:
        slope = text.unary("sign", gap)
    elif p == 2:
        length = text.broadcast_in_dim(found, gap.shape, wide)
        zero = text.constant(0.0, gap.element, gap.shape)
        slope = text.select(text.compare("EQ", length, zero), zero, text.binary("divide", gap, length))
    else:
        raise Unsupported(f"gradients of distances of order {p}")
    product = text.binary("multiply", slope, text.broadcast_in_dim(grad, gap.shape, wide))
    return text.reduce("add", product, 0, [gap.rank - 2])


@rule("_trilinear")
def trilinear(at, a, b, c, *rest):
    """Three tensors with dimensions of one put in, multiplied and summed."""
    text, dims, parts = at.text, rest[3], []
    for x, put in zip((a, b, c), rest[:3]):
        shape = list(x.shape)
        for d in sorted(put):
            shape.insert(d, 1)
        parts.append(text.reshape(x, shape))
    shape = [next((p.shape[i] for p in parts if p.shape[i] != 1), 1) for i in range(parts[0].rank)]
    first, second, third = (text.broadcast_in_dim(p, shape, range(p.rank)) for p in parts)
    return text.reduce("add", text.binary("multiply", text.binary("multiply", first, second), third), 0, dims)


@rule("renorm")
def renorm(at, x, p, dim, most):
    from trnsim.torch._rules_reductions import norm_of
    text, dim = at.text, dim % x.rank
    norms = norm_of(at, x, p, [d for d in range(x.rank) if d != dim])
    limit = text.constant(float(most), x.element, norms.shape)
    scale = text.binary("divide", limit, text.binary("add", norms, text.constant(1e-7, x.element, norms.shape)))
    scale = text.select(text.compare("GT", norms, limit), scale, text.constant(1.0, x.element, norms.shape))
    return text.binary("multiply", x, text.broadcast_in_dim(scale, x.shape, [dim]))


def grid(size, corners):
    """[all places, 2 or 3 and a one]: each place of a picture between -1 and 1, the last dimension first."""
    def steps(n):
        ends = [2 * i / (n - 1) - 1 if n > 1 else 0.0 for i in range(n)]
        return ends if corners else [e * (n - 1) / n for e in ends]
    rows = [[]]
    for n in size:
        rows = [row + [s] for row in rows for s in steps(n)]
    return [row[::-1] + [1.0] for row in rows]


@rule("affine_grid_generator")
def affine_grid(at, theta, size, corners):
    text, places = at.text, grid(size[2:], corners)
    base = text.literal(places, theta.element, (len(places), len(places[0])))
    out = text.dot_general(theta, base, ([], []), ([2], [1]))
    return text.transpose(out, [0, 2, 1])


@rule("affine_grid_generator_backward")
def affine_grid_gradient(at, grad, size, corners):
    text, places = at.text, grid(size[2:], corners)
    base = text.literal(places, grad.element, (len(places), len(places[0])))
    flat = text.reshape(grad, (grad.shape[0], len(places), grad.shape[-1]))
    return text.dot_general(flat, base, ([], []), ([1], [0]))


def signed(at, x):
    """Whether a number is below zero, or the zero that is."""
    text, zero = at.text, at.text.constant(0, x.element, x.shape)
    below = text.compare("LT", x, zero)
    if x.element not in FLOATS:
        return below
    inverse = text.binary("divide", text.constant(1.0, x.element, x.shape), x)
    return text.binary("or", below, text.binary("and", text.compare("EQ", x, zero), text.compare("LT", inverse, zero)))


@rule("signbit")
def sign_bit(at, x):
    return signed(at, x) if x.element != "i1" else at.cast(False)


@rule("copysign")
def copy_sign(at, x, other):
    text, size, other = at.text, at.text.unary("abs", at.cast(x)), at.cast(other)
    return text.select(signed(at, other), text.unary("negate", size), size)


LARGEST = {"f32": 3.4028234663852886e38, "f64": 3.4028234663852886e38, "bf16": 3.3895313892515355e38, "f16": 65504.0}


@rule("nan_to_num")
def numbers_for_nan(at, x, nan=None, high=None, low=None):
    text = at.text
    if x.element not in FLOATS:
        return x

    def put(value, out, where):
        return text.select(where, text.constant(float(value), x.element, x.shape), out)
    most = LARGEST[x.element]
    out = put(0.0 if nan is None else nan, x, text.compare("NE", x, x))
    out = put(most if high is None else high, out, text.compare("EQ", x, text.constant(math.inf, x.element, x.shape)))
    return put(-most if low is None else low, out,
               text.compare("EQ", x, text.constant(-math.inf, x.element, x.shape)))


@rule("angle")
def angle(at, x):
    text, x = at.text, at.cast(x)
    zero = text.constant(0.0, x.element, x.shape)
    out = text.select(text.compare("LT", x, zero), text.constant(math.pi, x.element, x.shape), zero)
    return text.select(text.compare("NE", x, x), x, out)
