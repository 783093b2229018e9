"""Every instruction against NumPy, written from the documentation of SDK 2.26: duplicates, zeros, negative numbers, Inf and
NaN among the inputs."""
import sys
import warnings

import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
FAILED, COUNT = [], [0]
F32, I32, U32, U16, U8 = np.float32, np.int32, np.uint32, np.uint16, np.uint8
P, N = 32, 48


def close(name, got, want, most=0.0):
    """Equal, NaN at the same places; with `most` relative to the value and to the largest one."""
    COUNT[0] += 1
    got, want = np.asarray(got), np.asarray(want)
    a, b = got.astype(np.float64), want.astype(np.float64)
    size = float(np.abs(b[np.isfinite(b)]).max(initial=1e-30))
    if a.shape != b.shape or not np.allclose(a, b, rtol=most, atol=most * size, equal_nan=True):
        at = np.argwhere(~np.isclose(a, b, rtol=most, atol=most * size, equal_nan=True))[:3] if a.shape == b.shape else ""
        FAILED.append(f"{name}: at {list(map(tuple, at))} {[got[tuple(i)] for i in at]} is not {[want[tuple(i)] for i in at]}"
                      if len(at) else f"{name}: {got.shape} is not {want.shape}")


def run(op, *arrays):
    """The result of a kernel that loads its arguments and stores the result of `op`."""
    @nki.jit
    def kernel(*tensors):
        made = op(*[nl.load(t) for t in tensors])
        outs = []
        for r in made if isinstance(made, tuple) else (made,):
            out = nl.ndarray(r.shape, r.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.copy(r))
            outs.append(out)
        return tuple(outs) if isinstance(made, tuple) else outs[0]
    return kernel(*arrays)


def check(name, op, want, *arrays, most=0.0):
    try:
        got = run(op, *arrays)
    except Exception as error:  # noqa: BLE001
        COUNT[0] += 1
        FAILED.append(f"{name}: {type(error).__name__}: {error}")
        return
    wanted = want(*arrays) if callable(want) else want
    for i, (g, w) in enumerate(zip(got, wanted) if isinstance(got, tuple) else [(got, wanted)]):
        close(f"{name} [{i}]" if isinstance(got, tuple) else name, g, w, most)


def hard(nan=True, inf=True):
    """Numbers with duplicates, zeros of both signs, large, small and negative ones."""
    x = np.round(rng.standard_normal((P, N)) * 4) / 2
    x.flat[::7], x.flat[3::11], x.flat[5::13] = 0.0, -0.0, -1.5
    x[1, :8], x[2, 4], x[3, 5] = 2.0, 3e38, 1e-30
    if inf:
        x[4, 6], x[5, 7] = np.inf, -np.inf
    if nan:
        x[6, 8] = np.nan
    return x.astype(F32)


X, Y, TAME, TAME2 = hard(), np.roll(hard(), 5), hard(False, False), np.roll(hard(False, False), 3)
COLUMN = (np.arange(P)[:, None] - 7).astype(F32) / 2
WHOLE = rng.integers(-2**31, 2**31 - 1, (P, N)).astype(I32)
WHOLE[:, :6] = [0, -1, 1, 2**31 - 1, -2**31, 2**24 + 1]
OTHER = np.roll(WHOLE, 9)
SHIFT = rng.integers(0, 31, (P, N)).astype(I32)
BYTES = rng.integers(0, 2, (P, N)).astype(U8)
LOGICAL = {nl.logical_and: np.logical_and, nl.logical_or: np.logical_or, nl.logical_xor: np.logical_xor}
COMPARE = {nl.equal: np.equal, nl.not_equal: np.not_equal, nl.greater: np.greater, nl.greater_equal: np.greater_equal,
           nl.less: np.less, nl.less_equal: np.less_equal}
