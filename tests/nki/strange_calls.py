"""Calls as published kernels have them and ours did not: shapes that only agree in elements, sums by DMA, views of other
types that a number moves, ranges by name, types as arguments, arrays of JAX."""
import contextlib
import functools
import io
import logging

import numpy as np
import neuronxcc
import neuronxcc.nki as older
import neuronxcc.nki.isa as oisa
import neuronxcc.nki.language as onl
import nki
import nki.isa as nisa
import nki.language as nl
import torch_xla
from jax_neuronx import nki_call
from trnsim.nki import _jit

from checks import FAILED, check, ended, loaded, refused, stored

_jit.settings.machine = "trn2.3xlarge"
rng = np.random.default_rng(12)
X, Y = rng.standard_normal((2, 128, 8)).astype(np.float32)


def of_two(call, shape=(128, 8)):
    @nki.jit
    def kernel(x, y):
        to = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        call(to, loaded(x), loaded(y))
        return stored(to)
    return kernel


def cut(t):
    return t.ap(pattern=[[8, 128], [2, 4], [1, 2]], offset=0)


# ---- as many elements a partition are the same elements
for NAME, A, B in (("3 axes and 2", cut, lambda t: t), ("2 axes and 3", lambda t: t, cut)):
    check(f"tensor_tensor of {NAME}", lambda: of_two(lambda d, x, y: nisa.tensor_tensor(d, A(x), B(y), op=nl.add))(X, Y),
          X + Y)
    check(f"tensor_tensor_scan of {NAME}",
          lambda: of_two(lambda d, x, y: nisa.tensor_tensor_scan(d, A(x), B(y), initial=0.0, op0=nl.multiply,
                                                                 op1=nl.add))(np.ones_like(X), Y),
          np.cumsum(Y, axis=1), 1e-5)


@older.jit
def biased(x, b):
    """A number for each partition beside a tile of three axes, as convolutions add their bias."""
    out = onl.ndarray(x.shape, dtype=x.dtype, buffer=onl.shared_hbm)
    onl.store(out, oisa.tensor_tensor(onl.load(x), onl.load(b), op=onl.add))
    return out


@older.jit
def biased_by_language(x, b):
    out = onl.ndarray(x.shape, dtype=x.dtype, buffer=onl.shared_hbm)
    onl.store(out, onl.add(onl.load(x), onl.load(b)))
    return out


for H in (1, 2, 4):
    IMAGES, BIAS = rng.standard_normal((128, H, 22)).astype(np.float32), rng.standard_normal((128, 1)).astype(np.float32)
    check(f"a bias of {H} rows", lambda: biased(IMAGES, BIAS), IMAGES + BIAS[:, :, None])
    if H > 1:  # of one row NumPy's rule gives another shape
        check(f"a bias of {H} rows by nl.add", lambda: biased_by_language(IMAGES, BIAS), IMAGES + BIAS[:, :, None])
check("arithmetic of numbers on GpSimdE",
      lambda: of_two(lambda d, x, y: nisa.tensor_tensor(d, x, y, op=nl.multiply, engine=nisa.engine.gpsimd))(X, Y), X * Y)


# ---- sums by DMA
@nki.jit
def gathered(table, index, x):
    t = loaded(x)
    rows = table.ap(pattern=[[32, 64], [1, 32]], offset=0, vector_offset=loaded(index), indirect_dim=0)
    nisa.dma_compute(dst=t, srcs=[rows, t], reduce_op=nl.add)
    return stored(t)


TABLE, INDEX = rng.standard_normal((100, 32)).astype(np.float32), rng.permutation(100)[:64].astype(np.int32)[:, None]
check("rows that an index names are added", lambda: gathered(TABLE, INDEX, TABLE[:64]), TABLE[:64] + TABLE[INDEX[:, 0]])


@nki.jit
def rounded_once(*parts):
    out = nl.ndarray(parts[0].shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)
    nisa.dma_compute(dst=out, srcs=list(parts), reduce_op=nl.add)
    return out


ONES = np.ones((128, 4), np.float32)
check("a sum of three is rounded once", lambda: rounded_once(256 * ONES, ONES, ONES), 258 * ONES)
check("a sum of two is rounded once", lambda: rounded_once(257 * ONES, ONES), 258 * ONES)


