"""Kernels that a generator draws, in both dialects, under several choices of passes: their numbers equal NumPy's.

python3 -m trnsim.nki tests/nki/drawn.py [COUNT [SEED]]. A kernel is a list of steps on rows of a table; each step says
what it does in NumPy, in the older dialect and in the newer. What fails is drawn again with fewer steps, the shortest
list that fails is named.
"""
import sys
import warnings

import numpy as np
import neuronxcc.nki as older
import neuronxcc.nki.isa as oisa
import neuronxcc.nki.language as ol
import nki as newer
import nki.isa as nisa
import nki.language as nl

from trnsim.nki import _jit

warnings.simplefilter("ignore")
PASSES = ("share", "join", "forward", "fuse", "reuse", "reload", "reorder", "near", "transpose")
UNARY = {"tanh": np.tanh, "square": np.square, "abs": np.abs, "relu": lambda x: np.maximum(x, 0), "negative": np.negative,
         "sigmoid": lambda x: 1 / (1 + np.exp(-x))}
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def made(like, dtype=None, shape=None, buffer=None):
    return nl.ndarray(shape or like.shape, dtype=dtype or nl.float32, buffer=buffer or nl.sbuf)


class Unary:
    def __init__(self, rng, columns):
        self.name, self.columns = rng.choice(list(UNARY)), columns

    def numpy(self, x):
        return UNARY[self.name](x)

    def older(self, t):
        return getattr(ol, self.name)(t)

    def newer(self, t):
        return getattr(nl, self.name)(t)


class WithNumber:
    def __init__(self, rng, columns):
        self.name, self.number, self.columns = rng.choice(list(BINARY)), float(np.float32(rng.normal())), columns
        self.turned = bool(rng.integers(2))

    def numpy(self, x):
        a, b = (np.float32(self.number), x) if self.turned else (x, np.float32(self.number))
        return BINARY[self.name](a, b)

    def older(self, t):
        return oisa.tensor_scalar(t, getattr(np, self.name), self.number, reverse0=self.turned)

    def newer(self, t):
        out = made(t)
        nisa.tensor_scalar(dst=out, data=t, op0=getattr(nl, self.name), operand0=self.number, reverse0=self.turned)
        return out


class Centred:
    """A reduction along the row, and its result beside each element."""

    def __init__(self, rng, columns):
        self.reduces, self.name, self.columns = rng.choice(["add", "max", "min"]), rng.choice(list(BINARY)), columns

    def numpy(self, x):
        reduced = {"add": np.sum, "max": np.max, "min": np.min}[self.reduces](x, axis=1, keepdims=True)
        return BINARY[self.name](x, reduced * np.float32(0.01))

    def older(self, t):
        reduced = oisa.tensor_reduce(getattr(np, self.reduces), t, axis=1, keepdims=True)
        return getattr(ol, self.name)(t, ol.multiply(reduced, 0.01))

    def newer(self, t):
        reduced, scaled, out = made(t, shape=(t.shape[0], 1)), made(t, shape=(t.shape[0], 1)), made(t)
        op = {"add": nl.add, "max": nl.maximum, "min": nl.minimum}[self.reduces]
        nisa.tensor_reduce(dst=reduced, op=op, data=t, axis=1)
        nisa.activation(dst=scaled, op=nl.copy, data=reduced, scale=0.01)
        nisa.tensor_scalar(dst=out, data=t, op0=getattr(nl, self.name), operand0=scaled)
        return out