MATHS = {nl.add: np.add, nl.subtract: np.subtract, nl.multiply: np.multiply}
ORDER = {nl.maximum: np.maximum, nl.minimum: np.minimum}
BITWISE = {nl.bitwise_and: np.bitwise_and, nl.bitwise_or: np.bitwise_or, nl.bitwise_xor: np.bitwise_xor}

# ---- tensor_tensor, tensor_scalar
for op, want in (MATHS | COMPARE | LOGICAL).items():
    name = op.__name__
    check(f"tensor_tensor {name}", lambda x, y, o=op: nisa.tensor_tensor(x, y, o), lambda x, y, w=want: w(x, y).astype(F32), X, Y)
    check(f"tensor_scalar {name}", lambda x, o=op: nisa.tensor_scalar(x, o, -1.5), lambda x, w=want: w(x, F32(-1.5)).astype(F32), X)
    check(f"tensor_scalar {name} of a column", lambda x, c, o=op: nisa.tensor_scalar(x, o, c, reverse0=True),
          lambda x, c, w=want: w(c, x).astype(F32), X, COLUMN)
for op, want in ORDER.items():
    check(f"tensor_tensor {op.__name__}", lambda x, y, o=op: nisa.tensor_tensor(x, y, o), want, hard(False), np.roll(hard(False), 5))
    check(f"tensor_scalar {op.__name__}", lambda x, o=op: nisa.tensor_scalar(x, o, 0.5), lambda x, w=want: w(x, F32(0.5)), hard(False))
for op, want in BITWISE.items():
    check(f"tensor_tensor {op.__name__}", lambda x, y, o=op: nisa.tensor_tensor(x, y, o), want, WHOLE, OTHER)
    check(f"tensor_scalar {op.__name__}", lambda x, o=op: nisa.tensor_scalar(x, o, 0x7FFFFFF1), lambda x, w=want: w(x, I32(0x7FFFFFF1)), WHOLE)
LOGICAL_RIGHT = lambda x, s: (x.view(U32) >> s.astype(U32)).view(I32)  # noqa: E731
check("tensor_tensor shifts left", lambda x, s: nisa.tensor_tensor(x, s, nl.left_shift), np.left_shift, WHOLE, SHIFT)
check("tensor_tensor shifts right without the sign", lambda x, s: nisa.tensor_tensor(x, s, nl.right_shift), LOGICAL_RIGHT, WHOLE, SHIFT)
check("tensor_scalar shifts right without the sign", lambda x: nisa.tensor_scalar(x, nl.right_shift, 3),
      lambda x: LOGICAL_RIGHT(x, np.full_like(x, 3)), WHOLE)
check("tensor_scalar inverts", lambda x: nisa.tensor_scalar(x, nl.invert, 0), np.invert, WHOLE)
for op, want in {nl.add: np.add, nl.subtract: np.subtract, nl.multiply: np.multiply}.items():
    if op is not nl.subtract:  # 32 bits whole: GpSimdE adds and multiplies
        check(f"tensor_tensor {op.__name__} of whole numbers", lambda x, y, o=op: nisa.tensor_tensor(x, y, o), want, WHOLE, OTHER)
check("tensor_scalar of two operations", lambda x, c: nisa.tensor_scalar(x, nl.subtract, c, True, nl.multiply, -2.0),
      lambda x, c: (c - x) * F32(-2), X, COLUMN)
check("tensor_scalar reverses the second", lambda x: nisa.tensor_scalar(x, nl.multiply, 2.0, False, nl.subtract, 1.0, True),
      lambda x: F32(1) - x * F32(2), X)
