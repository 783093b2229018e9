"""Every instruction under masks, against NumPy: rectangles that begin behind the tile's first row and column."""
import sys

import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from trnsim.nki import _jit

_jit.settings.machine = "trn2.3xlarge"
rng = np.random.default_rng(3)
FAILED, COUNT = [], [0]
FIRST, ROWS, LOW, HIGH = 64, 100, 5, 40  # the partitions and columns that the mask leaves
P, F, E = nl.arange(128)[:, None], nl.arange(64)[None, :], nl.arange(8)[None, :]
LEFT = (P >= FIRST) & (P < ROWS) & (F >= LOW) & (F < HIGH)
ROW, COLUMN = np.arange(128)[:, None], np.arange(64)[None, :]


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


X, Y, C = f32(128, 64), f32(128, 64), f32(128, 1)
ORDER = rng.integers(0, 64, (128, 64)).astype(np.uint32)
BEST = np.argsort(-X, axis=1)[:, :8]


def check(name, body, want, *arrays, most=1e-5):
    """`body` makes of loaded tiles a tile whose values are those of `want`."""
    COUNT[0] += 1

    @nki.jit
    def kernel(*tensors):
        result = body(*[nl.load(t) for t in tensors])
        out = nl.ndarray(result.shape, result.dtype, buffer=nl.shared_hbm)
        nl.store(out, result)
        return out
    try:
        got = np.asarray(kernel(*arrays), np.float64)
        if got.shape != want.shape or not np.allclose(got, want, rtol=most, atol=most):
            FAILED.append(f"{name}: {np.argwhere(~np.isclose(got, want, most, most))[:3].tolist()} differ")
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")


def within(name, function, value, *arrays):
    """function(mask, *tiles) is `value` where the mask leaves elements; others stay 9."""
    def body(*tiles):
        out = nl.full((128, 64), 9.0, dtype=nl.float32)
        out[P, F] = function(LEFT, *tiles)
        return out
    want = np.full((128, 64), 9.0)
    want[FIRST:ROWS, LOW:HIGH] = np.broadcast_to(value, want.shape)[FIRST:ROWS, LOW:HIGH]
    check(name, body, want, *arrays)


within("iota", lambda m, x: nisa.iota(3 * P + F, dtype=nl.float32, mask=m), 3 * ROW + COLUMN, X)
within("affine_select", lambda m, x: nisa.affine_select(pred=P >= 2 * F, on_true_tile=x, on_false_value=0.5, mask=m),
       np.where(ROW >= 2 * COLUMN, X, 0.5), X)
within("affine_select of equal indices",
       lambda m, x: nisa.affine_select(pred=P == 2 * F + 1, on_true_tile=x, on_false_value=0.5, mask=m),
       np.where(ROW == 2 * COLUMN + 1, X, 0.5), X)
within("gather", lambda m, x, i: nl.gather_flattened(x, i, mask=m), np.take_along_axis(X, ORDER.astype(int), 1), X, ORDER)
within("tensor_scalar", lambda m, x, c: nisa.tensor_scalar(x, np.add, c, op1=np.multiply, operand1=2.0, mask=m),
       (X + C) * 2, X, C)
within("activation", lambda m, x, c: nisa.activation(np.exp, x, bias=c, scale=c, mask=m), np.exp(X * C + C), X, C)
within("scalar_tensor_tensor", lambda m, x, y, c: nisa.scalar_tensor_tensor(
    data=x, op0=np.add, operand0=c, op1=np.multiply, operand1=y, mask=m), (X + C) * Y, X, Y, C)
within("where", lambda m, x, y: nl.where(x > 0, y, 2.0, mask=m), np.where(X > 0, Y, 2), X, Y)
within("floor", lambda m, x: nl.floor(x, mask=m), np.floor(X), X)
within("memset", lambda m, x: nisa.memset((128, 64), 4.0, nl.float32, mask=m), 4.0, X)


def ranged(m, x):
    low, high = nl.full((128, 1), 10.0, dtype=nl.float32), nl.full((128, 1), 30.0, dtype=nl.float32)
    return nisa.range_select(on_true_tile=x, comp_op0=np.greater_equal, comp_op1=np.less, bound0=low, bound1=high, mask=m)


within("range_select", ranged, np.where((COLUMN >= 10) & (COLUMN < 30), X, np.finfo(np.float32).min), X)


# ---- results of another shape: the partitions from FIRST on
def upper(name, function, value, *arrays):
    def body(*tiles):
        out = nl.zeros((128, 8), dtype=nl.float32)
        out[FIRST:128] = nl.copy(function(P >= FIRST, *tiles)[FIRST:128])
        return out
    check(name, body, np.where(np.arange(128)[:, None] >= FIRST, value, 0), *arrays)


upper("max8", lambda m, x: nisa.max8(src=x, mask=m), np.take_along_axis(X, BEST, 1), X)
upper("nc_find_index8", lambda m, x: nisa.nc_find_index8(data=x, vals=nisa.max8(src=x), mask=m), BEST, X)


def replaced(x):
    out = nl.copy(x)
    out[P, F] = nisa.nc_match_replace8(data=x, vals=nisa.max8(src=x), imm=5.0, mask=P >= FIRST)
    return out


REPLACED = X.copy()
np.put_along_axis(REPLACED[FIRST:], BEST[FIRST:], 5.0, 1)
check("nc_match_replace8", replaced, REPLACED, X)


def shuffled(x):
    out = nl.full((128, 64), 9.0, dtype=nl.float32)
    nisa.nc_stream_shuffle(src=x, dst=out, shuffle_mask=[31 - i for i in range(32)],
                           mask=(P >= 10) & (P < 70) & (F < 20))
    return out


