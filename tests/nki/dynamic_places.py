"""Places that only the run knows: copies by access patterns with steps, operands of other instructions, DMA, numbers in
any partition, registers whose value is known, in both dialects; sums over loops, which begin anew where these do."""
import numpy as np
import neuronxcc.nki as older
import neuronxcc.nki.isa as oisa
import neuronxcc.nki.language as onl
import nki
import nki.isa as nisa
import nki.language as nl
from trnsim.nki import _jit

import checks
from checks import loaded, refused, stored

_jit.settings.machine = "trn2.3xlarge"
rng = np.random.default_rng(21)


def check(name, got, want, most=0.0):
    checks.check(name, got, want, most)


def of_place(body, shape=None):
    """A kernel of a tile and a number in SBUF; `body` returns a tile, or writes one of `shape`."""
    @nki.jit
    def kernel(a, at):
        t, s = loaded(a), loaded(at)
        if shape is None:
            return stored(body(t, s))
        g = nl.ndarray(shape, dtype=a.dtype, buffer=nl.sbuf)
        body(g, t, s)
        return stored(g)
    return kernel


A = np.arange(128 * 5 * 8, dtype=np.float32).reshape(128, 5, 8)
TWO, THREE = np.array([[2]], np.int32), np.array([[3]], np.int32)


# ---- a copy follows the steps of its pattern
def copied(view):
    return lambda g, t, s: nisa.tensor_copy(dst=g, src=view(t, s))


def pattern(*free, offset=0, dim=2):
    return lambda t, s: t.ap(pattern=[[40, 128], *free], offset=offset, scalar_offset=s, indirect_dim=dim)


LAST = np.stack([A[:, 1, 6], A[:, 1, 5], A[:, 1, 4]], axis=1)
for NAME, VIEW, WANT in (
        ("one axis", pattern([8, 5]), A[:, :, 2]),
        ("two axes", pattern([8, 5], [1, 3]), A[:, :, 2:5]),
        ("two axes with gaps", pattern([16, 2], [3, 2], offset=8), A[:, 1:4:2, 2:6:3]),
        ("a step of 2", pattern([2, 3]), A[:, 0, 2:8:2]),
        ("a negative step", pattern([-1, 3], offset=12), LAST),
        ("a negative step below the tile", pattern([-1, 2]), A[:, 0, 2:0:-1]),
        ("a step of 0", pattern([0, 3], [1, 2], dim=1), np.broadcast_to(A[:, 2, None, :2], (128, 3, 2))),
        ("steps of 0 alone", pattern([0, 3], offset=1), np.broadcast_to(A[:, 0, 3, None], (128, 3))),
        ("an outer axis", pattern([8, 2], [1, 8], dim=1), A[:, 2:4]),
        ("select of the last axis", lambda t, s: t.select(2, s), A[:, :, 2]),
        ("select of a middle axis", lambda t, s: t.select(1, s), A[:, 2]),
        ("select of a slice", lambda t, s: t[:, 1:5:2, :].select(2, s), A[:, 1:5:2, 2]),
        ("select of permuted axes", lambda t, s: t.permute((0, 2, 1)).select(2, s), A[:, 2])):
    check(f"a copy from {NAME}", lambda: of_place(copied(VIEW), WANT.shape)(A, TWO), WANT)


def written(view, value, dtype=np.float32):
    def body(t, s):
        x = nl.ndarray(value.shape, dtype=dtype, buffer=nl.sbuf)
        nisa.iota(dst=x, pattern=[[1, value[0].size]], offset=500, channel_multiplier=value[0].size)
        nisa.tensor_copy(dst=view(t, s), src=x)
        return t
    return of_place(body)


for NAME, VIEW, PLACE in (("one axis", pattern([8, 5]), np.s_[:, :, 2]),
                          ("two axes", pattern([8, 5], [1, 3]), np.s_[:, :, 2:5]),
                          ("select", lambda t, s: t.select(2, s), np.s_[:, :, 2]),
                          ("select of a middle axis", lambda t, s: t.select(1, s), np.s_[:, 2])):
    WANT = A.copy()
    VALUE = WANT[PLACE]
    WANT[PLACE] = 500 + np.arange(VALUE.size).reshape(VALUE.shape)
    check(f"a copy to {NAME}", lambda: written(VIEW, VALUE)(A, TWO), WANT)
    check(f"a copy of int32 to {NAME}", lambda: written(VIEW, VALUE, np.int32)(A, TWO), WANT)


