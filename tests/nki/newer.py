"""The newer dialect (`import nki`) against NumPy: instructions with dst first, views, dynamic access, loops."""
import sys
import warnings

import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl
import nki.typing as nt
from trnsim.nki import _jit

warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
FAILED, COUNT = [], [0]
P, N = 64, 96


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def check(name, body, want, *arrays, most=1e-6):
    """`body(out, *tensors)` writes the tensor `out` in HBM, of the shape and type of what is wanted."""
    wanted = np.asarray(want(*arrays) if callable(want) else want)

    @nki.jit
    def kernel(*tensors):
        out = nl.ndarray(wanted.shape, dtype=wanted.dtype, buffer=nl.shared_hbm)
        body(out, *tensors)
        return out
    COUNT[0] += 1
    try:
        got = kernel(*arrays)
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")
        return
    a, b = np.asarray(got, np.float64), wanted.astype(np.float64)
    size = float(np.abs(b[np.isfinite(b)]).max(initial=1e-30))
    if a.shape != b.shape or not np.allclose(a, b, rtol=most, atol=most * size, equal_nan=True):
        FAILED.append(f"{name}: {a.ravel()[:4]} is not {b.ravel()[:4]}")


def loaded(tensor, shape=None):
    out = nl.ndarray(shape or tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=out, src=tensor)
    return out


def unary(call, shape=None, dtype=np.float32):
    """Loads, calls with a destination, stores."""
    def body(out, *tensors):
        tiles = [loaded(t) for t in tensors]
        made = nl.ndarray(shape or out.shape, dtype=dtype, buffer=nl.sbuf)
        call(made, *tiles)
        nisa.dma_copy(dst=out, src=made)
    return body


X, Y, C = f32(P, N), f32(P, N), f32(P, 1)
def _scan(x, y):
    out, state = np.zeros_like(x), np.zeros(len(x), np.float32)
    for i in range(x.shape[1]):
        out[:, i] = state = x[:, i] * state + y[:, i]
    return out


def _eight(x):
    out = nl.ndarray((x.shape[0], 8), dtype=nl.float32)
    nisa.max8(out, x)
    return out


def _positive(x):
    out = nl.ndarray(x.shape, dtype=nl.uint8)
    nisa.tensor_scalar(out, x, nl.greater, 0.0)
    return out


def _moments(d, x):
    stats = nl.ndarray((x.shape[0], 6), dtype=nl.float32)
    nisa.bn_stats(stats, x)
    nisa.bn_aggr(d, stats)


def _store(out, fill):
    tile = nl.ndarray(out.shape, dtype=out.dtype)
    fill(tile)
    nisa.dma_copy(dst=out, src=tile)


def _copied(out, view):
    tile = nl.ndarray(view.shape, dtype=out.dtype)
    nisa.dma_copy(tile, view)
    nisa.dma_copy(out, tile)


def _placed(d, x):
    t = nl.ndarray((P, N), dtype=nl.float32, address=(0, 4096), buffer=nl.sbuf)
    nisa.tensor_copy(t, x)
    nisa.tensor_copy(d, t)


# ---- arithmetic
check("tensor_tensor", unary(lambda d, x, y: nisa.tensor_tensor(dst=d, data1=x, data2=y, op=nl.add)), np.add, X, Y)
check("tensor_tensor in place", unary(lambda d, x, y: (nisa.tensor_copy(d, x), nisa.tensor_tensor(d, d, y, nl.multiply))),
      np.multiply, X, Y)
check("tensor_scalar", unary(lambda d, x, c: nisa.tensor_scalar(d, x, op0=nl.subtract, operand0=c, op1=nl.multiply,
                                                                operand1=2.0)), lambda x, c: (x - c) * 2, X, C)
check("tensor_scalar reversed", unary(lambda d, x: nisa.tensor_scalar(d, x, nl.subtract, 1.0, reverse0=True)),
      lambda x: 1 - x, X)
check("scalar_tensor_tensor", unary(lambda d, x, c, y: nisa.scalar_tensor_tensor(
    d, x, op0=nl.multiply, operand0=c, op1=nl.add, operand1=y)), lambda x, c, y: x * c + y, X, C, Y)
check("tensor_tensor_scan", unary(lambda d, x, y: nisa.tensor_tensor_scan(d, x, y, 0.0, nl.multiply, nl.add)),
      lambda x, y: _scan(x, y), X * 0.5, Y, most=1e-5)
