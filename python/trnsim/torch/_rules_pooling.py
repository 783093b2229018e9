"""Pooling to a given size and enlarging, both as products with constant matrices, one for each dimension; padding with
the border's elements."""
import math

from trnsim.torch._lower import rule


def along(at, x, dim, matrix):
    """`x` with dimension `dim` multiplied by a matrix [new, old] of numbers."""
    text, (new, old) = at.text, (len(matrix), len(matrix[0]))
    constant = text.literal(matrix, x.element, (new, old))
    out = text.dot_general(x, constant, ([], []), ([dim], [1]), chosen=True)
    order = list(range(dim)) + [x.rank - 1] + list(range(dim, x.rank - 1))
    return text.transpose(out, order)


def turned(matrix):
    return [list(column) for column in zip(*matrix)]


def shares(new, old):
    """Row o: the mean over the elements of its part. Source: PyTorch's start_index and end_index."""
    rows = []
    for o in range(new):
        begin, end = o * old // new, -(-(o + 1) * old // new)
        rows.append([1.0 / (end - begin) if begin <= i < end else 0.0 for i in range(old)])
    return rows


@rule("_adaptive_avg_pool2d", "adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool3d")
def adaptive_mean(at, x, size):
    for i, new in enumerate(size):
        dim = x.rank - len(size) + i
        if new != x.shape[dim]:
            x = along(at, x, dim, shares(new, x.shape[dim]))
    return x


@rule("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_mean_gradient(at, grad, x):
    n = 2 if "2d" in at.call.func._schema.name else 3
    for dim in range(x.rank - n, x.rank):
        if grad.shape[dim] != x.shape[dim]:
            grad = along(at, grad, dim, turned(shares(grad.shape[dim], x.shape[dim])))
    return grad


def source(o, new, old, scale, centred):
    """The place in the old dimension of element o of the new one."""
    ratio = 1.0 / scale if scale else old / new
    return max((o + 0.5) * ratio - 0.5, 0.0) if centred else o * ratio


def nearest(new, old, scale, exact):
    rows = []
    for o in range(new):
        ratio = 1.0 / scale if scale else old / new
        place = min(int(math.floor((o + 0.5) * ratio if exact else o * ratio)), old - 1)
        rows.append([1.0 if i == place else 0.0 for i in range(old)])
    return rows


def linear(new, old, scale, corners):
    rows = []
    for o in range(new):
        place = o * (old - 1) / max(new - 1, 1) if corners else source(o, new, old, scale, True)
        low = min(int(place), old - 1)
        part, high = place - low, min(low + 1, old - 1)
        rows.append([(1 - part) * (i == low) + part * (i == high) for i in range(old)])
    return rows


def scales_of(given, n):
    values = [s for s in given if s is not None]
    values = list(values[0]) if len(values) == 1 and isinstance(values[0], (list, tuple)) else list(given)
    return values if len(values) == n else [None] * n


def enlarged(at, x, sizes, matrices):
    """Each of the last dimensions by its matrix; sizes that stay are left alone."""
    first = x.rank - len(sizes)
    for i, size in enumerate(sizes):
        if x.shape[first + i] != size:
            x = along(at, x, first + i, matrices(i, size, x.shape[first + i]))
    return x


def dimensions(at):
    return next(n for n in (1, 2, 3) if f"{n}d" in at.call.func._schema.name)


@rule("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
      "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")
def upsample_nearest(at, x, size, *scales):
    n, exact = dimensions(at), "exact" in at.call.func._schema.name
    scales = scales_of(scales, n)
    return enlarged(at, x, at.shape[-n:], lambda i, new, old: nearest(new, old, scales[i], exact))


@rule("upsample_nearest1d_backward", "upsample_nearest2d_backward", "upsample_nearest3d_backward",
      "_upsample_nearest_exact1d_backward", "_upsample_nearest_exact2d_backward", "_upsample_nearest_exact3d_backward")
def upsample_nearest_gradient(at, grad, size, input_size, *scales):
    n, exact = dimensions(at), "exact" in at.call.func._schema.name
    scales = scales_of(scales, n)
    return enlarged(at, grad, at.shape[-n:], lambda i, new, old: turned(nearest(old, new, scales[i], exact)))


@rule("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
def upsample_linear(at, x, size, corners, *scales):
    n = dimensions(at)
    scales = scales_of(scales, n)
    return enlarged(at, x, at.shape[-n:], lambda i, new, old: linear(new, old, scales[i], corners))


@rule("upsample_linear1d_backward", "upsample_bilinear2d_backward", "upsample_trilinear3d_backward")
def upsample_linear_gradient(at, grad, size, input_size, corners, *scales):
    n = dimensions(at)
    scales = scales_of(scales, n)
    return enlarged(at, grad, at.shape[-n:], lambda i, new, old: turned(linear(old, new, scales[i], corners)))


def mirrored(at, x, padding, edge):
    """The elements inside around it again: `edge` 0 repeats the border, 1 mirrors at it."""
    text = at.text
    for i in range(len(padding) // 2):
        dim, (low, high) = x.rank - 1 - i, padding[2 * i:2 * i + 2]
        starts, limits = [0] * x.rank, list(x.shape)
        starts[dim], limits[dim] = max(-low, 0), limits[dim] - max(-high, 0)
        x = text.slice(x, starts, limits)
        size = x.shape[dim]
        if not edge:
            front = [text.slice(x, *one_of(x, dim, 0))] * low
            back = [text.slice(x, *one_of(x, dim, size - 1))] * high
        else:
            front = [text.slice(x, *one_of(x, dim, p)) for p in range(low, 0, -1)]
            back = [text.slice(x, *one_of(x, dim, size - 2 - p)) for p in range(high)]
        x = text.concatenate(front + [x] + back, dim)
    return x


def one_of(x, dim, place):
    starts, limits = [0] * x.rank, list(x.shape)
    starts[dim], limits[dim] = place, place + 1
    return starts, limits


@rule("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(at, x, padding):
    return mirrored(at, x, padding, 1)


@rule("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(at, x, padding):
    return mirrored(at, x, padding, 0)


def padded_gradient(at, grad, x, padding, places):
    """Each element's gradients added up: the transposed matrix of its copies."""
    for i in range(len(padding) // 2):
        dim, (low, high) = x.rank - 1 - i, padding[2 * i:2 * i + 2]
        size = x.shape[dim]
        sources = [places(p, size) for p in range(-low, size + high)]
        grad = along(at, grad, dim, [[1.0 if s == o else 0.0 for s in sources] for o in range(size)])
    return grad


@rule("reflection_pad1d_backward", "reflection_pad2d_backward", "reflection_pad3d_backward")
def reflection_pad_gradient(at, grad, x, padding):
    return padded_gradient(at, grad, x, padding, lambda p, n: -p if p < 0 else 2 * (n - 1) - p if p >= n else p)


@rule("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward")
def replication_pad_gradient(at, grad, x, padding):
    return padded_gradient(at, grad, x, padding, lambda p, n: min(max(p, 0), n - 1))