def psum_copy(t, s):
    p = nl.ndarray((128, 5, 8), dtype=nl.float32, buffer=nl.psum)
    g = nl.ndarray((128, 5), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=p, src=t)
    nisa.tensor_copy(dst=g, src=p.select(2, s))
    return g


def seconds(view):
    return of_place(copied(view), (128, 5)).compile(A, TWO).time()["seconds"]


check("a copy with steps takes as long as one without", lambda: [seconds(pattern([8, 5], dim=2))],
      [seconds(pattern([1, 5], dim=2))])

HALVES, WORDS = A.astype(onl.bfloat16), rng.integers(-2**31, 2**31, A.shape).astype(np.int32)
check("a copy of bfloat16", lambda: of_place(copied(pattern([8, 5])), (128, 5))(HALVES, TWO), HALVES[:, :, 2])
check("a copy of int32", lambda: of_place(copied(pattern([8, 5])), (128, 5))(WORDS, TWO), WORDS[:, :, 2])


def to_halves(t, s):
    g = nl.ndarray((128, 5), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.tensor_copy(dst=g, src=t.select(2, s), engine=nisa.engine.scalar)
    return g


check("a copy that converts", lambda: of_place(to_halves)(A, TWO), A[:, :, 2].astype(onl.bfloat16))
check("a copy to other axes", lambda: of_place(copied(pattern([8, 5], [1, 3])), (128, 15))(A, TWO),
      A[:, :, 2:5].reshape(128, 15))
check("a copy to every other element", lambda: of_place(
    lambda g, t, s: (nisa.memset(g, 0.0), nisa.tensor_copy(dst=g[:, 0:10:2], src=t.select(2, s))), (128, 10))(A, TWO),
    np.stack([A[:, :, 2], 0 * A[:, :, 2]], axis=2).reshape(128, 10))
check("a copy from PSUM", lambda: of_place(psum_copy)(A, TWO), A[:, :, 2])
NINE = np.array([[9]], np.int32)
refused("a place outside of the tile", lambda: of_place(copied(pattern([8, 5])), (128, 5))(A, NINE), "index 9")


refused("a copy of fewer elements", lambda: of_place(
    lambda t, s: nisa.tensor_copy(dst=t.select(1, s), src=t[:, 0, 0:4]))(A, TWO), "(128, 4) is copied to (128, 8)")
BELOW = copied(lambda t, s: t.select(2, nisa.register_alloc(-1)))
refused("a register below 0", lambda: of_place(BELOW, (128, 5))(A, TWO), "holds -1")


# ---- the older dialect
@older.jit
def three_axes(q, off):
    out = onl.ndarray((128, 2, 8), dtype=q.dtype, buffer=onl.shared_hbm)
    buf, o = onl.load(q), onl.load(off)
    d, h, s = onl.mgrid[:128, :2, :8]
    onl.store(out, oisa.tensor_copy_dynamic_src(buf[d, h, s + o[0, 0]]))
    return out


@older.jit
def some_rows(q, off):
    """Every other element, under a mask, written back one axis further."""
    out = onl.ndarray(q.shape, dtype=q.dtype, buffer=onl.shared_hbm)
    buf, o = onl.load(q), onl.load(off)
    to = onl.zeros(q.shape, dtype=q.dtype)
    d, h, s = onl.mgrid[:128, :2, :4]
    part = oisa.tensor_copy_dynamic_src(buf[d, h, 2 * s + o[0, 0]], mask=(s < 3) & (d < 100))
    oisa.tensor_copy_dynamic_dst(dst=to[d, h, 3 * s + o[0, 1]], src=part, mask=(s < 3) & (d < 100))
    onl.store(out, to)
    return out


@older.jit
def middle(q, off):
    out = onl.ndarray((128, 1, 16), dtype=onl.bfloat16, buffer=onl.shared_hbm)
    buf, o = onl.load(q), onl.load(off)
    result = onl.ndarray((128, 1, 16), dtype=onl.bfloat16, buffer=onl.sbuf)
    d, h, s = onl.mgrid[:128, :1, :16]
    result[d, h, s] = oisa.tensor_copy_dynamic_src(buf[d, h + o[0, 0], 15 - s], dtype=onl.bfloat16)
    onl.store(out, result)
    return out


@older.jit
def to_a_whole_tile(x, off):
    """The result is assigned at once: the tile's own axes are joined in memory, those of the pattern are not."""
    out = onl.ndarray((128, 3, 2, 4), dtype=x.dtype, buffer=onl.shared_hbm)
    t, o, r = onl.load(x), onl.load(off), onl.ndarray((128, 3, 2, 4), dtype=x.dtype, buffer=onl.sbuf)
    p, i, j, k = onl.mgrid[:128, :3, :2, :4]
    r[...] = oisa.tensor_copy_dynamic_src(t[p, i, o[0, 0] + 3 * j, 2 * k])
    onl.store(out, r)
    return out


FOUR = rng.standard_normal((128, 4, 6, 10)).astype(np.float32)
check("a result with steps in a whole tile", lambda: to_a_whole_tile(FOUR, TWO), FOUR[:, :3, 2:6:3, 0:8:2])
Q = np.arange(128 * 32, dtype=np.float32).reshape(128, 2, 16)
check("three axes of the older dialect", lambda: three_axes(Q, np.array([[4]], np.uint32)), Q[:, :, 4:12])
WANT = np.zeros_like(Q)
WANT[:100, :, 5:12:3] = Q[:100, :, 1:7:2]
check("steps under a mask", lambda: some_rows(Q, np.array([[1, 5]], np.int32)), WANT)
check("a middle axis, backwards", lambda: middle(Q, np.array([[1]], np.int32)),
      Q[:, 1:2, ::-1].astype(onl.bfloat16))


# ---- operands and results of other instructions
def twice(to, x):
    nisa.tensor_scalar(dst=to, data=x, op0=nl.multiply, operand0=2.0)


def added(g, t, s):
    nisa.tensor_tensor(dst=g, data1=t.select(1, s), data2=t.select(1, s), op=nl.add)


def in_place(g, t, s):
    twice(t.select(1, s), t.select(1, s))
    nisa.tensor_copy(dst=g, src=t[:, 3, :])


def fetched(g, t, s):
    nisa.dma_copy(dst=g, src=t.select(1, s))
    twice(g, g)


def doubled_by_choice(g, t, s):
    """Half of the elements by each of two predicates: one writes those that the other leaves."""
    two = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    mask = nl.ndarray((128, 8), dtype=nl.uint8, buffer=nl.sbuf)
    twice(two, t[:, 3, :])
    nisa.memset(mask, 0)
    nisa.memset(mask[:, 0:4], 1)
    nisa.tensor_copy_predicated(dst=t.select(1, s), src=two, predicate=mask)
    nisa.tensor_copy_predicated(dst=t.select(1, s), src=two, predicate=mask, reverse_pred=True)
    nisa.tensor_copy(dst=g, src=t[:, 3, :])


for NAME, BODY in (
        ("tensor_scalar", lambda g, t, s: twice(g, t.select(1, s))),
        ("activation", lambda g, t, s: nisa.activation(dst=g, data=t.select(1, s), op=nl.copy, scale=2.0)),
        ("tensor_tensor", added), ("a result", in_place),
        ("a result of predicates", doubled_by_choice),
        ("dma_copy and a multiplication", fetched)):
    check(f"{NAME} at a place of the run", lambda: of_place(BODY, (128, 8))(A, THREE), 2 * A[:, 3])


@nki.jit
def product(a, b, at):
    s, weights, x = loaded(at), loaded(a), loaded(b)
    p = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=p, stationary=weights.select(1, s), moving=x)
    g = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=g, src=p)
    return stored(g)


