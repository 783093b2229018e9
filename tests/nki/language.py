"""The language against NumPy: operations, indexing, masks, types, data movement, explicit allocation, grids."""
import sys

import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt

rng = np.random.default_rng(0)
FAILED, COUNT = [], [0]


def close(name, got, want, most=2e-6):
    COUNT[0] += 1
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    size = max(float(np.abs(want[np.isfinite(want)]).max(initial=0)), 1e-30)
    if got.shape != want.shape or not np.allclose(got, want, rtol=most, atol=most * size, equal_nan=True):
        FAILED.append(f"{name}: {got.shape} {got.ravel()[:4]} is not {want.shape} {want.ravel()[:4]}")


def elementwise(op, *arrays, **kw):
    """A kernel that loads its arguments, applies `op` and stores the result."""
    @nki.jit
    def kernel(*tensors):
        result = op(*[nl.load(t) for t in tensors], **kw)
        out = nl.ndarray(result.shape, result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out
    return kernel(*arrays)


def check(name, op, reference, *arrays, most=2e-6):
    try:
        close(name, elementwise(op, *arrays), reference(*arrays), most)
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


X, Y, COLUMN, ROW = f32(128, 96), f32(128, 96), f32(128, 1), f32(1, 96)
POSITIVE = np.abs(X) + 0.1
WHOLE = rng.integers(-1000, 1000, (64, 40)).astype(np.int32)
SHIFT = rng.integers(0, 8, (64, 40)).astype(np.int32)

# ---- element by element, each broadcast
for name, numpy_op in {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
                       "maximum": np.maximum, "minimum": np.minimum}.items():
    op = getattr(nl, name)
    check(name, op, numpy_op, X, Y)
    check(name + " of a column", op, numpy_op, X, COLUMN)
    check(name + " of a row", op, numpy_op, X, ROW)
    check(name + " of a row and a column", op, numpy_op, ROW, COLUMN)
    check(name + " of a number", lambda x, o=op: o(x, 2.5), lambda x, o=numpy_op: o(x, np.float32(2.5)), X)
    check(name + " to a number", lambda x, o=op: o(2.5, x), lambda x, o=numpy_op: o(np.float32(2.5), x), POSITIVE)
check("power", nl.power, np.power, POSITIVE, Y, most=1e-5)
ZEROS, OVER = np.array([[-0.0, 0.0, 4.0]], np.float32), np.inf
check("rsqrt of zeros", nl.rsqrt, lambda x: [[-OVER, OVER, 0.5]], ZEROS)
check("reciprocal of zeros", nl.reciprocal, lambda x: [[-OVER, OVER, 0.25]], ZEROS)
check("a zero without bias", lambda x: nl.reciprocal(nisa.activation(nl.copy, x)), lambda x: [[-OVER, OVER, 0.25]], ZEROS)
check("a zero and another", lambda x: nl.reciprocal(nisa.activation(nl.copy, x, bias=0.0)),
      lambda x: [[OVER, OVER, 0.25]], ZEROS)
for name in ("sin", "tanh", "erf", "arctan"):
    check(f"{name} of zeros", lambda x, f=getattr(nl, name): nl.reciprocal(f(x[:, 0:2])), lambda x: [[-OVER, OVER]], ZEROS)
check("a zero times a number", lambda x: nl.reciprocal(nl.multiply(x, 1.0)), lambda x: [[-OVER, OVER, 0.25]], ZEROS)
check("a zero and a number", lambda x: nl.reciprocal(nl.add(x, 0.0)), lambda x: [[OVER, OVER, 0.25]], ZEROS)
check("a cast", lambda x: nl.static_cast(x, nl.int32), lambda x: np.rint(x), 10 * X)
check("a cast to bf16", lambda x: nl.static_cast(x[:, 0:1], nl.bfloat16), lambda x: x[:, 0:1], X, most=2.0 ** -8)
for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"):
    check(name, getattr(nl, name), getattr(np, name), np.round(X), np.round(Y))
for name in ("logical_and", "logical_or", "logical_xor"):
    check(name, getattr(nl, name), getattr(np, name), np.round(X), np.round(Y))
check("logical_not", nl.logical_not, np.logical_not, np.round(X))
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    check(name, getattr(nl, name), getattr(np, name), WHOLE, SHIFT)
    check(name + " of a number", lambda x, o=getattr(nl, name): o(x, 0x7F0F0F0F),
          lambda x, o=getattr(np, name): o(x, np.int32(0x7F0F0F0F)), WHOLE)
check("left_shift", nl.left_shift, np.left_shift, WHOLE, SHIFT)
check("right_shift", nl.right_shift, np.right_shift, np.abs(WHOLE), SHIFT)
check("invert", nl.invert, np.invert, WHOLE)
check("whole add", nl.add, np.add, WHOLE * 100003, SHIFT)
check("operators", lambda x, y: (x + y) * 2.0 - x / 4.0, lambda x, y: (x + y) * 2 - x / 4, X, Y)

# ---- functions
SIGMOID = lambda x: 1 / (1 + np.exp(-x.astype(np.float64)))  # noqa: E731
for name, reference in {"exp": np.exp, "tanh": np.tanh, "square": np.square, "abs": np.abs, "sign": np.sign,
                        "relu": lambda x: np.maximum(x, 0), "sigmoid": SIGMOID, "silu": lambda x: x * SIGMOID(x),
                        "sin": np.sin, "softplus": lambda x: np.log1p(np.exp(x)), "floor": np.floor, "ceil": np.ceil,
                        "arctan": np.arctan, "gelu_apprx_sigmoid": lambda x: x * SIGMOID(1.702 * x)}.items():
    check(name, getattr(nl, name), reference, np.clip(X, -3, 3), most=2e-5)
for name, reference in {"sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "log": np.log,
                        "reciprocal": lambda x: 1 / x}.items():
    check(name, getattr(nl, name), reference, POSITIVE, most=2e-5)
check("cos", nl.cos, np.cos, np.clip(X, -3, 3), most=1e-5)
check("fmod", nl.fmod, np.fmod, X * 7, np.full_like(X, 2.5), most=1e-4)
check("mod", nl.mod, np.mod, X * 7, np.full_like(X, 2.5), most=1e-4)
check("where", nl.where, lambda c, x, y: np.where(c != 0, x, y), (X > 0).astype(np.uint8), X, Y)
check("where of a number", lambda c, x: nl.where(c, x, -5.0), lambda c, x: np.where(c != 0, x, -5), (X > 0).astype(np.uint8), X)

# ---- over axes
CUBE = f32(128, 6, 8)
for name in ("sum", "max", "min", "mean", "var"):
    check(name, lambda x, o=getattr(nl, name): o(x, axis=[1]), lambda x, o=getattr(np, name): o(x, axis=1)[:, None], X, most=1e-5)
    check(name + " of two axes", lambda x, o=getattr(nl, name): o(x, axis=[1, 2]),
          lambda x, o=getattr(np, name): o(x, axis=(1, 2))[:, None], CUBE, most=1e-5)
check("sum of the last axis", lambda x: nl.sum(x, axis=[2]), lambda x: x.sum(axis=2), CUBE, most=1e-5)
check("sum that keeps its axis", lambda x: nl.sum(x, axis=[1], keepdims=True), lambda x: x.sum(axis=1, keepdims=True), X, most=1e-5)
check("prod", lambda x: nl.prod(x, axis=[1]), lambda x: x.prod(axis=1)[:, None], f32(128, 6), most=1e-5)
check("all", lambda x: nl.all(x, axis=[1]), lambda x: (x != 0).all(axis=1)[:, None], np.round(f32(128, 3)))
SOFTMAX = lambda x: np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)  # noqa: E731
check("softmax", lambda x: nl.softmax(x, axis=[1]), SOFTMAX, X, most=1e-5)
check("rms_norm", lambda x, w: nl.rms_norm(x, w, axis=[1], n=96),
      lambda x, w: x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * w, X, ROW, most=1e-5)