check("tensor_scalar abs", lambda x: nisa.tensor_scalar(x, nl.abs, 0.0), np.abs, X)
check("tensor_scalar logical_not", lambda x: nisa.tensor_scalar(x, nl.logical_not, 0.0), lambda x: (x == 0).astype(F32), X)
check("tensor_scalar rsqrt", lambda x: nisa.tensor_scalar(x, nl.rsqrt, 0.0), lambda x: 1 / np.sqrt(x), np.abs(TAME) + 0.5, most=1e-6)
check("tensor_tensor power", lambda x, y: nisa.tensor_tensor(x, y, nl.power), np.power, np.abs(TAME2) + 0.5, np.clip(TAME, -3, 3), most=1e-5)
check("scalar_tensor_tensor", lambda x, y, c: nisa.scalar_tensor_tensor(data=x, op0=nl.subtract, operand0=c, op1=nl.multiply,
      operand1=y, reverse0=True), lambda x, y, c: (c - x) * y, X, Y, COLUMN)
check("scalar_tensor_tensor reverses the second", lambda x, y: nisa.scalar_tensor_tensor(
    data=x, op0=nl.multiply, operand0=3.0, op1=nl.subtract, operand1=y, reverse1=True), lambda x, y: y - x * F32(3), X, Y)


# ---- scans and reductions
def scan(op0, op1, a, b, h):
    out = np.zeros_like(a)
    for t in range(a.shape[1]):
        h = out[:, t] = op1(op0(a[:, t], h), b[:, t])
    return out


SIGNS = np.where(rng.random((P, N)) < 0.5, -1, 1).astype(F32)
check("tensor_tensor_scan", lambda a, b, c: nisa.tensor_tensor_scan(a, b, c, nl.multiply, nl.add),
      lambda a, b, c: scan(np.multiply, np.add, a, b, c[:, 0]), SIGNS, np.clip(X, -100, np.inf), COLUMN)
check("tensor_tensor_scan of subtract", lambda a, b: nisa.tensor_tensor_scan(a, b, 1.0, nl.subtract, nl.maximum),
      lambda a, b: scan(np.subtract, np.maximum, a, b, np.ones(P, F32)), np.clip(TAME, -9, 9), np.clip(TAME2, -9, 9))
check("tensor_tensor_scan reversed", lambda a, b: nisa.tensor_tensor_scan(a, b, 1.0, nl.subtract, nl.subtract, True, True),
      lambda a, b: scan(lambda x, h: h - x, lambda x, y: y - x, a, b, np.ones(P, F32)), np.clip(TAME, -9, 9), np.clip(TAME2, -9, 9))
CUBE = np.clip(np.round(rng.standard_normal((P, 6, 8)) * 4), -8, 8).astype(F32)
CUBE[2, 3, 4], CUBE[3, 0, 0] = np.inf, -np.inf
for op, want in {nl.add: np.add, nl.subtract: np.subtract, nl.maximum: np.maximum, nl.minimum: np.minimum}.items():
    check(f"tensor_reduce {op.__name__}", lambda x, o=op: nisa.tensor_reduce(o, x, axis=[1, 2]),
          lambda x, w=want: w.reduce(x.reshape(P, -1), axis=1)[:, None], CUBE)
    check(f"tensor_reduce {op.__name__} of the last axis", lambda x, o=op: nisa.tensor_reduce(o, x, axis=[2]),
          lambda x, w=want: w.reduce(x, axis=2), CUBE)
check("tensor_reduce multiply", lambda x: nisa.tensor_reduce(nl.multiply, x, axis=[1]), lambda x: x.prod(axis=1)[:, None], SIGNS * 2)
check("tensor_reduce with NaN", lambda x: nisa.tensor_reduce(nl.add, x, axis=[1]), lambda x: x.sum(axis=1)[:, None],
      np.where(np.abs(X) > 1e6, X * 0, X), most=1e-6)
check("tensor_reduce negates", lambda x: nisa.tensor_reduce(nl.maximum, x, axis=[1], negate=True), lambda x: -x.max(axis=1)[:, None], hard(False))
for op, want in BITWISE.items():
    check(f"tensor_reduce {op.__name__}", lambda x, o=op: nisa.tensor_reduce(o, x, axis=[1]),
          lambda x, w=want: w.reduce(x, axis=1)[:, None], WHOLE)


