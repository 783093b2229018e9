"""Convolutions with their gradients, and pooling windows."""
import math

from trnsim.torch import _emit_more
from trnsim.torch._lower import rule
from trnsim.torch._values import Unsupported


def wide(numbers, n):
    numbers = list(numbers)
    return numbers * n if len(numbers) == 1 else numbers


def names(n, a, b):
    return f"[{a}, {b}, {', '.join(map(str, range(n)))}]"


def forward(at, x, kernel, geometry, groups):
    stride, padding, dilation = geometry
    n = x.rank - 2
    spatial = [(x.shape[2 + i] + 2 * padding[i] - dilation[i] * (kernel.shape[2 + i] - 1) - 1) // stride[i] + 1
               for i in range(n)]
    window = {"stride": stride, "pad": [[p, p] for p in padding], "rhs_dilate": dilation,
              "shape": (x.shape[0], kernel.shape[0], *spatial)}
    numbers = f"{names(n, 'b', 'f')}x{names(n, 'o', 'i')}->{names(n, 'b', 'f')}"
    return _emit_more.convolution(at.text, x, kernel, numbers, window, (groups, 1))


def backward(at, x, kernel, geometry, extra, groups):
    """A transposed convolution: the kernel [in, out / groups, ...] turned round, over the input with gaps."""
    text, (stride, padding, dilation), n = at.text, geometry, x.rank - 2
    rows, columns, *size = kernel.shape
    if groups > 1:
        kernel = text.reshape(kernel, (groups, rows // groups, columns, *size))
        kernel = text.transpose(kernel, [0, 2, 1] + list(range(3, 3 + n)))
        kernel = text.reshape(kernel, (groups * columns, rows // groups, *size))
    else:
        kernel = text.transpose(kernel, [1, 0] + list(range(2, 2 + n)))
    kernel = text.reverse(kernel, range(2, 2 + n))
    reach = [d * (k - 1) for d, k in zip(dilation, size)]
    pad = [[r - p, r - p + e] for r, p, e in zip(reach, padding, extra)]
    spatial = [(x.shape[2 + i] - 1) * stride[i] - 2 * padding[i] + reach[i] + extra[i] + 1 for i in range(n)]
    window = {"stride": [1] * n, "pad": pad, "lhs_dilate": stride, "rhs_dilate": dilation,
              "shape": (x.shape[0], kernel.shape[0], *spatial)}
    numbers = f"{names(n, 'b', 'f')}x{names(n, 'o', 'i')}->{names(n, 'b', 'f')}"
    return _emit_more.convolution(text, x, kernel, numbers, window, (groups, 1))


def by_kernel(at, x, grad, geometry, size, groups):
    """The gradient [features of grad, features of x / groups, ...]: sums run over the batch."""
    (stride, padding, dilation), n = geometry, x.rank - 2
    pad = [[p, d * (k - 1) + s * (o - 1) + 1 - i - p] for p, d, k, s, o, i in
           zip(padding, dilation, size, stride, grad.shape[2:], x.shape[2:])]
    if groups > 1:
        return by_grouped_kernel(at, x, grad, {"stride": dilation, "pad": pad, "rhs_dilate": stride}, size, groups)
    window = {"stride": dilation, "pad": pad, "rhs_dilate": stride,
              "shape": (grad.shape[1], x.shape[1] // groups, *size)}
    numbers = f"{names(n, 'f', 'b')}x{names(n, 'i', 'o')}->{names(n, 'f', 'b')}"
    return _emit_more.convolution(at.text, x, grad, numbers, window, (1, groups))


def by_grouped_kernel(at, x, grad, window, size, groups):
    """The same where each group of features has its own kernel: the batch becomes features of that group, and the
    compiler takes groups of features alone."""
    text, n, (batch, features) = at.text, x.rank - 2, x.shape[:2]
    inside, spatial, rest = features // groups, x.shape[2:], list(range(3, x.rank + 1))
    x = text.transpose(text.reshape(x, (batch, groups, inside, *spatial)), [2, 1, 0] + rest)
    x = text.reshape(x, (inside, groups * batch, *spatial))
    kernel = text.transpose(grad, [1, 0] + list(range(2, grad.rank)))
    window = dict(window, shape=(inside, grad.shape[1], *size))
    numbers = f"{names(n, 'b', 'f')}x{names(n, 'o', 'i')}->{names(n, 'b', 'f')}"
    out = _emit_more.convolution(text, x, kernel, numbers, window, (groups, 1))
    return text.transpose(out, [1, 0] + list(range(2, out.rank)))


@rule("convolution", "_convolution", "convolution_overrideable")
def convolution(at, x, kernel, bias, *rest):
    stride, padding, dilation, transposed, extra, groups = rest[:6]
    n = x.rank - 2
    geometry = [wide(v, n) for v in (stride, padding, dilation)]
    if transposed:
        out = backward(at, x, kernel, geometry, wide(extra, n), groups)
    else:
        out = forward(at, x, kernel, geometry, groups)
    if bias is None:
        return out
    return at.text.binary("add", out, at.text.broadcast_in_dim(bias, out.shape, [1]))


@rule("convolution_backward")
def convolution_backward(at, grad, x, kernel, *rest):
    _, stride, padding, dilation, transposed, extra, groups, mask = rest
    n = x.rank - 2
    geometry = [wide(v, n) for v in (stride, padding, dilation)]
    stride, padding, dilation = geometry
    size, by_input, by_weight = kernel.shape[2:], None, None
    if transposed:
        if mask[0]:  # output_padding can be room for one more
            by_input = forward(at, grad, kernel, geometry, groups)
            by_input = at.text.slice(by_input, [0] * x.rank, x.shape)
        by_weight = by_kernel(at, grad, x, geometry, size, groups) if mask[1] else None
    else:
        if mask[0]:
            rest = [i - ((o - 1) * s - 2 * p + d * (k - 1) + 1) for i, o, s, p, d, k in
                    zip(x.shape[2:], grad.shape[2:], stride, padding, dilation, size)]
            by_input = backward(at, grad, kernel, geometry, rest, groups)
        by_weight = by_kernel(at, x, grad, geometry, size, groups) if mask[1] else None
    dims = [d for d in range(grad.rank) if d != 1]
    return by_input, by_weight, at.text.reduce("add", grad, 0, dims) if mask[2] else None


def pooling(x, n, kernel, stride, padding, dilation=1):
    """Window, strides, padding, dilation of the last n dimensions."""
    def values(v):
        return wide(v if isinstance(v, (list, tuple)) else [v], n)
    kernel, padding, dilation = values(kernel), values(padding), values(dilation)
    return kernel, values(stride) if stride else kernel, padding, dilation


def over(x, n, geometry, high=None):
    """For reduce_window, with ones for the first dimensions."""
    kernel, stride, padding, dilation = geometry
    lead = x.rank - n
    pads = [[p, p if high is None else high[i]] for i, p in enumerate(padding)]
    return [1] * lead + kernel, [1] * lead + stride, [[0, 0]] * lead + pads, [1] * lead + dilation


def highs(shape, x, n, geometry):
    """Padding at the end that gives the shape, which ceil_mode may have made larger."""
    kernel, stride, padding, dilation = geometry
    return [(shape[-n + i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - x.shape[-n + i] - padding[i]
            for i in range(n)]


@rule("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(at, x, *rest):
    kernel, stride, padding, dilation, _ = rest
    n = 2 if "2d" in at.call.func._schema.name else 3
    geometry = pooling(x, n, kernel, stride, padding, dilation)
    window = over(x, n, geometry, highs(at.shape, x, n, geometry))
    out = _emit_more.reduce_window(at.text, x, "maximum", -math.inf, window)
    return out, max_places(at, x, n, window) if 1 in at.used else None


def max_places(at, x, n, window):
    """The flat position of each window's first maximum, looked for offset by offset."""
    text, (kernel, stride, pads, dilation) = at.text, window
    low, high = [p[0] for p in pads], [max(p[1], 0) for p in pads]  # below zero: the end is left out
    flat = text.iota((math.prod(x.shape[-n:]),), 0, "i64")
    flat = text.broadcast_in_dim(text.reshape(flat, x.shape[-n:]), x.shape, range(x.rank - n, x.rank))
    padded = text.pad(x, text.constant(-math.inf, x.element), low, high)
    flat = text.pad(flat, text.constant(0, "i64"), low, high)
    best = place = None
    for offset in offsets(kernel):
        starts = [o * d for o, d in zip(offset, dilation)]
        limits = [s + (m - 1) * t + 1 for s, m, t in zip(starts, at.shape, stride)]
        value, where = text.slice(padded, starts, limits, stride), text.slice(flat, starts, limits, stride)
        if best is None:
            best, place = value, where
            continue
        over_best = text.compare("GT", value, best)
        best, place = text.select(over_best, value, best), text.select(over_best, where, place)
    return place


def offsets(kernel):
    found = [()]
    for k in kernel:
        found = [o + (i,) for o in found for i in range(k)]
    return found


@rule("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def max_pool_gradient(at, grad, x, *rest):
    """For each offset in the window the gradients of those windows where it was the largest, spread at the stride."""
    kernel, stride, padding, dilation, _, places = rest
    text, n = at.text, 2 if "2d" in at.call.func._schema.name else 3
    geometry = pooling(x, n, kernel, stride, padding, dilation)
    kernel, stride, low, dilation = geometry
    high, spatial = highs(grad.shape, x, n, geometry), x.shape[-n:]
    padded = [d + a + max(b, 0) for d, a, b in zip(spatial, low, high)]
    flat = text.reshape(text.iota((math.prod(spatial),), 0, "i32"), spatial)
    flat = text.pad(flat, text.constant(-1, "i32"), low, [max(b, 0) for b in high])
    places, zero, total = text.convert(places, "i32"), text.constant(0, grad.element, grad.shape), None
    lead = grad.rank - n
    for offset in offsets(kernel):
        starts = [o * d for o, d in zip(offset, dilation)]
        limits = [s + (m - 1) * t + 1 for s, m, t in zip(starts, grad.shape[-n:], stride)]
        where = text.broadcast_in_dim(text.slice(flat, starts, limits, stride), grad.shape, range(lead, grad.rank))
        part = text.select(text.compare("EQ", places, where), grad, zero)
        part = text.pad(part, text.constant(0, grad.element), [0] * lead + starts,
                        [0] * lead + [p - m for p, m in zip(padded, limits)], [0] * lead + [s - 1 for s in stride])
        total = part if total is None else text.binary("add", total, part)
    ends = [a + d for a, d in zip(low, spatial)]
    return text.slice(total, [0] * lead + low, list(x.shape[:lead]) + ends)


def even(x, size):
    """The window of adaptive pooling where sizes divide; the compiler of torch_xla takes no other."""
    windows = [d // s for d, s in zip(x.shape[-len(size):], size)]
    if any(d != s * w for d, s, w in zip(x.shape[-len(size):], size, windows)):
        raise Unsupported(f"adaptive_max_pool of {list(x.shape[-len(size):])} to {list(size)}")
    return windows


@rule("adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(at, x, size):
    n, windows = len(size), even(x, size)
    window = over(x, n, pooling(x, n, windows, None, 0))
    return _emit_more.reduce_window(at.text, x, "maximum", -math.inf, window), max_places(at, x, n, window)


@rule("adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward")
def adaptive_max_pool_gradient(at, grad, x, places):
    n = 2 if "2d" in at.call.func._schema.name else 3
    windows = even(x, grad.shape[-n:])
    return max_pool_gradient(at, grad, x, windows, windows, 0, 1, False, places)


def divisors(at, x, n, geometry, *rest):
    """How many elements each window is divided by."""
    (window, counts, override), kernel = rest, geometry[0]
    if override:
        return at.text.constant(float(override), x.element, at_shape(x, n, window))
    if counts and all(p[0] >= p[1] for p in window[2]):
        return at.text.constant(float(math.prod(kernel)), x.element, at_shape(x, n, window))
    ones = at.text.constant(1.0, x.element, x.shape)
    if counts:
        low = [p[0] for p in window[2]]
        ones = at.text.pad(ones, at.text.constant(1.0, x.element), low, [min(p) for p in window[2]])
        window = (window[0], window[1], [[0, p[1] - min(p)] for p in window[2]], window[3])
    return _emit_more.reduce_window(at.text, ones, "add", 0.0, window)


def at_shape(x, n, window):
    return [(d + p[0] + p[1] - w) // s + 1 for d, w, s, p in zip(x.shape, window[0], window[1], window[2])]


@rule("avg_pool2d", "avg_pool3d")
def avg_pool(at, x, *rest):
    kernel, stride, padding, _, counts, override = rest
    n = 2 if "2d" in at.call.func._schema.name else 3
    geometry = pooling(x, n, kernel, stride, padding)
    window = over(x, n, geometry, highs(at.shape, x, n, geometry))
    sums = _emit_more.reduce_window(at.text, x, "add", 0.0, window)
    return at.text.binary("divide", sums, divisors(at, x, n, geometry, window, counts, override))


@rule("avg_pool2d_backward", "avg_pool3d_backward")
def avg_pool_gradient(at, grad, x, *rest):
    kernel, stride, padding, _, counts, override = rest
    n = 2 if "2d" in at.call.func._schema.name else 3
    geometry = pooling(x, n, kernel, stride, padding)
    window = over(x, n, geometry, highs(grad.shape, x, n, geometry))
    share = at.text.binary("divide", grad, divisors(at, x, n, geometry, window, counts, override))
    low = [w - 1 - p[0] for w, p in zip(window[0], window[2])]
    interior = [s - 1 for s in window[1]]
    high = [d + w - 1 - (m - 1) * s - 1 - a for d, w, m, s, a in
            zip(x.shape, window[0], grad.shape, window[1], low)]
    spread = at.text.pad(share, at.text.constant(0, grad.element), low, high, interior)
    ones = [1] * x.rank
    return _emit_more.reduce_window(at.text, spread, "add", 0.0, (window[0], ones, [[0, 0]] * x.rank, ones))