TURNED = X.reshape(4, 32, 64)[:, ::-1].reshape(128, 64)
check("nc_stream_shuffle", shuffled, np.where((ROW >= 10) & (ROW < 70) & (COLUMN < 20), TURNED, 9), X)


def transposed(x):
    out = nl.zeros((64, 128), dtype=nl.float32)
    out[32:64, 64:128] = nl.copy(nisa.nc_transpose(x, mask=(P >= 64) & (F >= 32))[32:64, 64:128])
    return out


check("nc_transpose", transposed, np.where((ROW >= 64) & (COLUMN >= 32), X, 0).T, X)


def summed(x):
    out = nl.zeros((1, 64), dtype=nl.float32)
    out[:, 0:20] = nl.copy(nisa.tensor_partition_reduce(np.add, x, mask=(P >= 64) & (F < 20))[:, 0:20])
    return out


check("tensor_partition_reduce", summed, np.where(COLUMN < 20, X[64:].sum(0, keepdims=True), 0), X)
CUBE = f32(32, 6, 8)
I, J, K = nl.mgrid[0:32, 0:6, 0:8]
A, B, D = np.ogrid[:32, :6, :8]
SOME, WHERE = (I < 20) & (J >= 2) & (K > 3), (A < 20) & (B >= 2) & (D > 3)


def counted(x):
    out = nl.full((32, 6, 8), 9.0, dtype=nl.float32)
    out[I, J, K] = nisa.iota(100 * I + 10 * J + K, dtype=nl.float32, mask=SOME)
    return out


def selected(x):
    out = nl.full((32, 6, 8), 9.0, dtype=nl.float32)
    out[I, J, K] = nisa.affine_select(pred=I > 2 * J + K, on_true_tile=x, on_false_value=-1.0, mask=SOME)
    return out


check("iota of three axes", counted, np.where(WHERE, 100 * A + 10 * B + D, 9), CUBE)
check("affine_select of three axes", selected, np.where(WHERE, np.where(A > 2 * B + D, CUBE, -1), 9), CUBE)

# ---- a comparison of indices as an operand
INSIDE = (ROW >= FIRST) & (ROW < ROWS) & (COLUMN >= LOW) & (COLUMN < HIGH)
check("where of a mask", lambda x, y: nl.where(LEFT, x, y), np.where(INSIDE, X, Y), X, Y)
check("where of a triangle", lambda x: nl.where(P - 3 >= F, x, -1.0), np.where(ROW - 3 >= COLUMN, X, -1), X)
check("where of a mask under a mask", lambda x: nl.where(P < 9, x, 0.5, mask=F < 64), np.where(ROW < 9, X, 0.5), X)


# ---- DMA
@nki.jit
def moved(x):
    out = nl.zeros((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    turned = nl.zeros((64, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out[P, F], src=x[P, F], mask=LEFT)
    rows = nisa.dma_transpose(x[P, F], mask=P < 50)
    nl.store(turned[:, 0:50], rows[:, 0:50])
    return out, turned


HALF = X.astype(nl.bfloat16)
OUT, BACK = (np.asarray(a, np.float32) for a in moved(HALF))
INSIDE = (ROW >= FIRST) & (ROW < ROWS) & (COLUMN >= LOW) & (COLUMN < HIGH)
COUNT[0] += 2
if not np.array_equal(OUT, np.where(INSIDE, HALF.astype(np.float32), 0)):
    FAILED.append("dma_copy between tensors in HBM moves another part")
if not np.array_equal(BACK, np.where(ROW < 50, HALF.astype(np.float32), 0).T):
    FAILED.append("dma_transpose moves another part")


# ---- windows over a border
def pooled(x, size, stride, border):
    """The largest of each window of pictures whose border is masked, as pooling kernels write it."""
    n = (x.shape[1] + 2 * border - size) // stride + 1
    c, i, j, a, b = nl.mgrid[0:16, 0:n, 0:n, 0:size, 0:size]
    row, column = stride * i - border + a, stride * j - border + b
    return nl.max(x[c, row, column], axis=[3, 4],
                  mask=(row >= 0) & (column >= 0) & (row < x.shape[1]) & (column < x.shape[2]))


PICTURES = f32(16, 9, 9)
for size, stride, border in ((3, 2, 1), (4, 2, 1), (3, 1, 1), (5, 3, 2), (2, 2, 0)):
    full = np.pad(PICTURES, ((0, 0), (border,) * 2, (border,) * 2), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(full, (size, size), axis=(1, 2))[:, ::stride, ::stride]
    check(f"windows of {size} by {stride}, border {border}", lambda x, s=(size, stride, border): pooled(x, *s),
          windows.max((3, 4)), PICTURES)
check("", lambda x: nl.max(x[nl.arange(16)[:, None, None], nl.arange(9)[None, :, None] - 1, nl.arange(9)[None, None, :]],
                           axis=[2]), np.zeros((16, 9)), PICTURES)
if "out of bounds" not in FAILED.pop():
    FAILED.append("a window over a border without a mask is read")


# ---- a product whose mask leaves nothing
@nki.jit
def some(a, n):
    total = nl.zeros((64, 64), dtype=nl.float32, buffer=nl.psum)
    x = nl.load(a)
    for i in nl.affine_range(3):
        total += nisa.nc_matmul(x, x, mask=i < n)
    out = nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
    nl.store(out, total)
    return out


for n in range(4):
    COUNT[0] += 1
    compiled = some.compile(X, n)
    if compiled.warnings or compiled.time()["instructions"] != some.compile(X, 3).time()["instructions"] - (3 - n):
        FAILED.append(f"{n} of 3 products are more than their instructions: {compiled.warnings}")
print(COUNT[0], "checks")
if FAILED:
    sys.exit("\n".join(FAILED))