check("tensor_reduce", unary(lambda d, x: nisa.tensor_reduce(d, nl.add, x, axis=1), (P, 1)),
      lambda x: x.sum(1, keepdims=True), X, most=1e-5)
check("tensor_reduce negated", unary(lambda d, x: nisa.tensor_reduce(d, nl.maximum, x, axis=(1,), negate=True), (P, 1)),
      lambda x: -x.max(1, keepdims=True), X)
check("tensor_partition_reduce", unary(lambda d, x: nisa.tensor_partition_reduce(d, nl.add, x), (1, N)),
      lambda x: x.sum(0, keepdims=True), X, most=1e-5)
check("activation", unary(lambda d, x, c: nisa.activation(d, op=nl.exp, data=x, bias=c, scale=0.5)),
      lambda x, c: np.exp(0.5 * x + c), X, C, most=1e-5)
check("reciprocal", unary(lambda d, x: nisa.reciprocal(d, x)), lambda x: 1 / x, np.abs(X) + 0.1)
check("max8", unary(lambda d, x: nisa.max8(d, x), (P, 8)), lambda x: -np.sort(-x, 1)[:, :8], X)
check("find_index8", unary(lambda d, x: nisa.nc_find_index8(d, x, _eight(x)), (P, 8), np.uint32),
      lambda x: np.argsort(-x, 1, kind="stable")[:, :8].astype(np.uint32), X)
check("select_reduce", unary(lambda d, x, y: nisa.select_reduce(d, _positive(x), x, y)),
      lambda x, y: np.where(x > 0, x, y), X, Y)
check("copy_predicated", unary(lambda d, x, y: (nisa.tensor_copy(d, y), nisa.tensor_copy_predicated(d, x, _positive(x)))),
      lambda x, y: np.where(x > 0, x, y), X, Y)
check("bn_stats", unary(lambda d, x: _moments(d, x), (P, 2)), lambda x: np.stack([x.mean(1), x.var(1)], 1), X, most=1e-5)
check("cumulative", unary(lambda d, x: nisa.tensor_scalar_cumulative(d, x, nl.multiply, nl.add, 1.0)),
      lambda x: np.cumsum(x, 1), X, most=1e-5)


def activation_sums(out, x):
    tile, sums = loaded(x), nl.ndarray((P, 1), dtype=nl.float32)
    powers = nl.ndarray((P, N), dtype=nl.float32)
    nisa.activation(powers, nl.square, tile, reduce_op=nl.add, reduce_res=sums,
                    reduce_cmd=nisa.reduce_cmd.reset_reduce)
    nisa.dma_copy(out, sums)


check("activation with sums", activation_sums, lambda x: np.square(x).sum(1, keepdims=True), X, most=1e-5)

# ---- constants and patterns
check("memset", lambda out: _store(out, lambda d: nisa.memset(d, 2.5)), np.full((P, 8), 2.5, np.float32))
check("memset of whole numbers", lambda out: _store(out, lambda d: nisa.memset(d, value=123456789)),
      np.full((P, 8), 123456789, np.int32))
check("iota", lambda out: _store(out, lambda d: nisa.iota(d, [[1, 8]], offset=5, channel_multiplier=10)),
      (5 + 10 * np.arange(P)[:, None] + np.arange(8)).astype(np.int32))
check("iota of two axes", lambda out: _store(out, lambda d: nisa.iota(d, [[100, 3], [-1, 4]], channel_multiplier=1)),
      (np.arange(P)[:, None, None] + 100 * np.arange(3)[:, None] - np.arange(4)).astype(np.int32))
check("affine_select", unary(lambda d, x: nisa.affine_select(d, pattern=[[-1, N]], channel_multiplier=1, on_true_tile=x,
                                                             on_false_value=-9.0, cmp_op=nl.greater_equal)),
      lambda x: np.where(np.arange(P)[:, None] >= np.arange(N), x, np.float32(-9)), X)


# ---- TensorE
A, B = f32(128, 64), f32(128, 80)


def product(out, a, b):
    psum = nl.ndarray((64, 80), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=psum, stationary=loaded(a), moving=loaded(b))
    nisa.tensor_copy(dst := nl.ndarray((64, 80), dtype=nl.float32), psum)
    nisa.dma_copy(out, dst)