check("negated maximum", lambda x: nisa.tensor_reduce(np.max, x, axis=[1], negate=True), lambda x: -x.max(axis=1)[:, None], X)
check("partition_reduce", lambda x: nisa.tensor_partition_reduce(np.add, x), lambda x: x.sum(axis=0, keepdims=True), X, most=1e-5)

# ---- instructions
check("tensor_scalar", lambda x, c: nisa.tensor_scalar(x, np.subtract, c, op1=np.multiply, operand1=3.0, reverse0=True),
      lambda x, c: (c - x) * 3, X, COLUMN)
check("scalar_tensor_tensor", lambda x, y: nisa.scalar_tensor_tensor(data=x, op0=np.multiply, operand0=2.0, op1=np.subtract,
                                                                      operand1=y), lambda x, y: 2 * x - y, X, Y)


def scan(a, b):
    out, h = np.zeros_like(a), np.zeros(len(a), np.float32)
    for t in range(a.shape[1]):
        h = out[:, t] = a[:, t] * h + b[:, t]
    return out


check("scan", lambda a, b: nisa.tensor_tensor_scan(a, b, 0.0, np.multiply, np.add), scan, X, Y, most=1e-4)
check("activation", lambda x, c: nisa.activation(np.exp, x, bias=c, scale=0.5), lambda x, c: np.exp(x * 0.5 + c), X, COLUMN, most=1e-5)
check("max8", lambda x: nisa.max8(src=x), lambda x: -np.sort(-x, axis=1)[:, :8], X)
check("find_index8", lambda x: nisa.nc_find_index8(data=x, vals=nisa.max8(src=x)), lambda x: np.argsort(-x, axis=1)[:, :8], X)