class Part:
    """Columns from a place on, with a step."""

    def __init__(self, rng, columns):
        self.begin, self.step = int(rng.integers(0, max(1, columns // 3))), int(rng.integers(1, 4))
        self.columns = len(range(self.begin, columns, self.step))

    def numpy(self, x):
        return x[:, self.begin::self.step]

    def older(self, t):
        p, f = ol.arange(t.shape[0])[:, None], ol.arange(self.columns)[None, :]
        return oisa.tensor_copy(t[p, self.begin + self.step * f])

    def newer(self, t):
        out = made(t, shape=(t.shape[0], self.columns))
        nisa.tensor_copy(dst=out, src=t[:, self.begin::self.step])
        return out


class Window:
    """A short loop over places: products with a window, summed."""

    def __init__(self, rng, columns):
        self.width = int(rng.integers(1, min(4, columns) + 1))
        self.columns = min(columns - self.width + 1, int(rng.integers(2, 40)))

    def numpy(self, x):
        return np.stack([(x[:, i:i + self.width] * x[:, :self.width]).sum(1) for i in range(self.columns)], 1)

    def older(self, t):
        out = ol.zeros((t.shape[0], self.columns), dtype=t.dtype)
        p, f = ol.arange(t.shape[0])[:, None], ol.arange(self.width)[None, :]
        for i in ol.affine_range(self.columns):
            product = oisa.tensor_tensor(t[p, f + i], t[p, f], np.multiply)
            out[p, i] = oisa.tensor_reduce(np.add, product[p, f], axis=[1])
        return out

    def newer(self, t):
        out = made(t, shape=(t.shape[0], self.columns))
        for i in nl.affine_range(self.columns):
            product = made(t, shape=(t.shape[0], self.width))
            nisa.tensor_tensor(product, t[:, i:i + self.width], t[:, 0:self.width], nl.multiply)
            nisa.tensor_reduce(out[:, i:i + 1], nl.add, product, axis=1)
        return out


class Gather:
    """Columns in another order, some of them twice."""

    def __init__(self, rng, columns):
        self.columns = int(rng.integers(1, 50))
        self.order = rng.integers(0, columns, self.columns)

    def numpy(self, x):
        return x[:, self.order]

    def older(self, t):
        index = ol.load(ol.shared_constant(np.tile(self.order.astype(np.uint32), (128, 1))))
        return ol.gather_flattened(t, index[0:t.shape[0], :])

    def newer(self, t):
        index, out = made(t, nl.uint32, (t.shape[0], self.columns)), made(t, shape=(t.shape[0], self.columns))
        order = nl.shared_constant(np.tile(self.order.astype(np.uint32), (128, 1)))
        nisa.dma_copy(dst=index, src=order[0:t.shape[0], :])
        nisa.nc_n_gather(dst=out, data=t, indices=index)
        return out


class Product:
    """The row times a matrix: over TensorE, twice transposed."""

    def __init__(self, rng, columns):
        self.columns = int(rng.integers(1, 100)) if columns <= 128 else columns
        self.weights = (rng.normal(size=(columns, self.columns)) / 8).astype(np.float32) if columns <= 128 else None

    def numpy(self, x):
        return x if self.weights is None else x @ self.weights

    def older(self, t):
        if self.weights is None:
            return t
        turned = oisa.tensor_copy(oisa.nc_transpose(t, engine=oisa.tensor_engine))
        out = ol.zeros((t.shape[0], self.columns), dtype=ol.float32, buffer=ol.psum)
        out += oisa.nc_matmul(turned, ol.load(ol.shared_constant(self.weights)))
        return ol.copy(out)

    def newer(self, t):
        if self.weights is None:
            return t
        psum, turned = made(t, shape=(t.shape[1], t.shape[0]), buffer=nl.psum), made(t, shape=(t.shape[1], t.shape[0]))
        nisa.nc_transpose(dst=psum, data=t)
        nisa.tensor_copy(turned, psum)
        right, out = made(t, shape=self.weights.shape), made(t, shape=(t.shape[0], self.columns))
        nisa.dma_copy(dst=right, src=nl.shared_constant(self.weights))
        sums = made(t, shape=(t.shape[0], self.columns), buffer=nl.psum)
        nisa.nc_matmul(dst=sums, stationary=turned, moving=right)
        nisa.tensor_copy(dst=out, src=sums)
        return out


class Band:
    """Columns between two bounds, of the first rows of a tile, are doubled: one mask of three comparisons."""

    def __init__(self, rng, columns):
        self.low, self.high = sorted(int(n) for n in rng.integers(0, columns + 1, 2))
        self.rows, self.columns = int(rng.integers(1, 129)), columns

    def numpy(self, x):
        rows, columns = np.arange(x.shape[0])[:, None] % 128, np.arange(self.columns)
        return np.where((rows < self.rows) & (columns >= self.low) & (columns < self.high), x + x, x)

    def older(self, t):
        p, f, out = ol.arange(t.shape[0])[:, None], ol.arange(self.columns)[None, :], ol.copy(t)
        out[p, f] = ol.add(t[p, f], t[p, f], mask=(p < self.rows) & (f >= self.low) & (f < self.high))
        return out

    def newer(self, t):
        out, rows = made(t), min(self.rows, t.shape[0])
        nisa.tensor_copy(dst=out, src=t)
        if self.low < self.high:
            part = t[0:rows, self.low:self.high]
            nisa.tensor_tensor(dst=out[0:rows, self.low:self.high], data1=part, data2=part, op=nl.add)
        return out


class Scan:
    """Each element is half the one before it and its own: carried over pieces of a row."""

    def __init__(self, rng, columns):
        self.columns, self.piece = columns, int(rng.integers(1, columns + 1))

    def numpy(self, x):
        out = np.zeros_like(x)
        for i in range(self.columns):
            out[:, i] = x[:, i] + (np.float32(0.5) * out[:, i - 1] if i else 0)
        return out

    def pieces(self):
        return [(i, min(self.piece, self.columns - i)) for i in range(0, self.columns, self.piece)]

    def older(self, t):
        half, carried = ol.full((t.shape[0], self.columns), 0.5, dtype=t.dtype), ol.zeros((t.shape[0], 1), dtype=t.dtype)
        out = ol.ndarray((t.shape[0], self.columns), dtype=t.dtype)
        for i, n in self.pieces():
            out[:, i:i + n] = oisa.tensor_tensor_scan(half[:, 0:n], t[:, i:i + n], initial=carried, op0=np.multiply,
                                                      op1=np.add)
            carried[...] = out[:, i + n - 1:i + n]
        return out

    def newer(self, t):
        half, carried, out = made(t), made(t, shape=(t.shape[0], 1)), made(t)
        nisa.memset(dst=half, value=0.5)
        nisa.memset(dst=carried, value=0.0)
        for i, n in self.pieces():
            nisa.tensor_tensor_scan(dst=out[:, i:i + n], data0=half[:, 0:n], data1=t[:, i:i + n], initial=carried,
                                    op0=nl.multiply, op1=nl.add)
            nisa.tensor_copy(dst=carried, src=out[:, i + n - 1:i + n])
        return out


class Folded:
    """A row as a matrix, transposed in place, and the greatest of its rows beside each of them."""

    def __init__(self, rng, columns):
        self.wide = int(rng.choice([n for n in range(1, columns + 1) if columns % n == 0]))
        self.high, self.columns = columns // self.wide, columns

    def numpy(self, x):
        turned = x.reshape(-1, self.high, self.wide).swapaxes(1, 2)
        return (turned - turned.max(axis=2, keepdims=True)).reshape(x.shape)

    def older(self, t):
        p, w, h = ol.mgrid[0:t.shape[0], 0:self.wide, 0:self.high]
        turned = ol.copy(t[p, self.wide * h + w])
        return ol.subtract(turned, ol.max(turned, axis=[2], keepdims=True)).reshape((t.shape[0], self.columns))

    def newer(self, t):
        turned = t.reshape_dim(1, (self.high, self.wide)).permute((0, 2, 1))
        most, out = made(t, shape=(t.shape[0], self.wide)), made(t, shape=(t.shape[0], self.wide, self.high))
        nisa.tensor_reduce(dst=most, op=nl.maximum, data=turned, axis=2)
        nisa.tensor_tensor(dst=out, data1=turned, data2=most.expand_dim(2).broadcast(2, self.high), op=nl.subtract)
        return out.flatten_dims(1, 2)


STEPS = (Unary, WithNumber, Centred, Part, Window, Gather, Product, Band, Scan, Folded)


def drawn(rng):
    """A table and steps on its rows."""
    rows, columns = int(rng.choice([1, 5, 32, 100, 128, 129, 200, 256])), int(rng.integers(1, 120))
    table, steps = rng.standard_normal((rows, columns)).astype(np.float32), []
    for _ in range(int(rng.integers(1, 7))):
        steps.append(STEPS[rng.integers(len(STEPS))](rng, columns))
        columns = steps[-1].columns
    return table, steps


def wanted(table, steps):
    for step in steps:
        table = step.numpy(table)
    return table


def old_kernel(table, steps, columns):
    @older.jit
    def kernel(x):
        rows = x.shape[0]
        out = ol.ndarray((rows, columns), dtype=x.dtype, buffer=ol.shared_hbm)
        p, f, g = ol.arange(128)[:, None], ol.arange(x.shape[1])[None, :], ol.arange(columns)[None, :]
        for i in ol.affine_range((rows + 127) // 128):
            t = ol.zeros((128, x.shape[1]), dtype=x.dtype)
            t[p, f] = ol.load(x[i * 128 + p, f], mask=i * 128 + p < rows)
            for step in steps:
                t = step.older(t)
            ol.store(out[i * 128 + p, g], t[p, g], mask=i * 128 + p < rows)
        return out
    return kernel(table)


def new_kernel(table, steps, columns):
    @newer.jit
    def kernel(x):
        out = nl.ndarray((x.shape[0], columns), dtype=x.dtype, buffer=nl.shared_hbm)
        for first in range(0, x.shape[0], 128):
            last = min(first + 128, x.shape[0])
            t = made(x, shape=(last - first, x.shape[1]))
            nisa.dma_copy(dst=t, src=x[first:last, :])
            for step in steps:
                t = step.newer(t)
            nisa.dma_copy(dst=out[first:last, :], src=t)
        return out
    return kernel(table)


def wrong(table, steps, choices):
    """Why a kernel is wrong under one of the choices of passes; None when it is right."""
    want = wanted(table, steps).astype(np.float64)
    size = max(1e-30, float(np.abs(want).max()))
    for dialect, run in (("older", old_kernel), ("newer", new_kernel)):
        for passes in choices:
            _jit.settings.passes = passes
            try:
                got = np.asarray(run(table, steps, want.shape[1]), np.float64)
            except Exception as error:  # noqa: BLE001
                return f"{dialect} {passes or 'all'}: {type(error).__name__}: {error}"
            finally:
                _jit.settings.passes = ""
            # ScalarE's functions are within 1e-6 of their size; sums of 120 numbers add some roundings.
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-4, atol=2e-5 * size):
                return f"{dialect} {passes or 'all'}: {np.abs(got - want).max():.2g} of {size:.2g}"
    return None


def main(count, seed):
    failed = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        table, steps = drawn(rng)
        some = ",".join("-" + p for p in PASSES if rng.integers(2))
        choices = ["", "none", some]
        why = wrong(table, steps, choices)
        if why is None:
            continue
        shortest = next(n for n in range(1, len(steps) + 1) if n == len(steps) or wrong(table, steps[:n], choices))
        names = ", ".join(type(s).__name__ for s in steps[:shortest])
        failed.append(f"kernel {number} of seed {seed}, {table.shape}: {names}: {why}")
        print(failed[-1], flush=True)
    print(count, "kernels drawn")
    if failed:
        sys.exit(1)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 50, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