def with_result(op, dtype=F32):
    """`op(reduce_res, tiles...)` and its second result."""
    def both(*tiles):
        res = nl.ndarray((P, 1), dtype, buffer=nl.sbuf)
        return op(res, *tiles), res
    return both


for op, want in {nl.add: np.add, nl.subtract: np.subtract, nl.maximum: np.maximum, nl.minimum: np.minimum}.items():
    check(f"tensor_scalar_reduce {op.__name__}", with_result(lambda r, x, o=op: nisa.tensor_scalar_reduce(
        data=x, op0=nl.subtract, operand0=1.0, reduce_op=o, reduce_res=r, reverse0=True)),
        lambda x, w=want: (1 - x, w.reduce(1 - x, axis=1)[:, None]), CUBE.reshape(P, N))
check("tensor_partition_reduce", lambda x: nisa.tensor_partition_reduce(nl.add, x), lambda x: x.sum(axis=0, keepdims=True), CUBE.reshape(P, N))
check("tensor_partition_reduce maximum", lambda x: nisa.tensor_partition_reduce(nl.maximum, x), lambda x: x.max(axis=0, keepdims=True), hard(False))
check("reciprocal", lambda x: nisa.reciprocal(x), lambda x: 1 / x, np.where(np.abs(X) < 1e-20, F32(0), X), most=1e-6)
check("bn_stats, bn_aggr", lambda x: nisa.bn_aggr(nisa.bn_stats(x)), lambda x: np.stack([x.mean(axis=1), x.var(axis=1)], axis=1), np.clip(TAME, -9, 9), most=1e-6)


def cumulative(x, c):
    out, h = np.zeros_like(x), np.zeros(len(x), F32)
    for t in range(x.shape[1]):
        h = out[:, t] = (x[:, t] * c[:, 0]) + h
    return out


check("tensor_scalar_cumulative", lambda x, c: nisa.tensor_scalar_cumulative(src=x, op0=nl.multiply, op1=nl.add, imm0=c),
      cumulative, CUBE.reshape(P, N), np.abs(COLUMN) + 1)

# ---- ScalarE
GOOD = np.clip(TAME, -3, 3)
ERF = np.vectorize(__import__("math").erf)
SIGMOID = lambda x: 1 / (1 + np.exp(-x.astype(np.float64)))  # noqa: E731
FUNCTIONS = {nl.copy: lambda x: x, nl.square: np.square, nl.exp: np.exp, nl.tanh: np.tanh, nl.sigmoid: SIGMOID, nl.sign: np.sign,
             nl.relu: lambda x: np.maximum(x, 0), nl.abs: np.abs, nl.silu: lambda x: x * SIGMOID(x), nl.sin: np.sin, nl.erf: ERF,
             nl.arctan: np.arctan, nl.softplus: lambda x: np.log1p(np.exp(x)), nl.mish: lambda x: x * np.tanh(np.log1p(np.exp(x))),
             nl.gelu: lambda x: 0.5 * x * (1 + ERF(x / np.sqrt(2)))}
for op, want in FUNCTIONS.items():
    check(f"activation {op.__name__}", lambda x, o=op: nisa.activation(o, x), want, GOOD, most=2e-6)
for op, want in {nl.sqrt: np.sqrt, nl.rsqrt: lambda x: 1 / np.sqrt(x), nl.log: np.log}.items():
    check(f"activation {op.__name__}", lambda x, o=op: nisa.activation(o, x), want, np.abs(GOOD) + 0.25, most=2e-6)
check("activation scales by a column and adds one", lambda x, s, b: nisa.activation(nl.relu, x, bias=b, scale=s),
      lambda x, s, b: np.maximum(x * s + b, 0), GOOD, COLUMN, np.flip(COLUMN, 0))