@nki.jit
def some_gathered(table, index, x, y):
    out = nl.ndarray((64, 32), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    rows = table.ap(pattern=[[32, 64], [1, 32]], offset=0, vector_offset=loaded(index), indirect_dim=0)
    nisa.dma_compute(dst=out, srcs=[rows, x, y], reduce_op=nl.add, oob_mode=nisa.oob_mode.skip)
    return out


HERE = np.where(np.arange(64) % 3, np.arange(64), 1 << 20).astype(np.int32)[:, None]
check("a row that is skipped adds nothing",
      lambda: some_gathered(np.ones((100, 32), np.float32), HERE, np.ones((64, 32), np.float32),
                            2 * np.ones((64, 32), np.float32)),
      np.where(HERE < 100, 4, 3) * np.ones((64, 32)))


# ---- a view of another type that a number moves: its rows are those of the tensor
@nki.jit
def halves(table, index, scalar):
    i, pattern = loaded(index), [[8, 64], [1, 8]]
    moved = {"scalar_offset": i[0:1, 0:1]} if scalar else {"vector_offset": i}
    return stored(loaded(table.ap(pattern=pattern, offset=0, indirect_dim=0, dtype=nl.uint16, **moved), (64, 8)))


WORDS = rng.standard_normal((100, 4)).astype(np.float32)
for SCALAR in (False, True):
    check(f"rows of half the type, scalar {SCALAR}",
          lambda: halves(WORDS, 7 + np.arange(64, dtype=np.int32)[:, None], SCALAR), WORDS[7:71].view(np.uint16))


@nki.jit
def line(x, at):
    out = nl.ndarray((1024, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out.reshape((4, 256)), src=nl.zeros((4, 256), dtype=x.dtype, buffer=nl.sbuf))
    nisa.dma_copy(dst=out.ap(pattern=[[1, 256]], scalar_offset=loaded(at), indirect_dim=0), src=loaded(x))
    return out


LINE = np.arange(1, 257, dtype=np.int32)[None]
for AT in (0, 7, 768):
    check(f"a line of HBM from {AT} on", lambda: line(LINE, np.array([[AT]], np.int32)).ravel()[AT:AT + 256], LINE[0])
try:
    line(LINE, np.array([[769]], np.int32))
    FAILED.append("a line that ends outside of its tensor is written")
except Exception as error:  # noqa: BLE001
    if "769" not in str(error):
        FAILED.append(f"the place that a line does not have: {error}")


# ---- the language of SDK 2.26
@older.jit
def by_steps(x, dtype):
    out = onl.ndarray(x.shape, dtype=dtype, buffer=onl.shared_hbm)
    for at in onl.affine_range(0, stop=512, step=128):
        onl.store(out[at:at + 128, 0:8], onl.load(x[at:at + 128, 0:8]))
    for _ in onl.sequential_range(512, step=128):
        pass
    return out


TALL = rng.standard_normal((512, 8)).astype(np.float32)
for TYPE in (np.float32, np.dtype(np.float32), onl.float32, "float32"):
    check(f"ranges by name, the type {TYPE!r}", lambda: by_steps(TALL, TYPE), TALL)
try:
    list(onl.affine_range(0, 4, steps=2))
    FAILED.append("affine_range takes steps=")
except TypeError:
    pass


@older.jit
def own_number(x):
    out = onl.ndarray((2, 1), dtype=onl.int32, buffer=onl.shared_hbm)
    i = onl.program_id(0)
    onl.store(out[onl.ds(i, 1), 0:1], oisa.iota(i, dtype=onl.int32).reshape((1, 1)))
    return out


check("iota of a program's number", lambda: own_number[2](X), [[0], [1]])

@older.jit
def turned(a, b):
    out = onl.ndarray((a.shape[1], b.shape[1]), dtype=onl.float32, buffer=onl.shared_hbm)
    onl.store(out, onl.copy(oisa.nc_matmul(onl.load(a), onl.load(b), is_transpose=True)))
    return out


# Before NeuronCore-v3 `is_transpose` is a name for the profiler: the product is that of both operands. From then on
# an identity that moves turns the other operand bit by bit.
A, B, HOLED = X[:128, :8], rng.standard_normal((128, 128)).astype(np.float32), X[:128, :8].copy()
HOLED[3, 5] = np.nan
for MACHINE in ("trn1.2xlarge", "trn2.3xlarge"):
    _jit.settings.machine = MACHINE
    check(f"is_transpose of a product on {MACHINE}", lambda: turned(A, B), A.T @ B, 1e-5)
    check(f"is_transpose by the identity on {MACHINE}", lambda: turned(A, np.eye(128, dtype=np.float32)), A.T)
check("a transpose keeps its NaN", lambda: np.nan_to_num(turned(HOLED, np.eye(128, dtype=np.float32)), nan=7.0),
      np.nan_to_num(HOLED, nan=7.0).T)

# ---- around kernels
@older.jit
def many(x):
    out = onl.ndarray(x.shape, dtype=x.dtype, buffer=onl.shared_hbm)
    for i in onl.affine_range(64):
        tile = onl.ndarray((128, 8), dtype=x.dtype, buffer=onl.sbuf)
        oisa.dma_copy(dst=tile, src=x[128 * i:128 * (i + 1), 0:8], dge_mode=oisa.dge_mode.hwdge)
        onl.store(out[128 * i:128 * (i + 1), 0:8], tile)
    return out


LONG = rng.standard_normal((8192, 8)).astype(np.float32)
logging.disable(logging.OFF)
HEARD = io.StringIO()
with contextlib.redirect_stdout(HEARD):
    TIMED = older.benchmark(warmup=1, iters=2, additional_compile_opt="--disable-dge")(many)
    TIMED(LONG)
    WITH = older.benchmark(many)
    WITH(LONG)
if HEARD.getvalue().count("many: latency on the NeuronCore") != 2:
    FAILED.append(f"benchmark prints {HEARD.getvalue()!r}")
if TIMED.benchmark_result.times["seconds"] == WITH.benchmark_result.times["seconds"]:
    FAILED.append("--disable-dge changes nothing")
try:
    older.benchmark(iterations=3)
    FAILED.append("benchmark takes iterations=")
except TypeError:
    pass


class JaxArray:
    """As far as a call sees an array of JAX, or the ShapeDtypeStruct of one."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __array__(self, dtype=None, copy=None):
        return self.array


def summed(x, y, out, times):
    rows = onl.ds(onl.program_id(0) * 64, 64)
    onl.store(out[rows], (onl.load(x[rows]) + onl.load(y[rows])) * times)


@older.jit
def both(x, low, high):
    onl.store(low, onl.minimum(onl.load(x), 0.0))
    onl.store(high, onl.maximum(onl.load(x), 0.0))


XJ, YJ = JaxArray(X), JaxArray(Y)
check("nki_call", lambda: nki_call(functools.partial(summed, times=2.0), XJ, YJ, grid=(2,), out_shape=XJ), 2 * (X + Y))
check("nki_call with several results", lambda: nki_call(both, XJ, out_shape=(XJ, YJ)),
      [np.minimum(X, 0), np.maximum(X, 0)])


# ---- a kernel that is given with its grid
@older.jit
def by_two(x):
    out, n = onl.ndarray(x.shape, x.dtype, buffer=onl.shared_hbm), x.shape[0] // onl.num_programs(0)
    rows = onl.ds(onl.program_id(0) * n, n)
    onl.store(out[rows], onl.load(x[rows]) * 2.0)
    return out


_jit.settings.report = lambda *_: None
check("a timed kernel keeps its grid", lambda: [older.benchmark(warmup=1, iters=1)(by_two[2])(X),
                                                older.benchmark(by_two[(onl.nc(2),)])(X)], [2 * X, 2 * X])
_jit.settings.report = None


# ---- versions, which harnesses write down and compare
def numbers(package):
    return [int(n) for n in package.__version__.split("+")[0].split(".")]


check("versions", lambda: [len(numbers(p)) for p in (neuronxcc, nki, torch_xla)], [3, 3, 3])


# ---- tiles of no elements, on which there is no work
@older.jit
def grown(x):
    """Each prefix doubles, the first one of no columns, and rows and columns of none are loaded and stored."""
    out, tile = onl.ndarray(x.shape, x.dtype, buffer=onl.shared_hbm), onl.load(x)
    for columns in range(x.shape[1]):
        tile[:, :columns] = onl.add(tile[:, :columns], tile[:, :columns])
    onl.store(out, tile)
    onl.store(out[:, 3:3], onl.exp(onl.load(x[:, 3:3])))
    onl.store(out[5:5], onl.load(x[5:5]))
    row, column = onl.arange(128)[:, None], onl.arange(0)[None, :]
    onl.store(out[row, column], onl.load(x[row, column]))
    onl.ndarray((1, 0), onl.float32)
    return out


@nki.jit
def of_none(x):
    tile = nl.zeros((x.shape[0], 4, 0), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile.reshape((x.shape[0], 0)), src=x)
    return stored(tile.reshape((x.shape[0], 0)))


check("prefixes from none on", lambda: grown(X), X * 2.0 ** np.arange(7, -1, -1))
@older.jit
def over_none(x):
    out, tile = onl.ndarray((2, 128, 1), x.dtype, buffer=onl.shared_hbm), onl.load(x)
    onl.store(out[0], onl.sum(tile[:, 3:3], axis=[1]))
    onl.store(out[1], onl.prod(tile[:, 3:3], axis=[1]))
    return out


@nki.jit
def doubled_in_parts(x):
    """Tiles of two sizes, three of which fill a partition."""
    out, begin = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm), 0
    for size in (14336, 2048, 14336):
        a, b, c = (nl.ndarray((128, size), x.dtype, buffer=nl.sbuf) for _ in range(3))
        nisa.dma_copy(a, x[:, begin:begin + size])
        nisa.dma_copy(b, x[:, begin:begin + size])
        nisa.tensor_tensor(c, a, b, op=nl.add)
        nisa.dma_copy(out[:, begin:begin + size], c)
        begin += size
    return out


WIDE = np.tile(np.arange(30720, dtype=np.float32), (128, 1))
check("tiles of two sizes that fill SBUF", lambda: doubled_in_parts(WIDE), 2 * WIDE)
check("sums and products over none", lambda: over_none(X), np.repeat([[[0.0]], [[1.0]]], 128, 1))
refused("the largest of none", lambda: nki.jit(lambda x: nisa.tensor_reduce(
    dst=loaded(x)[:, 0:1], op=nl.maximum, data=loaded(x)[:, 3:3], axis=1))(X), "max over no elements")
refused("the eight largest of none", lambda: nki.jit(lambda x: nisa.max8(
    dst=loaded(x)[:, 0:8], src=loaded(x)[:, 3:3]))(X), "max8 over no elements")
refused("statistics of none", lambda: nki.jit(lambda x: nisa.bn_stats(
    dst=loaded(x)[:, 0:6], data=loaded(x)[:, 3:3]))(X), "bn_stats over no elements")
check("an argument of no elements", lambda: of_none(X[:, :0]), X[:, :0])
check("its warnings and instructions", lambda: [len(of_none.compile(X[:, :0]).warnings),
                                                of_none.compile(X[:, :0]).time()["instructions"]], [0, 0])


# ---- operands that an instruction does not take
def tile(shape=(128, 8), dtype=nl.float32, buffer=nl.sbuf):
    return nl.ones(shape, dtype=dtype, buffer=buffer)


def calls(name, *words, function=None, **arguments):
    """A call of a kernel's own is refused; what makes the arguments runs in the kernel."""
    def kernel(x):
        getattr(nisa, function)(**{key: make() for key, make in arguments.items()})
    refused(name, lambda: nki.jit(kernel)(X), *words)


calls("a gather of PSUM", "GpSimdE", function="nc_n_gather", dst=tile, data=lambda: tile(buffer=nl.psum),
      indices=lambda: tile(dtype=nl.uint32))
calls("a local gather of PSUM", "GpSimdE", function="local_gather", dst=lambda: tile((128, 16)),
      src_buffer=lambda: tile(buffer=nl.psum), index=lambda: tile((128, 1), nl.uint16))
calls("partitions of PSUM summed", "GpSimdE", function="tensor_partition_reduce", dst=lambda: tile((1, 8)), op=lambda: nl.add,
      data=lambda: tile(buffer=nl.psum))
calls("a gather of three elements for an index", "1, 2, 4, 8, 16 or 32", function="local_gather",
      dst=lambda: tile((128, 16, 3)), src_buffer=tile, index=lambda: tile((128, 1), nl.uint16), num_elem_per_idx=lambda: 3)
calls("a gather of -1 elements", "-1 elements", function="local_gather", dst=lambda: tile((128, 16)), src_buffer=tile,
      index=lambda: tile((128, 1), nl.uint16), num_elem_per_idx=lambda: -1)
calls("a range of whole numbers", "range_select of int32", function="range_select", dst=tile, comp_op0=lambda: nl.less,
      on_true_tile=lambda: tile(dtype=nl.int32), comp_op1=lambda: nl.less, bound0=lambda: tile((128, 1)),
      bound1=lambda: tile((128, 1)))
CHOICE = {"dst": tile, "predicate": lambda: tile(dtype=nl.uint8), "on_true": tile, "on_false": lambda: 1.0}
refused("a choice between two tiles", lambda: older.jit(lambda x: oisa.select_reduce(
    dst=onl.load(x), predicate=onl.load(x, dtype=np.uint8), on_true=onl.load(x), on_false=onl.load(x)))(X), "on_false has 8 elements")
calls("a whole maximum", "reduce_res is int32", function="select_reduce", **CHOICE,
      reduce_res=lambda: tile((128, 1), nl.int32))
calls("an accumulation that is a text", "accumulate is 'x', not True or False", function="nc_matmul", stationary=tile,
      dst=lambda: tile((8, 8), buffer=nl.psum), moving=tile, accumulate=lambda: "x")
calls("a pattern of numbers", "nisa.iota: its arguments do not match", function="iota", dst=tile, pattern=lambda: [1, 8])
calls("axes that are a number", "nisa.dma_transpose: its arguments do not match", function="dma_transpose", dst=tile, src=tile,
      axes=lambda: 3)
calls("a scale that is None", "nisa.activation: its arguments do not match", function="activation", dst=tile, op=lambda: nl.exp,
      data=tile, scale=lambda: None)
calls("a shuffle to three axes", "nisa.nc_stream_shuffle: its arguments do not match", function="nc_stream_shuffle",
      dst=lambda: tile((32, 2, 4)), src=lambda: tile((32, 8)), shuffle_mask=lambda: list(range(32)))
refused("an index that is written to", lambda: older.jit(lambda x: onl.atomic_rmw(
    onl.arange(8)[None, :], onl.load(x), np.add))(X), "dst is an index, not a tile")


@older.jit
def mean_of_all(x):
    out = onl.ndarray((128, 1), x.dtype, buffer=onl.shared_hbm)
    onl.store(out, onl.mean(onl.load(x), axis=1, mask=True, keepdims=True))
    return out


check("a mean under a mask that leaves out nothing", lambda: mean_of_all(X), X.mean(1, keepdims=True))


# ---- views of places that there are not
def views(name, view, *words):
    """A view that a kernel makes of a tile of 128 x 8, and of a tensor in HBM."""
    for where, of in (("a tile", loaded), ("HBM", lambda x: x)):
        refused(f"{name} of {where}", lambda of=of: nki.jit(lambda x: view(of(x)))(X), *words)


ONE = [[8, 1], [1, 4]]
views("an axis of rows that there is not", lambda t: t.ap(ONE, 0, scalar_offset=tile((1, 1), nl.int32), indirect_dim=2),
      "axis 2 of a tensor with 2")
views("a pattern of -4 elements", lambda t: t.ap([[8, 1], [1, -4]]), "[1, -4]]")
views("a pattern of numbers", lambda t: t.ap([8, 1]), "ap: its arguments do not match")
views("half an element on", lambda t: t.ap(ONE, 1.5), "ap: its arguments do not match")
views("an axis repeated -2 times", lambda t: t[:, 0:1].broadcast(1, -2), "-2 elements")
views("the element 2.5", lambda t: t.select(1, 2.5), "select: its arguments do not match")
views("an order with a fraction", lambda t: t.permute((0, 1.5)), "permute: its arguments do not match")
views("a shape that is a text", lambda t: t.reshape("x"), "reshape: its arguments do not match")
views("-1 elements from 2 on", lambda t: t[:, nl.ds(2, -1)], "nl.ds has -1 elements")
views("an axis that is None", lambda t: t.slice(1, 0, None), "slice: its arguments do not match")
refused("a dynamic loop to 2.5", lambda: nki.jit(lambda x: nl.fori_loop(0, 2.5, lambda i: None))(X), "2.5, which is not a whole")
ended()