def summed(out, a, b, accumulate=None):
    psum = nl.ndarray((64, 80), dtype=nl.float32, buffer=nl.psum)
    ta, tb = loaded(a), loaded(b)
    for i in range(4):
        nisa.nc_matmul(psum, ta[i * 32:(i + 1) * 32, :], tb[i * 32:(i + 1) * 32, :],
                       accumulate=None if accumulate is None else accumulate(i))
    nisa.tensor_copy(dst := nl.ndarray((64, 80), dtype=nl.float32), psum)
    nisa.dma_copy(out, dst)


check("nc_matmul", product, lambda a, b: a.T @ b, A, B, most=1e-5)
check("nc_matmul adds by itself", summed, lambda a, b: a.T @ b, A, B, most=1e-5)
check("nc_matmul adds when told", lambda o, a, b: summed(o, a, b, lambda i: i > 0), lambda a, b: a.T @ b, A, B, most=1e-5)
check("nc_matmul overwrites when told", lambda o, a, b: summed(o, a, b, lambda i: False),
      lambda a, b: a[96:].T @ b[96:], A, B, most=1e-5)


def transposed(out, a, buffer=nl.psum):
    t = nl.ndarray((a.shape[1], a.shape[0]), dtype=a.dtype, buffer=buffer)
    nisa.nc_transpose(dst=t, data=loaded(a))
    nisa.tensor_copy(sb := nl.ndarray(t.shape, dtype=a.dtype), t)
    nisa.dma_copy(out, sb)


check("nc_transpose", transposed, np.transpose, A)
check("nc_transpose on VectorE", lambda o, a: transposed(o, a, nl.sbuf), np.transpose, f32(32, 32))
check("stream_shuffle", unary(lambda d, x: nisa.nc_stream_shuffle(d, x, list(range(31, -1, -1)))),
      lambda x: np.concatenate([x[:32][::-1], x[32:][::-1]]), X)

# ---- views
Z = f32(32, 4, 6)
check("permute", unary(lambda d, z: nisa.tensor_copy(d, z.permute((0, 2, 1))), (32, 6, 4)),
      lambda z: z.transpose(0, 2, 1), Z)
check("reshape", unary(lambda d, z: nisa.tensor_copy(d, z.reshape((32, 24))), (32, 24)), lambda z: z.reshape(32, 24), Z)
check("reshape_dim", unary(lambda d, z: nisa.tensor_copy(d, z.reshape_dim(2, (2, -1)).permute((0, 1, 3, 2))),
                           (32, 4, 3, 2)), lambda z: z.reshape(32, 4, 2, 3).transpose(0, 1, 3, 2), Z)
check("flatten_dims", unary(lambda d, z: nisa.tensor_copy(d, z.flatten_dims(1, 2)), (32, 24)),
      lambda z: z.reshape(32, 24), Z)
check("broadcast", unary(lambda d, c: nisa.tensor_copy(d, c.expand_dim(2).broadcast(2, 5)), (P, 1, 5)),
      lambda c: np.broadcast_to(c[:, :, None], (P, 1, 5)), C)
check("slice and select", unary(lambda d, z: nisa.tensor_copy(d, z.slice(2, 1, 6, 2).select(1, 3)), (32, 3)),
      lambda z: z[:, 3, 1:6:2], Z)
check("squeeze", unary(lambda d, z: nisa.tensor_copy(d, z[:, 1:2, :].squeeze_dim(1)), (32, 6)), lambda z: z[:, 1], Z)
check("access pattern", unary(lambda d, z: nisa.tensor_copy(d, z.ap([[24, 16], [6, 4], [2, 3]], offset=1)), (16, 4, 3)),
      lambda z: z[:16, :, 1::2], Z)
check("access pattern in HBM", lambda out, z: _copied(out, z.ap([[6, 4], [24, 32], [1, 2]])),
      lambda z: z.transpose(1, 0, 2)[:, :, :2], Z)
check("view", unary(lambda d, x: nisa.tensor_copy(d, x.view(nl.int32)), (P, N), np.int32), lambda x: x.view(np.int32), X)
check("steps", unary(lambda d, x: nisa.tensor_copy(d, x[::1, 1::3]), (P, 32)), lambda x: x[:, 1::3], X)