W, X = rng.standard_normal((128, 3, 64)).astype(np.float32), rng.standard_normal((128, 32)).astype(np.float32)
check("nc_matmul at a place of the run", lambda: product(W, X, TWO), W[:, 2].T @ X, 1e-4)


# ---- DMA on one side or both
def by_dma(mode):
    @nki.jit
    def kernel(a, b, at):
        t, s = loaded(a), loaded(at)
        if mode == "read":
            out = nl.ndarray((128, 5), dtype=nl.float32, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=t.select(2, s))
            return out
        if mode == "both":
            u = loaded(b)
            nisa.dma_copy(dst=u.select(1, s), src=t.select(1, s))
            return stored(u)
        view = t.ap(pattern=[[40, 128], [1, 8]], scalar_offset=s, indirect_dim=1)
        nisa.dma_copy(dst=view, src=b[:, 4, :])
        return stored(t)
    return kernel


WANT = A.copy()
WANT[:, 2] = -A[:, 4]
check("dma_copy from a place of the run", lambda: by_dma("read")(A, -A, TWO), A[:, :, 2])
check("dma_copy to a place of the run", lambda: by_dma("write")(A, -A, TWO), WANT)
WANT = -A
WANT[:, 2] = A[:, 2]
check("dma_copy between places of the run", lambda: by_dma("both")(A, -A, TWO), WANT)