check("activation passes Inf and NaN", lambda x: nisa.activation(nl.square, x), np.square, X)
check("exp of Inf", lambda x: nisa.activation(nl.exp, x), np.exp, np.array([[np.inf, -np.inf, 0, -0.0, 200, -200, np.nan, 1]] * P, F32), most=1e-6)
check("activation_reduce", with_result(lambda r, x: nisa.activation_reduce(nl.square, x, reduce_op=nl.add, reduce_res=r)),
      lambda x: (x * x, (x * x).sum(axis=1)[:, None]), CUBE.reshape(P, N))


def accumulated(x, y):
    res = nl.ndarray((P, 1), F32, buffer=nl.sbuf)
    nisa.activation(nl.copy, x, reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reset_reduce)
    last = nisa.activation(nl.copy, y, reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=res)
    read = nl.ndarray((P, 1), F32, buffer=nl.sbuf)
    nisa.activation(nl.square, y, reduce_res=read)  # no operation, no command: the registers as they are
    return last, res, read


check("activation accumulates", accumulated, lambda x, y: (y, *[(x.sum(axis=1) + y.sum(axis=1))[:, None]] * 2), SIGNS, GOOD, most=1e-6)

# ---- copies and types
BIG = np.array([[1e39, -1e39, 70000, -70000, 500, -500, 2.5, 3.5, -2.5, 65504, np.inf, np.nan]] * P, np.float64).astype(F32)
for dtype in (nl.bfloat16, nl.float16):
    check(f"tensor_copy to {np.dtype(dtype).name}", lambda x, d=dtype: nisa.tensor_copy(x, dtype=d, engine=nisa.vector_engine),
          lambda x, d=dtype: x.astype(d), BIG)
check("fp8 that overflows is Inf", lambda x: nl.copy(nisa.tensor_copy(x, dtype=nl.float8_e5m2), dtype=F32),
      np.array([[np.inf, -np.inf, 0, 1.5, -2]] * P, F32), np.array([[1e6, -1e6, 0, 1.5, -2]] * P, F32))
check("fp8 e4m3 that overflows is Inf", lambda x: nl.copy(nisa.tensor_copy(x, dtype=nl.float8_e4m3), dtype=F32),
      np.array([[np.inf, -np.inf, 240, 0, -1.5]] * P, F32), np.array([[1e4, -1e4, 240, 0, -1.5]] * P, F32))
for engine in (nisa.vector_engine, nisa.gpsimd_engine):
    check(f"tensor_copy of whole numbers on {engine.name}", lambda x, e=engine: nisa.tensor_copy(x, engine=e), lambda x: x, WHOLE)
THROUGH = rng.integers(-2**30, 2**30, (P, N)).astype(I32)
THROUGH[0, :4] = [2**24 + 1, -2**24 - 1, 0, -1]
check("tensor_copy of whole numbers on ScalarE goes through fp32", lambda x: nisa.tensor_copy(x, engine=nisa.scalar_engine),
      lambda x: x.astype(F32).astype(I32), THROUGH)
check("tensor_copy to whole numbers", lambda x: nisa.tensor_copy(x, dtype=I32, engine=nisa.vector_engine), lambda x: np.rint(x), GOOD)


def into(op):
    """`op(dst, tiles...)` on a copy of the first tile."""
    def result(first, *tiles):
        dst = nl.copy(first)
        op(dst, *tiles)
        return dst
    return result


for reverse in (False, True):
    check(f"tensor_copy_predicated, reversed {reverse}", into(lambda d, x, p, r=reverse: nisa.tensor_copy_predicated(
        src=x, dst=d, predicate=p, reverse_pred=r)), lambda d, x, p, r=reverse: np.where((p == 0) == r, x, d), Y, X, BYTES)
    check(f"select_reduce, reversed {reverse}", lambda d, x, p, r=reverse: (lambda out: (nisa.select_reduce(
        dst=out, predicate=p, on_true=x, on_false=-7.0, reverse_pred=r), out)[1])(nl.copy(d)),
        lambda d, x, p, r=reverse: np.where((p == 0) == r, x, F32(-7)), Y, X, BYTES)