def halves(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
    for begin in (0, 64):
        out[begin:begin + 64] = (x[begin:begin + 64] * 2.0 + 1.0) - 0.25
    return out


check("numbers added to the upper partitions", halves, lambda x: x * 2 + 0.75, X)
check("matmul", lambda x, y: nl.copy(nl.matmul(x, y, transpose_x=True)), lambda x, y: x.T @ y, X, Y, most=1e-5)
check("matmul that transposes", lambda x, y: nl.copy(nl.matmul(x, y)), lambda x, y: x @ y, f32(64, 96), f32(96, 32), most=1e-5)
check("transpose", nl.transpose, np.transpose, X)
check("transpose of whole numbers", lambda x: nisa.nc_transpose(x), np.transpose, WHOLE[:32, :16])
check("iota", lambda x: nisa.iota(5 + 3 * nl.arange(64)[:, None] + 2 * nl.arange(10)[None, :], dtype=nl.int32),
      lambda x: 5 + 3 * np.arange(64)[:, None] + 2 * np.arange(10)[None, :], X)
check("affine_select", lambda x: nisa.affine_select(pred=(nl.arange(96)[None, :] <= nl.arange(128)[:, None]), on_true_tile=x,
                                                    on_false_value=-9.0), lambda x: np.where(np.tri(128, 96), x, -9), X)
check("gather_flattened", nl.gather_flattened, lambda x, i: np.take_along_axis(x, i.astype(int), axis=1), X,
      rng.integers(0, 96, (128, 20)).astype(np.uint32))
check("bf16", nl.add, lambda x, y: (x.astype(np.float32) + y.astype(np.float32)), X.astype(nl.bfloat16), Y.astype(nl.bfloat16), most=1e-2)


@nki.jit
def numbers_of_numpy(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    p, f = nl.arange(128)[:, None], np.int64(2) * nl.arange(x.shape[1] // 2)[None, :]
    t = nl.load(x)
    t[p, f] = np.float32(3) - np.sqrt(4) * nl.copy(t[p, f]) / np.float64(2)
    nl.store(out, abs(np.array(2.0) * t))
    return out


EVENED = X.copy()
EVENED[:, ::2] = 3 - X[:, ::2]
close("numbers of NumPy on the left", numbers_of_numpy(X), np.abs(2 * EVENED), 1e-6)


# ---- indexing
@nki.jit
def masked_rows(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:x.shape[1]]
    for r in nl.affine_range((x.shape[0] + 127) // 128):
        inside = (r * 128 + i_p < x.shape[0])
        nl.store(out[r * 128 + i_p, i_f], nl.exp(nl.load(x[r * 128 + i_p, i_f], mask=inside), mask=inside), mask=inside)
    return out


TALL = f32(300, 64)
close("masked rows", masked_rows(TALL), np.exp(TALL), 2e-5)


@nki.jit
def masked_products(x, y):
    """Products whose masks name rows of the result, the contraction, and columns between two bounds."""
    (rows, depth), wide = x.shape, y.shape[1]
    out = nl.zeros((3, rows, wide), dtype=x.dtype, buffer=nl.shared_hbm)
    p, f, k = nl.arange(rows)[:, None], nl.arange(wide)[None, :], nl.arange(depth)[:, None]
    some, columns = p < rows - 7, (f >= 5) & (f < wide - 9)
    nl.store(out[0, p, f], nl.matmul(nl.load(x), nl.load(y), mask=some), mask=some)
    nl.store(out[1, p, f], nl.matmul(nl.load(x), nl.load(y), mask=(k >= 32) & (k < 50)))
    nl.store(out[2, p, f], nl.matmul(nl.load(x), nl.load(y), mask=columns), mask=columns)
    return out


def masked_reference(x, y):
    whole, columns = x @ y, np.arange(y.shape[1])
    return np.stack([np.where(np.arange(x.shape[0])[:, None] < x.shape[0] - 7, whole, 0), x[:, 32:50] @ y[32:50],
                     np.where((columns >= 5) & (columns < y.shape[1] - 9), whole, 0)])


LEFT, RIGHT = rng.random((100, 64)).astype(np.float32), rng.random((64, 90)).astype(np.float32)
close("masked products", masked_products(LEFT, RIGHT), masked_reference(LEFT, RIGHT), 1e-5)


@nki.jit
def summed_loop(x):
    """A sum over a loop, named by the loop; an assignment whose mask leaves nothing, and one that cannot be at once."""
    out = nl.ndarray((2, 128, x.shape[2]), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.zeros((128, x.shape[2]), dtype=x.dtype)
    p, f = nl.arange(128)[:, None], nl.arange(x.shape[2])[None, :]
    for i in nl.affine_range(x.shape[0]):
        total = nl.loop_reduce(nl.load(x[i]), op=np.add, loop_indices=[i])
    nl.store(out[0], total)
    shifted = nl.copy(total)
    shifted[p, f] = nl.exp(total[p, f], mask=f < 0)
    shifted[p, f] = nl.add(shifted[p, f.shape[1] - 1 - f], 1.0, mask=(f >= 2) & (f < 6))
    nl.store(out[1], shifted)
    return out


def summed_reference(x):
    total = x.sum(0)
    shifted = total.copy()
    shifted[:, 2:6] = total[:, ::-1][:, 2:6] + 1
    return np.stack([total, shifted])


close("sums of a loop, and parts that a mask leaves", summed_loop(TALL[:256].reshape(2, 128, -1)),
      summed_reference(TALL[:256].reshape(2, 128, -1)), 1e-6)


@nki.jit
def blocks(x):
    out = nl.ndarray((4, 128, 32), x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(128), 32), x.dtype, buffer=nl.sbuf)
    for b in nl.affine_range(4):
        tiles[b, :, :] = nl.load(x[:, nl.ds(b * 32, 32)])
    for b in nl.affine_range(4):
        tiles[b] += 1.0
        nl.store(out[b], tiles[3 - b])
    return out


WIDE = f32(128, 128)
want = np.stack([WIDE[:, b * 32:b * 32 + 32] for b in range(4)])
close("blocks", blocks(WIDE), np.stack([want[3 - b] + (1 if 3 - b <= b else 0) for b in range(4)]))


@nki.jit
def strided(x):
    out = nl.ndarray((128, 48), x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    even, odd = t[:, 0:96:2], t[nl.arange(128)[:, None], 2 * nl.arange(48)[None, :] + 1]
    nl.store(out, nl.subtract(even, odd))
    return out


close("strides", strided(X), X[:, ::2] - X[:, 1::2])


@nki.jit
def gathered(x, index):
    out = nl.ndarray((64, x.shape[1]), x.dtype, buffer=nl.shared_hbm)
    rows = nl.load(index[nl.arange(64)[:, None]])
    nl.store(out, nl.load(x[rows[nl.arange(64)[:, None], 0], nl.arange(x.shape[1])[None, :]]))
    return out


ROWS = rng.integers(0, 300, 64).astype(np.int32)
close("rows by index", gathered(TALL, ROWS), TALL[ROWS])


@nki.jit
def dynamic(x, offsets):
    out = nl.ndarray((128, 8), x.dtype, buffer=nl.shared_hbm)
    t, o, r = nl.load(x), nl.load(offsets), nl.ndarray((128, 8), x.dtype, buffer=nl.sbuf)
    i_p, i_f = nl.mgrid[0:128, 0:1]
    for i in nl.affine_range(8):
        r[i_p, i] = nisa.tensor_copy_dynamic_src(t[i_p, o[0, i] + i_f])
    nl.store(out, r)
    return out


PLACES = rng.integers(0, 96, (1, 8)).astype(np.int32)
close("dynamic offsets", dynamic(X, PLACES), X[:, PLACES[0]])


@nki.jit
def placed(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(128), 32), x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=1024, num_free_tiles=(2,)))
    for b in nl.affine_range(4):
        tiles[b] = nl.load(x[:, nl.ds(b * 32, 32)])
        nl.store(out[:, nl.ds(b * 32, 32)], nl.multiply(tiles[b], 2.0))
    return out


close("explicit allocation", placed(WIDE), 2 * WIDE)


@nki.jit
def programs(x):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    part = nl.ds(nl.program_id(0) * 64, 64)
    nl.store(out[:, part], nl.multiply(nl.load(x[:, part]), float(nl.program_id(0) + 1)))
    return out


close("a launch grid", programs[2](WIDE), WIDE * np.repeat([1, 2], 64))


@nki.jit(platform_target="trn2")
def rows(x):
    """Program n of the first axis doubles its row n times."""
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    row, column = nl.program_id(0), nl.program_id(1)
    tile = nl.load(x[row, column])
    for _ in range(row):
        tile = nl.multiply(tile, 2.0)
    nl.store(out[row, column], tile)
    return out


FOUR = np.ones((4, 2, 128, 8), np.float32)
GRIDS = [((nl.spmd_dim(nl.nc(2), 2), 2), 8 + 2 * (2 + 3)), ((nl.spmd_dim(2, nl.nc(2)), 2), 8 + 2 * (1 + 3)),
         ((2 * nl.nc(2), 2), 8 + 2 * (1 + 3)), ((4, nl.nc(2)), 8 + 1 + 2 + 3), ((4, 2), 16 + 12)]
for grid, count in GRIDS:
    name = f"a grid of {[getattr(axis, 'parts', axis) for axis in grid]}"
    on_grid = rows[grid].compile(FOUR)  # the time is that of the core with more to do
    close(name, on_grid.time()["instructions"], count)
    close(name, rows[grid](FOUR), FOUR * 2.0 ** np.arange(4).reshape(4, 1, 1, 1))
    if ("8 programs of the launch grid: one core" in repr(on_grid)) != (grid is GRIDS[-1][0]):
        FAILED.append(f"{name}: whose time is not said")


@nki.jit
def chosen(x, scale, index, wide):
    """[P, A, B] by a tile of [P, A]; one number of each index, by its place; a product of fp32 with fp16."""
    out, hits = (nl.ndarray(t.shape, nl.float32, buffer=nl.shared_hbm) for t in (x, wide))
    product = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nisa.tensor_tensor(nl.load(x), nl.load(scale), nl.multiply))
    nl.store(hits, nl.multiply(nl.equal(nl.load(index), nl.arange(wide.shape[2])[None, None, :]), nl.load(scale)))
    ones = nl.ones((128, 64), nl.float32, buffer=nl.sbuf)
    nl.store(product, nisa.nc_matmul(ones, nl.copy(nl.load(x)[:, 0, 0:64], dtype=nl.float16)))
    return out, hits, product


CUBE, SCALE = rng.standard_normal((128, 3, 80)).astype(np.float32), rng.standard_normal((128, 3)).astype(np.float32)
PLACES = rng.integers(0, 9, (128, 3)).astype(np.int32)
CHOSEN = chosen(CUBE, SCALE, PLACES, np.zeros((128, 3, 9), np.float32))
close("a tile of fewer axes", CHOSEN[0], CUBE * SCALE[:, :, None])
close("a comparison with an index", CHOSEN[1], (PLACES[:, :, None] == np.arange(9)) * SCALE[:, :, None])
close("fp32 times fp16", CHOSEN[2], np.tile(CUBE[:, 0, :64].astype(np.float16).astype(np.float32).sum(0), (64, 1)), 1e-4)


@nki.jit
def written(x, y):
    nl.store(y, nl.add(nl.load(x), 1.0))


target = np.zeros_like(X)
nki.simulate_kernel(written, X, target)
close("an argument that is written", target, X + 1)
timed = nki.benchmark(warmup=1, iters=2)(masked_rows)
timed(nt.tensor[[300, 64], nl.float32])
if not 17 < timed.benchmark_result.nc_latency.get_latency_percentile(99) < 100:
    FAILED.append("benchmark: no latency")
whole = timed.benchmark_result.full_results["latency"]  # with the runtime around the program
around = whole["50"] - timed.benchmark_result.nc_latency.get_latency_percentile(50)
if abs(around - 40) > 1e-6 or whole["99"] < whole["0"]:
    FAILED.append(f"benchmark: neuron-bench's latency is {whole}")
compiled = masked_rows.compile(TALL)
if "masked_rows" not in compiled._repr_html_() or "HBM 0.08 MB read" not in repr(compiled):
    FAILED.append("a compiled kernel has no short form")
print(COUNT[0], "checks")
if FAILED:
    sys.exit("\n".join(FAILED))