# ---- DMA to and from HBM: the number is part of its address, and other engines have nothing to do
@nki.jit
def panels(x, at, to):
    s, out = loaded(at), nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for place in range(x.shape[0]):
        nisa.dma_copy(dst=out[place], src=x[place])
    t = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x.ap(pattern=[[8, 128], [2, 4], [1, 2]], scalar_offset=s, indirect_dim=0))
    target = out.ap(pattern=[[8, 128], [1, 8]], scalar_offset=loaded(to), indirect_dim=0)
    nisa.dma_compute(dst=target, srcs=[target, t], reduce_op=nl.add)
    return out


PANELS, ZERO = rng.standard_normal((4, 128, 8)).astype(np.float32), np.zeros((1, 1), np.int32)
WANT = PANELS.copy()
WANT[0] += PANELS[2]
check("one number moves all rows of a copy", lambda: panels(PANELS, TWO, ZERO), WANT)
ENGINES = panels.compile(PANELS, TWO, ZERO).time()["engines"]
check("no other engine makes addresses", lambda: [ENGINES[name]["instructions"] for name in ("vector", "scalar")], [0, 0])
refused("a number out of the tensor", lambda: panels(PANELS, NINE, ZERO), "the number 9 moves row 0 out")


# ---- numbers in any partition
@nki.jit
def looked_up(table, ids, how):
    i = loaded(ids)
    at = i.ap(pattern=[[3, 1], [1, 1]], offset=5) if how != "slice" else i[1:2, 2:3]
    if how == "register":
        reg = nisa.register_alloc()
        nisa.register_load(dst=reg, src=at)
        at = reg
    t = nl.ndarray((2, 8), dtype=table.dtype, buffer=nl.sbuf)
    if how == "tile":
        all_rows = nl.ndarray((2, 5, 8), dtype=table.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=all_rows, src=table.permute((1, 0, 2)))
        nisa.tensor_copy(dst=t, src=all_rows.select(1, at))
    else:
        nisa.dma_copy(dst=t, src=table.ap(pattern=[[8, 2], [1, 8]], offset=0, scalar_offset=at, indirect_dim=0))
    return stored(t)


TABLE, IDS = np.arange(80, dtype=np.float32).reshape(5, 2, 8), np.array([[0, 1, 2], [3, 4, 1]], np.int32)
for HOW in ("pattern", "slice", "register", "tile"):
    check(f"a number in partition 1, {HOW}", lambda: looked_up(TABLE, IDS, HOW), TABLE[1])