def selected_twice(x, y, p):
    res, a, b = (nl.ndarray(s, F32, buffer=nl.sbuf) for s in ((P, 1), (P, N), (P, N)))
    nisa.select_reduce(dst=a, predicate=p, on_true=x, on_false=-9.0, reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_res=res)
    nisa.select_reduce(dst=b, predicate=p, on_true=y, on_false=-9.0, reduce_cmd=nisa.reduce_cmd.reduce, reduce_res=res)
    return a, b, res


check("select_reduce accumulates", selected_twice, lambda x, y, p: (
    np.where(p, x, F32(-9)), np.where(p, y, F32(-9)),
    np.maximum(np.where(p, x, F32(-9)), np.where(p, y, F32(-9))).max(axis=1)[:, None]), TAME, TAME2, BYTES)
ORDER32 = [int(i) for i in rng.permutation(32)]
check("nc_stream_shuffle", into(lambda d, x: nisa.nc_stream_shuffle(src=x, dst=d, shuffle_mask=ORDER32)), lambda d, x: x[ORDER32], Y, X)
check("memset", lambda x: nisa.memset((P, 5), -3.25, F32), np.full((P, 5), -3.25), X)
check("iota", lambda x: nisa.iota(-5 - 3 * nl.arange(P)[:, None] + 2 * nl.arange(10)[None, :], dtype=I32),
      -5 - 3 * np.arange(P)[:, None] + 2 * np.arange(10)[None, :], X)
check("affine_select", lambda x: nisa.affine_select(pred=nl.arange(N)[None, :] - nl.arange(P)[:, None] >= 1, on_true_tile=x,
      on_false_value=-9.0), lambda x: np.where(np.arange(N)[None] - np.arange(P)[:, None] >= 1, x, F32(-9)), X)

# ---- TensorE, transposes
SMALL = np.round(rng.standard_normal((P, 24)) * 3).astype(F32)
check("nc_matmul", lambda x, y: nisa.nc_matmul(x, y), lambda x, y: x.T @ y, SMALL, CUBE.reshape(P, N) * (np.abs(CUBE.reshape(P, N)) < 99))
WEIRD = SMALL.copy()
WEIRD[3, 5], WEIRD[4, 6], WEIRD[7, 7] = np.nan, np.inf, -np.inf
check("nc_matmul of Inf and NaN", lambda x, y: nisa.nc_matmul(x, y), lambda x, y: x.T @ y, WEIRD, SMALL)