def shapes(out, x):
    t = loaded(x)
    assert t.shape == (P, N) and t.strides == (N, 1) and t.offset == 0 and t.buffer == nl.sbuf and t.ndim == 2
    assert t[0].shape == (1, N) and t[:, 0].shape == (P, 1) and x[0].shape == (N,) and t[:, 3].offset == 3
    assert t[:, ::2].get_pattern() == [[N, P], [2, N // 2]] and t.size == P * N and t.dtype == nl.float32
    assert t.is_contiguous() and not t[:, ::2].is_contiguous() and not t.is_indirect()
    nisa.dma_copy(out, t)


def annotated(out, x: nt.tensor[P, N]):
    nisa.dma_copy(out, loaded(x))


check("shapes", shapes, lambda x: x, X)
check("annotations", annotated, lambda x: x, X)

# ---- dynamic access
ROWS = f32(256, 40)
INDEX = rng.permutation(256)[:64].astype(np.int32)[:, None]
check("gather of rows", lambda o, t, i: _copied(o, t.ap([[40, 64], [1, 40]], vector_offset=loaded(i), indirect_dim=0)),
      lambda t, i: t[i[:, 0]], ROWS, INDEX)
check("vector_select", lambda o, t, i: _copied(o, t.vector_select(0, loaded(i))), lambda t, i: t[i[:, 0]], ROWS, INDEX)
check("scalar offset", lambda o, t, i: _copied(o, t.ap([[40, 64], [1, 40]], scalar_offset=loaded(i), indirect_dim=0)),
      lambda t, i: t[i[0, 0]:i[0, 0] + 64], ROWS, np.array([[37]], np.int32))
check("dynamic select", lambda o, t, i: _copied(o, t.select(0, loaded(i))), lambda t, i: t[i[0, 0]], f32(4, 32, 8),
      np.array([[2]], np.int32))
check("dynamic select on the chip", unary(lambda d, t, i: nisa.tensor_copy(d, t.select(1, i)), (32, 8)),
      lambda t, i: t[:, i[0, 0]], f32(32, 5, 8), np.array([[3]], np.int32))


def scatter(out, x, i):
    nisa.dma_copy(dst=out.ap([[N, P], [1, N]], vector_offset=loaded(i), indirect_dim=0), src=loaded(x))


ORDER = rng.permutation(P).astype(np.int32)[:, None]
check("scatter of rows", scatter, lambda x, i: x[np.argsort(i[:, 0])], X, ORDER)


def gather_transposed(out, table, index, axes):
    """dst = table[indices].T; indices run down the columns of their tile."""
    elements = int(np.prod(table.shape[1:]))
    inner = [[int(np.prod(table.shape[d + 1:])), table.shape[d]] for d in range(1, len(table.shape))]
    rows = table.ap([[elements, index.size], *inner], vector_offset=loaded(index), indirect_dim=0)
    turned = nl.ndarray(out.shape, dtype=out.dtype)
    nisa.dma_transpose(turned, rows, axes=axes)
    nisa.dma_copy(out, turned)


_jit.settings.machine = "trn2.3xlarge"
HALF, FOUR = (f32(*s).astype(np.float16) for s in ((300, 96), (300, 2, 1, 32)))
for columns in (1, 2):
    NAMES = rng.integers(0, 300, (128, columns)).astype(np.uint32)
    check(f"transpose of {columns} x 128 gathered rows", lambda o, t, i: gather_transposed(o, t, i, (1, 0)),
          lambda t, i: t[i.T.ravel()].T, HALF, NAMES)
    check(f"transpose of {columns} x 128 gathered blocks", lambda o, t, i: gather_transposed(o, t, i, (3, 1, 2, 0)),
          lambda t, i: t[i.T.ravel()].transpose(3, 1, 2, 0), FOUR, NAMES)
_jit.settings.machine = "trn1.2xlarge"


def largest(out, x, count, places=False, first=False):
    """The largest numbers of each 16 partitions, or their places, in the layout of the input; `first`: the largest."""
    values, where = (nl.ndarray(out.shape, dtype=d) for d in (nl.bfloat16, nl.uint32))
    nisa.memset(values, 0.0)
    nisa.memset(where, 0)
    nisa.topk(values, where, loaded(x), count, *([True] if first else []))
    nisa.dma_copy(out, where if places else values)


def snakes(x, count, k, places=False, first=False):
    out = np.zeros((len(x), k), np.uint32 if places else np.float32)
    for g in range(0, len(x), 16):
        snake = np.asarray(x[g:g + 16], np.float32).T.ravel()[:count]
        order = np.argsort(snake)[-k:][::-1 if first else 1]
        j = np.arange(k)
        out[g + j % 16, j // 16] = order if places else snake[order]
    return out


for parts, count, k in ((32, 42, 8), (16, 128, 37), (128, 150, 64)):
    columns = -(-count // 16)
    EACH = np.stack([rng.permutation(16 * columns).reshape(columns, 16).T for _ in range(parts // 16)]).reshape(parts, -1)
    SMALL = EACH.astype(np.float32).astype(nl.bfloat16)
    for places, first in ((False, False), (True, False), (False, True), (True, True)):
        wanted = snakes(SMALL, count, k, places, first)
        check(f"topk {k} of {count}", lambda o, x, n=count, p=places, f=first: largest(o, x, n, p, f),
              wanted if places else wanted.astype(nl.bfloat16), SMALL)


def accumulated(out, x, y):
    a, b = loaded(x), loaded(y)
    nisa.dma_compute(a, [a, b], reduce_op=nl.add)
    nisa.dma_copy(out, a)


check("dma_compute", accumulated, np.add, X, Y)


def reduced(out, x, ranks=((0,),)):
    """Over one rank: a copy."""
    sums = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    nki.collectives.all_reduce([x], [sums], nki.collectives.ReplicaGroup(ranks), nl.add)
    nki.collectives.all_gather([sums], [out], nki.collectives.ReplicaGroup(ranks), 0)
    assert nki.collectives.rank_id() == 0


check("collectives of one rank", reduced, lambda x: x, X)


# ---- control
def registers(out, x):
    acc = nl.zeros((P, N), dtype=nl.float32)
    one, t = nisa.register_alloc(3), loaded(x)

    def body(i):
        nisa.tensor_tensor(acc, acc, t, nl.add)
    nl.fori_loop(0, one, body)
    count = nl.ndarray((1, 1), dtype=nl.int32)
    nisa.memset(count, value=2)
    reg = nisa.register_alloc()
    nisa.register_load(reg, count)
    while reg:
        nisa.tensor_tensor(acc, acc, t, nl.add)
        nisa.tensor_scalar(count, count, nl.add, -1)
        nisa.register_load(reg, count)
    for _ in nl.dynamic_range(2):
        nisa.tensor_tensor(acc, acc, t, nl.add)
    nisa.dma_copy(out, acc)


check("loops of registers", registers, lambda x: 7 * x, X, most=1e-5)


def lists(out, x):
    tiles = [loaded(x[16 * i:16 * (i + 1), :]) for i in range(4)]
    for i, t in enumerate(tiles):
        nisa.activation(t, nl.copy, t, scale=float(i))
        nisa.dma_copy(out[16 * i:16 * (i + 1), :], t)


check("lists of tiles", lists, lambda x: x * np.repeat(np.arange(4), 16)[:, None].astype(np.float32), X)
check("addresses", unary(lambda d, x: _placed(d, x)), lambda x: x, X)


# ---- language
for name, reference in {"exp": np.exp, "tanh": np.tanh, "negative": np.negative, "abs": np.abs, "square": np.square,
                        "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
                        "relu": lambda x: np.maximum(x, 0)}.items():
    check(name, lambda o, x, f=getattr(nl, name): nl.store(o, f(nl.load(x))), reference, X, most=1e-5)
for name in ("add", "subtract", "multiply", "maximum", "minimum"):
    check(name, lambda o, x, y, f=getattr(nl, name): nl.store(o, f(nl.load(x), nl.load(y))), getattr(np, name), X, Y)
check("softmax", lambda o, x: nl.store(o, nl.softmax(nl.load(x))),
      lambda x: np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True), X,
      most=1e-5)
check("var", lambda o, x: nl.store(o, nl.var(nl.load(x), axis=1, keepdims=True)), lambda x: x.var(1, keepdims=True), X,
      most=1e-5)
check("matmul", lambda o, a, b: nl.store(o, nl.copy(nl.matmul(nl.load(a), nl.load(b), transpose_x=True))),
      lambda a, b: a.T @ b, A, B, most=1e-5)
check("identity", lambda o: nl.store(o, nl.shared_identity_matrix(16, dtype=nl.float32)), np.eye(16, dtype=np.float32))
check("where", lambda o, x, y: nl.store(o, nl.where(nl.greater(nl.load(x), 0.0), nl.load(x), nl.load(y))),
      lambda x, y: np.where(x > 0, x, y), X, Y)
check("full", lambda o: nl.store(o, nl.full((8, 4), 3.0, dtype=nl.float32)), np.full((8, 4), 3, np.float32))

print(COUNT[0], "checks")
if FAILED:
    sys.exit("\n".join(FAILED))