# ---- registers whose value is known
@nki.jit
def by_loop(x, count):
    xs, c = loaded(x), loaded(count)
    o = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=o, value=0.0)
    n = nisa.register_alloc()
    nisa.register_load(n, c)
    for i in nl.dynamic_range(n):
        nisa.tensor_scalar(dst=o.select(1, i), data=xs.select(1, i), op0=nl.multiply, operand0=2.0)
        view = xs.ap(pattern=[[40, 128], [1, 8]], scalar_offset=i, indirect_dim=1)
        nisa.tensor_tensor(dst=o.select(1, i), data1=o.select(1, i), data2=view, op=nl.add)
    nisa.dma_copy(dst=o.select(1, 4), src=x.select(1, nisa.register_alloc(1)))
    return stored(o)


WANT = np.zeros_like(A)
WANT[:, :3], WANT[:, 4] = 3 * A[:, :3], A[:, 1]
check("the register of a loop names places", lambda: by_loop(A, THREE), WANT)


@nki.jit
def by_two_registers(x, idx, how):
    xs, s = loaded(x), loaded(idx)
    i, t = nisa.register_alloc(2), nisa.register_alloc()
    nisa.register_load(t, s.ap(pattern=[[8, 1], [1, 1]], scalar_offset=i, indirect_dim=1) if how else s.select(1, i))
    g = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=g, data=xs.select(1, t), op=nl.copy)
    return stored(g)


for HOW in (0, 1):
    ORDER = np.array([[0, 1, 4, 3, 2, 1, 1, 1]], np.int32)
    check("a register from where another one says", lambda: by_two_registers(A, ORDER, HOW), A[:, 4])


@nki.jit
def written_over(x, numbers, how):
    """A number that is known is written over with others: alone, in a row, at a place of the run."""
    xs, b, s = loaded(x), loaded(numbers), nl.ndarray((1, 8), dtype=nl.int32, buffer=nl.sbuf)
    for _ in range(2):
        nisa.memset(s[0:1, 0:1], 4)
        if how == "row":
            nisa.tensor_copy(dst=s, src=b)
        elif how == "constants":
            nisa.memset(s, 1)
        elif how == "transfer":
            nisa.dma_copy(dst=s, src=numbers)
        else:
            nisa.tensor_copy(dst=s.select(1, b[0:1, 1:2]), src=b[0:1, 0:1])
    r = nisa.register_alloc()
    nisa.register_load(r, s[0:1, 0:1])
    g = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=g, src=xs.select(1, r))
    return stored(g)


for HOW in ("row", "constants", "transfer", "place"):
    check(f"a register from a number written over, {HOW}",
          lambda: written_over(A, np.array([[1, 0, 1, 1, 1, 1, 1, 1]], np.int32), HOW), A[:, 1])


# ---- sums over loops
@older.jit
def row_sums(x):
    out = onl.ndarray((3, 1), dtype=np.float32, buffer=onl.shared_hbm)
    for b in onl.affine_range(3):
        for t in onl.sequential_range(4):
            s = oisa.tensor_reduce(np.add, data=onl.load(x[b, t * 128 + onl.arange(128)[None, :]]), axis=(1,))
            total = onl.loop_reduce(s, op=np.add, loop_indices=[t])
        onl.store(out[b, 0:1], value=total)
    return out


def reduced_by(x, k):
    return onl.loop_reduce(x, op=np.maximum, loop_indices=[k])


@older.jit
def in_many_words(x):
    """Several lines, several statements of a line, a function that returns it, a part of a tile, a loop not from 0."""
    out = onl.ndarray((4, 3, 128, 8), dtype=np.float32, buffer=onl.shared_hbm)
    for b in onl.affine_range(3):
        parts = onl.ndarray((2, onl.par_dim(128), 8), dtype=np.float32, buffer=onl.sbuf)
        for i in onl.affine_range(2):
            for t in onl.affine_range(1, 3):
                a = onl.load(x[b, i, t - 1]); first = onl.loop_reduce(
                    a, op=np.add,
                    loop_indices=[i, t])
                last = reduced_by(a, t)
                parts[i] = onl.loop_reduce(a, op=np.add, loop_indices=(t,), dtype=np.float32)
        onl.store(out[0, b], value=first)
        onl.store(out[1, b], value=last)
        onl.store(out[2, b], value=parts[0])
        onl.store(out[3, b], value=parts[1])
    return out