def batched(tiles, zeros_and_ones=False):
    @nki.jit
    def kernel(g, h):
        out = nl.ndarray((8, 64, 512), F32, buffer=nl.shared_hbm)
        a = [nl.load(g[i]) for i in range(8)]
        b = [nl.load(h[i]) for i in range(8)]
        for i in nl.affine_range(8):
            where = {"tile_position": ((i % 2) * 64, (i // 2 % 2) * 64), "tile_size": (64, 64)} if tiles else {}
            nl.store(out[i], nl.copy(nisa.nc_matmul(a[i], b[i], is_stationary_onezero=zeros_and_ones, **where)))
        return out
    return kernel


G, H = (rng.integers(0, 2, (8, 64, 64)).astype(F32), np.round(rng.standard_normal((8, 64, 512)) * 4).astype(F32))
for tiles, bits in ((False, False), (True, False), (False, True)):
    close(f"nc_matmul, PE tiles {tiles}, zeros and ones {bits}", batched(tiles, bits)(G, H), np.einsum("bkm,bkn->bmn", G, H))
BUSY = {key: batched(*key).compile(G, H).time()["engines"]["tensor"]["busy"] for key in ((False, False), (True, False), (False, True))}
COUNT[0] += 2
if not BUSY[True, False] < 0.7 * BUSY[False, False]:
    FAILED.append(f"PE tiles of 64 x 64 do not run side by side: {BUSY}")
if not BUSY[False, True] < 0.6 * BUSY[False, False]:
    FAILED.append(f"zeros and ones in fp32 take as many passes: {BUSY}")
check("nc_transpose on TensorE multiplies by the identity", lambda x: nisa.nc_transpose(x, engine=nisa.tensor_engine),
      lambda x: x.T @ np.eye(P, dtype=F32), WEIRD)
check("nc_transpose on VectorE passes all", lambda x: nisa.nc_transpose(x, engine=nisa.vector_engine), np.transpose, WEIRD)


def moved(shape, axes):
    x = rng.standard_normal(shape).astype(F32)
    x.flat[3], x.flat[5], x.flat[7] = np.nan, np.inf, -0.0

    @nki.jit
    def kernel(t):
        tile = nisa.dma_transpose(t)
        out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out
    close(f"dma_transpose of {len(shape)} axes", kernel(x), x.transpose(axes))


for shape, axes in (((24, 16), (1, 0)), ((8, 5, 16), (2, 1, 0)), ((8, 3, 5, 16), (3, 1, 2, 0))):
    try:
        moved(shape, axes)
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"dma_transpose of {shape}: {error}")

# ---- search and gather
TIES = np.round(rng.standard_normal((P, N)) * 2).astype(F32)
TIES[0, :], TIES[1, 7], TIES[2, 9], TIES[3, 1:3] = -1.0, np.inf, -np.inf, 50.0
TOP = lambda x: -np.sort(-x, axis=1)[:, :8]  # noqa: E731


def places(x, v):
    """The first place of each value, the next one for one that comes again."""
    out = np.zeros((len(x), 8), U32)
    for p in range(len(x)):
        seen = {}
        for j, value in enumerate(v[p]):
            found = np.flatnonzero(x[p] == value)
            out[p, j] = found[seen.get(value, 0)]
            seen[value] = seen.get(value, 0) + 1
    return out


def replaced(x, v, imm):
    out, at = x.copy(), np.zeros((len(x), 8), U32)
    for p in range(len(x)):
        for j in reversed(range(8)):  # equal values: the last of them is the first that is found
            at[p, j] = np.flatnonzero(out[p] == v[p, j])[0]
            out[p, at[p, j]] = imm
    return out, at


def replace(x):
    at = nl.ndarray((P, 8), U32, buffer=nl.sbuf)
    return nisa.nc_match_replace8(data=x, vals=nisa.max8(src=x), imm=-99.0, dst_idx=at), at


check("max8 with duplicates", lambda x: nisa.max8(src=x), TOP, TIES)
check("nc_find_index8 with duplicates", lambda x: nisa.nc_find_index8(data=x, vals=nisa.max8(src=x)), lambda x: places(x, TOP(x)), TIES)
check("nc_match_replace8 with duplicates", replace, lambda x: replaced(x, TOP(x), F32(-99)), TIES)
INDEX = rng.integers(0, N, (P, 4)).astype(U16)
INDEX[:16, 0] = [0, N - 1] * 8


def local(x, index, each):
    out = np.zeros((P, index.shape[1] * 16, each), F32)
    for core in range(P // 16):
        part = slice(core * 16, core * 16 + 16)
        out[part] = np.take(x.reshape(P, -1, each)[part], index[part].flatten(order="F"), axis=1)
    return out if each > 1 else out[:, :, 0]


check("local_gather", lambda x, i: nisa.local_gather(x, i), lambda x, i: local(x, i, 1), X, INDEX)
PAIRS = np.stack([X, Y], axis=2)
check("local_gather of two elements", lambda x, i: nisa.local_gather(x, nl.multiply(i, 2, dtype=U16), 2).reshape((P, 128)),
      lambda x, i: local(x, i, 2).reshape(P, 128), PAIRS.reshape(P, 2 * N), INDEX)
FLAT = rng.integers(0, N, (P, 20)).astype(U32)
check("nc_n_gather", lambda x, i: nisa.nc_n_gather(x, i), lambda x, i: np.take_along_axis(x, i.astype(int), axis=1), X, FLAT)
IDS = np.array([[3, 3, 0, 5, 5, 5, 0, 0, 2, 7]], F32)


def bounds(ids):
    n = ids.shape[1]
    out = np.zeros((len(ids), 2, n))
    for p in range(len(ids)):
        for i in range(n):
            low = high = i
            while low > 0 and ids[p, low - 1] == ids[p, i]:
                low -= 1
            while high < n and ids[p, high] == ids[p, i]:
                high += 1
            out[p, :, i] = (n, -1) if ids[p, i] == 0 else (low, high)
    return out


check("sequence_bounds", lambda x: nisa.sequence_bounds(segment_ids=x), bounds, IDS)

# ---- dropout and random numbers
for p, want in ((0.0, lambda x: x), (1.0, np.zeros_like)):
    check(f"dropout of {p}", lambda x, q=p: nisa.dropout(x, q), want, TAME)
HALF = (np.arange(P)[:, None] % 2).astype(F32)
check("dropout of a probability per partition", lambda x, q: nisa.dropout(x, q), lambda x, q: np.where(q == 1, F32(0), x), TAME, HALF)


def seeded(x):
    nisa.set_rng_seed(seed=5)
    a = nl.rand((P, N))
    nisa.set_rng_seed(seed=5)
    b = nl.rand((P, N))
    return nl.subtract(nisa.tensor_reduce(nl.maximum, a, axis=[1]), nisa.tensor_reduce(nl.maximum, b, axis=[1]))


check("a seed gives its numbers again", seeded, np.zeros((P, 1)), X)


# ---- DMA and dynamic offsets
def scattered(add, rows, name, want):
    @nki.jit
    def kernel(x, y, index):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        tile, at = nl.load(y), nl.load(index)
        i_p, i_f = nl.mgrid[0:P, 0:N]
        nisa.dma_copy(dst=out[at[i_p, 0], i_f], src=tile[i_p, i_f], dst_rmw_op=np.add if add else None,
                      oob_mode=nisa.oob_mode.error if add else nisa.oob_mode.skip)
        return out
    try:
        close(name, kernel(TAME, TAME2, rows[:, None]), want)
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {error}")


ROWS = rng.permutation(P).astype(I32)
want = TAME.copy()
want[ROWS] += TAME2
scattered(True, ROWS, "dma_copy adds to rows", want)
LOST = ROWS.copy()
LOST[3], LOST[9] = P + 5, -1  # there are no such rows
want = TAME.copy()
want[LOST[(LOST >= 0) & (LOST < P)]] = TAME2[(LOST >= 0) & (LOST < P)]
scattered(False, LOST, "dma_copy skips rows that are not there", want)


@nki.jit
def placed(x, offsets):
    out = nl.ndarray((P, N), x.dtype, buffer=nl.shared_hbm)
    tile, at, result = nl.load(x), nl.load(offsets), nl.zeros((P, N), x.dtype)
    i_p, i_f = nl.mgrid[0:P, 0:8]
    for j in nl.affine_range(3):
        nisa.tensor_copy_dynamic_dst(dst=result[i_p, at[0, j] + i_f], src=nisa.tensor_copy_dynamic_src(tile[i_p, at[0, j] + i_f]))
    nl.store(out, result)
    return out


AT = np.array([[0, N - 8, 17]], I32)
want = np.zeros_like(X)
for a in AT[0]:
    want[:, a:a + 8] = X[:, a:a + 8]
try:
    close("tensor_copy_dynamic_src and _dst", placed(X, AT), want)
except Exception as error:  # noqa: BLE001
    FAILED.append(f"tensor_copy_dynamic: {error}")
print(COUNT[0], "checks")
if FAILED:
    sys.exit("\n".join(FAILED))