ROWS, MANY = rng.standard_normal((3, 512)).astype(np.float32), rng.standard_normal((3, 2, 2, 128, 8)).astype(np.float32)
check("loop_reduce begins anew with its loop", lambda: row_sums(ROWS), ROWS.sum(1, keepdims=True), 1e-4)
check("loop_reduce in many words", lambda: in_many_words(MANY),
      [MANY.sum((1, 2)), MANY[:, 1].max(1), MANY[:, 0].sum(1), MANY[:, 1].sum(1)], 1e-5)


# ---- whole numbers of any type gather
def gathered(kind):
    @older.jit
    def kernel(x, index):
        out = onl.ndarray((128, 32), dtype=x.dtype, buffer=onl.shared_hbm)
        onl.store(out, onl.gather_flattened(onl.load(x), onl.load(index, dtype=kind)))
        return out
    return kernel


DATA, INDEX = rng.standard_normal((128, 64)).astype(np.float32), rng.integers(0, 64, (128, 32)).astype(np.int32)
for KIND in (np.int32, np.uint32, np.int16, np.uint8):
    check(f"gather_flattened by {np.dtype(KIND)}", lambda: gathered(KIND)(DATA, INDEX),
          np.take_along_axis(DATA, INDEX, 1))


# ---- a number of the run takes away an axis, as an integer does; a tile of one number keeps its axes
def experts(kind, chosen):
    """Weights that numbers on the chip choose, in blocks whose partitions are not their first axis."""
    @older.jit
    def kernel(weights, index):
        number = onl.load(index)
        out = onl.ndarray((3, 64, 32), dtype=weights.dtype, buffer=onl.shared_hbm)
        blocks = onl.ndarray((3, onl.par_dim(64), 32), dtype=weights.dtype, buffer=onl.sbuf)
        for b in onl.static_range(3):
            one = onl.ndarray((1, 1), dtype=kind, buffer=onl.sbuf)
            oisa.dma_copy(dst=one[0:1, 0:1], src=number[0:1, b:b + 1])
            blocks[b] = onl.load(chosen(weights, one))
        for b in onl.static_range(3):
            onl.store(out[b], blocks[b])
        return out
    return kernel


@older.jit
def one_row(table, index):
    row = onl.load(table[onl.load(index), :])
    out = onl.ndarray(row.shape, dtype=table.dtype, buffer=onl.shared_hbm)
    onl.store(out, row)
    return out


@older.jit
def written(block, index):
    number = onl.load(index)
    out = onl.ndarray((4, 64, 32), dtype=block.dtype, buffer=onl.shared_hbm)
    for e in onl.static_range(4):
        onl.store(out[e], onl.zeros((64, 32), dtype=block.dtype))
    onl.store(out[number[0, 1], 0:64, 0:16], onl.load(block[:, 0:16]))
    return out


WEIGHTS, CHOSEN = rng.standard_normal((4, 64, 32)).astype(np.float32), np.array([[3, 0, 2]], np.int32)
for KIND in (np.int32, np.uint32):
    check(f"a number of type {np.dtype(KIND)} chooses weights", lambda: experts(KIND, lambda w, n: w[n[0, 0], :, :])(
        WEIGHTS, CHOSEN), WEIGHTS[CHOSEN[0]])
check("a number alone chooses weights", lambda: experts(np.int32, lambda w, n: w[n[0, 0]])(WEIGHTS, CHOSEN.astype(np.float32)),
      WEIGHTS[CHOSEN[0]])
check("a tile of one number is a row", lambda: one_row(WEIGHTS[0], CHOSEN[:, :1]), WEIGHTS[0][None, 3:4])
WANT = np.zeros_like(WEIGHTS)
WANT[0, :, :16] = WEIGHTS[1][:, :16]
check("a number chooses where weights go", lambda: written(WEIGHTS[1], CHOSEN), WANT)

checks.ended()
