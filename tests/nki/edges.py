"""Kernels at the edges of the language, against NumPy: one row, one element, whole numbers of 32 bits, generators."""
import contextlib
import io
import sys

import numpy as np
import neuronxcc.nki as older
import neuronxcc.nki.isa as oisa
import neuronxcc.nki.language as onl
import nki
import nki.isa as nisa
import nki.language as nl
from trnsim.nki import _jit

_jit.settings.machine = "trn2.3xlarge"
rng = np.random.default_rng(11)
FAILED, COUNT = [], [0]


def check(name, got, want):
    COUNT[0] += 1
    try:
        a, b = np.asarray(got()), np.asarray(want)
        if a.shape != b.shape or not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-6, atol=0):
            FAILED.append(f"{name}: {a.ravel()[:4]} is not {b.ravel()[:4]}")
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")


def tile(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


def memory(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.shared_hbm)


# ---- a row keeps its partition, a row of HBM has none
@nki.jit
def rows(x):
    """One partition to a row of HBM and back, to another partition, to a column, and a column to a row."""
    out, a, b, c = memory((5, 32)), tile((128, 32)), tile((128, 32)), tile((32, 1))
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out[0, :], src=a[7, :])
    nisa.dma_copy(dst=b[3, :], src=out[0, :])
    nisa.dma_copy(dst=b[100, :], src=a[9, :])
    nisa.dma_copy(dst=c, src=a[11, :])
    nisa.dma_copy(dst=b[64, :], src=c)
    for i, p in enumerate((3, 100, 64)):
        nisa.dma_copy(dst=out[1 + i, :], src=b[p, :])
    nisa.dma_copy(dst=out[4], src=c[:, 0])
    return out


X = rng.standard_normal((128, 32)).astype(np.float32)
check("rows of tiles and of HBM", lambda: rows(X), X[[7, 7, 9, 11, 11]])


@nki.jit
def folded(x):
    """A tile of three axes to rows of another shape in HBM, which takes the tile's axes."""
    out, a = memory((4, 8, 32)), tile((32, 4, 8))
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out.reshape((32, 32)), src=a)
    return out


Y = rng.standard_normal((32, 32)).astype(np.float32)
check("a tile of three axes", lambda: folded(Y), Y.reshape(4, 8, 32))


# ---- whole numbers of 32 bits
BIG = rng.integers(2**30, 2**31 - 1, (1, 8)).astype(np.int32)


@nki.jit
def repeated(x):
    out, a = memory((100, 8), nl.int32), tile((1, 8), nl.int32)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=out, src=nl.broadcast_to(a, (100, 8)))
    return out


check("a row of large numbers repeated", lambda: repeated(BIG), np.repeat(BIG, 100, 0))


@older.jit
def bits(x, mask):
    """Plain numbers beside unsigned tiles, and one number for all partitions."""
    out = onl.ndarray(x.shape, dtype=x.dtype, buffer=onl.shared_hbm)
    t, one = onl.load(x), onl.load(mask)
    low = onl.bitwise_and(onl.left_shift(t, 3), 0xFFFF)
    high = onl.bitwise_and(t, onl.invert(one))
    onl.store(out, onl.bitwise_xor(low, onl.right_shift(high, 4)))
    return out


U, MASK = rng.integers(0, 2**32, (40, 6)).astype(np.uint32), np.array([[0x80F]], np.uint32)
check("bits of unsigned numbers", lambda: bits(U, MASK), ((U << 3) & 0xFFFF) ^ ((U & ~MASK) >> 4))


# ---- one element
@older.jit
def elements(x):
    out = onl.ndarray((2, 3), dtype=onl.float32, buffer=onl.shared_hbm)
    t = onl.load(x)
    onl.store(out[0, 0], t[3, 4])
    onl.store(out[0, 1], 5.0)
    onl.store(out[0, 2], onl.load(x[5, 6]).as_tile())
    oisa.dma_copy(dst=out[1, 0], src=t[7, 8])
    oisa.dma_copy(dst=out[1, 1], src=x[9, 10])
    onl.store(out[1, 2:3], t[1, 1:2])
    return out


check("single elements", lambda: elements(X),
      np.array([[X[3, 4], 5, X[5, 6]], [X[7, 8], X[9, 10], X[1, 1]]]))


# ---- a launch without a grid is one program
@nki.jit
def alone(x):
    share = x.shape[0] // nl.num_programs(0)
    out, a = memory(x.shape), tile((share, x.shape[1]))
    first = nl.program_id(0) * share
    nisa.dma_copy(dst=a, src=x[first:first + share])
    nisa.dma_copy(dst=out[first:first + share], src=a)
    return out


check("a launch without a grid", lambda: alone(X), X)
check("two programs", lambda: alone[2](X), X)
check("the name of a kernel", lambda: alone.func_name == "alone", True)


# ---- the generator of GpSimdE
def xorwow(state, count):
    """Marsaglia's generator: the numbers and the state behind them."""
    s, out = [int(w) for w in state], []
    for _ in range(count):
        t = s[0] ^ (s[0] >> 2)
        s[:4] = s[1:5]
        s[4] = (s[4] ^ (s[4] << 4) ^ t ^ (t << 1)) & 0xFFFFFFFF
        s[5] = (s[5] + 362437) & 0xFFFFFFFF
        out.append((s[4] + s[5]) & 0xFFFFFFFF)
    return out, s


@nki.jit
def drawn(words):
    """Twelve numbers of each lane in two instructions, and the words that are left."""
    numbers, left = memory((128, 12), nl.uint32), memory((128, 6), nl.uint32)
    state, a = tile((128, 6), nl.uint32), tile((128, 12), nl.uint32)
    nisa.dma_copy(dst=state, src=words)
    nisa.rand_set_state(src_seeds=state, engine=nisa.gpsimd_engine)
    nisa.rng(dst=a[:, 0:4], engine=nisa.engine.gpsimd)
    nisa.rng(dst=a[:, 4:12], engine=nisa.engine.gpsimd)
    nisa.rand_get_state(dst=state)
    nisa.dma_copy(dst=numbers, src=a)
    nisa.dma_copy(dst=left, src=state)
    return numbers, left


WORDS = rng.integers(0, 2**32, (128, 6)).astype(np.uint32)
EXPECTED = [xorwow(w, 12) for w in WORDS]
check("numbers of the lanes", lambda: drawn(WORDS)[0], [n for n, _ in EXPECTED])
check("words that are left", lambda: drawn(WORDS)[1], [s for _, s in EXPECTED])


@nki.jit
def narrow(words, types):
    """The lowest bits of twelve numbers."""
    outs = []
    for dtype in types:
        state, a = tile((128, 6), nl.uint32), tile((128, 12), dtype)
        nisa.dma_copy(dst=state, src=words)
        nisa.rand_set_state(src_seeds=state)
        nisa.rng(dst=a, engine=nisa.engine.gpsimd)
        outs.append(memory((128, 12), dtype))
        nisa.dma_copy(dst=outs[-1], src=a)
    return outs


DRAWN = np.array([n for n, _ in EXPECTED], np.uint32)
TYPES = [nl.int8, nl.uint8, nl.int16, nl.uint16]
check("random bits of narrow numbers", lambda: narrow(WORDS, TYPES), [DRAWN.astype(np.dtype(t)) for t in TYPES])


@nki.jit
def unset():
    out, a = memory((128, 6), nl.uint32), tile((128, 6), nl.uint32)
    nisa.rand_get_state(dst=a)
    nisa.dma_copy(dst=out, src=a)
    return out


check("lanes begin apart", lambda: len({tuple(w) for w in np.asarray(unset())}), 128)


# ---- engines
@nki.jit
def inverse(x):
    out, a = memory(x.shape), tile(x.shape)
    nisa.dma_copy(dst=a, src=x)
    nisa.reciprocal(dst=a, data=a)
    nisa.dma_copy(dst=out, src=a)
    return out


def busy_with_inverse(engine):
    return inverse.compile(np.ones((128, 512), np.float32)).time()["engines"][engine]["busy"]


check("a reciprocal is VectorE's on Trn2, eight cycles an element",
      lambda: busy_with_inverse("vector") > 8 * 512 / 0.96e9, True)

# ---- numbers that fp32 or int32 do not hold, rows that an index leaves out
@older.jit
def exact(x):
    out = onl.ndarray((4, 8), dtype=onl.int32, buffer=onl.shared_hbm)
    onl.store(out[0:1], onl.full((1, 8), 2**24 + 1, dtype=onl.int32))
    onl.store(out[1:2], 2**30 + 1)
    onl.store(out[2:3], oisa.memset((1, 8), 2**24 + 3, onl.int32))
    onl.store(out[3:4], onl.greater(onl.load(x), 3 * 2**30, dtype=onl.int32))
    return out


LARGE = np.array([[0, 5, 2**31, 3 * 2**30, 2**32 - 512, 1, 2, 2**30]], np.uint32)
check("whole numbers of more bits than fp32 has", lambda: exact(LARGE),
      [[2**24 + 1] * 8, [2**30 + 1] * 8, [2**24 + 3] * 8, (LARGE[0] > 3 * 2**30)])


@older.jit
def rounded(x):
    out = onl.ndarray((3, x.shape[1]), dtype=onl.float32, buffer=onl.shared_hbm)
    for i, function in enumerate((onl.floor, onl.ceil, onl.trunc)):
        onl.store(out[i:i + 1], function(onl.load(x)))
    return out


ROUGH = np.array([[3e9, -3e9, 1e20, -7.5, 0.5, -0.5, 2.0**23 - 0.5, 0.0]], np.float32)
check("floor of numbers that int32 has not", lambda: rounded(ROUGH),
      np.concatenate([np.floor(ROUGH), np.ceil(ROUGH), np.trunc(ROUGH)]))


@older.jit
def skipped(x, index):
    out = onl.ndarray((40, x.shape[1]), dtype=x.dtype, buffer=onl.shared_hbm)
    t, rows = onl.full((40, x.shape[1]), -1.0, dtype=x.dtype), onl.load(index)
    oisa.dma_copy(dst=t, src=x[rows[onl.arange(40)[:, None], 0], onl.arange(x.shape[1])[None, :]],
                  oob_mode=oisa.oob_mode.skip)
    onl.store(out, t)
    return out


INDEX = rng.integers(0, 200, (40, 1)).astype(np.int32)
check("rows that an index leaves out keep what fills them", lambda: skipped(X, INDEX),
      np.where(INDEX < 128, X[np.minimum(INDEX[:, 0], 127)], -1))

# ---- arguments that are written, in the caller's type
@older.jit
def halved(x, result):
    onl.store(result, onl.load(x) * 0.5)


def written(result, x=X):
    halved(x, result)
    return result


check("an argument of float64 is written", lambda: written(np.zeros(X.shape)), X / 2)
check("one whose rows lie apart", lambda: written(np.zeros((32, 128), np.float32).T), X / 2)
FIXED = np.zeros_like(X)
FIXED.setflags(write=False)
for name, words, arguments in (("a read-only argument", "read-only", (FIXED,)),
                               ("numbers of 64 bits", "1099511627776", (np.zeros_like(X), np.full(X.shape, 2**40)))):
    try:
        written(*arguments)
        FAILED.append(f"{name} is taken")
    except Exception as error:  # noqa: BLE001
        if words not in str(error):
            FAILED.append(f"{name}: {error}")

# ---- results of a grid
@older.jit
def parted(x, buffer, some=None):
    first = onl.program_id(0) * 64
    if some and onl.program_id(0) == 0:
        onl.ndarray(some, dtype=x.dtype, buffer=buffer)
    out = onl.ndarray(x.shape, dtype=x.dtype, buffer=buffer)
    onl.store(out[first:first + 64], onl.load(x[first:first + 64]))
    return out


check("programs write to one tensor", lambda: parted[2](X, onl.shared_hbm), X)
for name, words_of, arguments in (("a result in private HBM", "private HBM", (onl.private_hbm,)),
                                  ("other tensors in one program", "(4, 4)", (onl.shared_hbm, (4, 4)))):
    try:
        parted[2](X, *arguments)
        FAILED.append(f"{name} is taken")
    except Exception as error:  # noqa: BLE001
        if words_of not in str(error):
            FAILED.append(f"{name}: {error}")

# ---- nl.device_print
@older.jit
def spoken(x):
    out, t = onl.ndarray((2, 4), dtype=onl.float32, buffer=onl.shared_hbm), onl.load(x)
    onl.device_print("before", t)
    t[...] = onl.multiply(t, 2.0)
    onl.device_print("after", t[0:1, 0:2])
    onl.device_print("row", t, mask=onl.arange(2)[:, None] > 0)
    onl.store(out, t)
    return out


def words(call):
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        call(np.arange(8, dtype=np.float32).reshape(2, 4))
    return heard.getvalue().split()


SPOKEN = "before [[0. 1. 2. 3.] [4. 5. 6. 7.]] after [[0. 2.]] row [[ 8. 10. 12. 14.]]".split()
check("a tile is printed as it is at that place", lambda: words(spoken) == SPOKEN, True)
check("and by simulate_kernel", lambda: words(lambda x: older.simulate_kernel(spoken.func, x)) == SPOKEN, True)
check("a kernel that is timed prints its latency alone",
      lambda: words(older.benchmark(spoken.func))[:2] == ["spoken:", "latency"], True)

# ---- arrays of the package ml_dtypes: its scalar types stood in for by ones of the same names and bytes
def of_ml_dtypes(ours):
    return np.dtype((type(ours.type.__name__, (np.void,), {}), ours.itemsize))


@nki.jit
def twice(x, written):
    assert x.dtype == written.dtype
    out, a = memory(x.shape, x.dtype), tile(x.shape)
    nisa.dma_copy(dst=a, src=x)
    nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=a)
    nisa.dma_copy(dst=written, src=a)
    return out


for OURS in (np.dtype(nl.bfloat16), np.dtype(nl.float8_e4m3), np.dtype(nl.float8_e5m2)):
    THEIRS = of_ml_dtypes(OURS)
    BITS = np.array(rng.standard_normal((128, 8)), np.float32).astype(OURS)
    DOUBLED, PUT = (BITS.astype(np.float32) * 2).astype(OURS), np.zeros(BITS.shape, OURS).view(THEIRS)
    GOT = twice(BITS.view(THEIRS), PUT)
    check(f"results of {OURS} have the caller's type", lambda: GOT.dtype == THEIRS and PUT.dtype == THEIRS, True)
    check(f"numbers of {OURS}", lambda: GOT.view(OURS), DOUBLED)
    check(f"{OURS} written to an argument", lambda: PUT.view(OURS), DOUBLED)



@nki.jit
def as_signed(x):
    """The same bits by three kinds of DMA: DMA engines change no bits between integers of one width."""
    a, rows = tile(x.shape, nl.uint32), tile((x.shape[0], 1), nl.int32)
    nisa.dma_copy(dst=a, src=x)
    nisa.iota(rows, [[0, 1]], channel_multiplier=1)
    outs = [memory(x.shape, nl.int32) for _ in range(2)]
    nisa.dma_copy(dst=outs[0], src=a)
    nisa.dma_copy(dst=outs[1].ap([[x.shape[1], x.shape[0]], [1, x.shape[1]]], vector_offset=rows, indirect_dim=0), src=a)
    b, out = tile(x.shape, nl.int32), memory(x.shape, nl.int32)
    nisa.dma_copy(dst=b, src=x.ap([[x.shape[1], x.shape[0]], [1, x.shape[1]]], vector_offset=rows, indirect_dim=0))
    nisa.dma_copy(dst=out, src=b)
    return outs[0], outs[1], out


@older.jit
def behind(x, first):
    """Rows behind one that the run knows, up to the tensor's last one."""
    out = onl.ndarray((3, 1, 64), x.dtype, buffer=onl.shared_hbm)
    row, some = onl.load(first)[0, 0], onl.arange(64)[None, :]
    for n in onl.affine_range(3):
        onl.store(out[n], onl.load(x[onl.arange(1)[:, None] + 60 + n + row, some + 64]))
    return out


LONG = np.arange(64 * 128, dtype=np.float32).reshape(64, 128)
for last in (0, 1):
    check(f"rows behind row {last}", lambda n=last: behind(LONG, np.array([[n]], np.int32))[:, 0],
          LONG[60 + last:63 + last, 64:])
try:
    behind(LONG, np.array([[2]], np.int32))
    FAILED.append("a row behind the last one")
except Exception as error:  # noqa: BLE001
    if "is not one of" not in str(error):
        FAILED.append(f"a row behind the last one: {error}")

NONE = np.array([[0, 2 ** 24 + 1, 2 ** 31, 2 ** 32 - 1]] * 4, np.uint32)
for number in range(3):
    check(f"DMA of unsigned numbers as signed ones {number}", lambda n=number: as_signed(NONE)[n], NONE.view(np.int32))


# ---- a negative number in a type without a sign has its bits
@nki.jit
def negative(x):
    outs = []
    for kind in (nl.uint8, nl.uint16, nl.uint32):
        filled = tile((4, 8), kind)
        nisa.memset(filled, -2)
        for t in (filled, nl.full((4, 8), -1, dtype=kind)):
            outs.append(memory((4, 8), kind))
            nisa.dma_copy(outs[-1], t)
    return tuple(outs)


for number, kind in enumerate((np.uint8, np.uint16, np.uint32)):
    for last in range(2):
        check(f"bits of a negative number {kind} {last}", lambda n=2 * number + last: negative(NONE)[n],
              np.full((4, 8), np.iinfo(kind).max - 1 + last, kind))


# ---- an index of one place is repeated along the axis of another, without a step
PLACES = rng.standard_normal((20, 3, 16)).astype(np.float32)
P8, ONE, F4, F16 = onl.arange(8)[:, None], onl.arange(1)[None, :], onl.arange(4)[None, :], onl.arange(16)[None, :]


def placed(body, columns):
    @older.jit
    def kernel(x, rows, first):
        out = onl.ndarray((8, columns), dtype=x.dtype, buffer=onl.shared_hbm)
        onl.store(out, body(x, onl.load(rows), first))
        return out
    rows = np.array([[7], [0], [3], [11], [5], [5], [18], [2]], np.int32)
    return lambda: kernel(PLACES, rows, PLACES[:, 0]), rows[:, 0]


GOT, ROWS = placed(lambda x, rows, first: onl.load(x[P8, ONE + 1, F4]), 4)
check("an index of one place", GOT, PLACES[:8, 1, :4])
GOT, ROWS = placed(lambda x, rows, first: onl.load(first[P8 + ONE, F4]), 4)
check("an index of one place in a sum", GOT, PLACES[:8, 0, :4])
GOT, ROWS = placed(lambda x, rows, first: onl.load(first[rows + 1 + ONE, F4]), 4)
check("an index of one place beside numbers", GOT, PLACES[ROWS + 1, 0, :4])
GOT, ROWS = placed(lambda x, rows, first: onl.load(x)[P8, onl.mgrid[0:8, 0:1].x + 2, F4], 4)
check("an index of one place on the chip", GOT, PLACES[:8, 2, :4])

# ---- an index as the tile of its numbers
COLUMNS = np.arange(16)[None, :]
GOT, ROWS = placed(lambda x, rows, first: (onl.load(first[P8, F16]) + F16) * 2.0 - P8, 16)
check("an index is added", GOT, ((PLACES[:8, 0] + COLUMNS) * 2 - np.arange(8)[:, None]).astype(np.float32))
GOT, ROWS = placed(lambda x, rows, first: onl.add(onl.broadcast_to(F16, shape=(8, 16)), onl.load(first[P8, F16])), 16)
check("an index is repeated", GOT, PLACES[:8, 0] + COLUMNS)
GOT, ROWS = placed(lambda x, rows, first: onl.copy(-(onl.load(first[P8, F16]) + F16), dtype=x.dtype), 16)
check("an index is negated", GOT, -(PLACES[:8, 0] + COLUMNS))

# ---- an assigned tile has its axes first, and is repeated along those that it lacks
def assigned(shape, part):
    @older.jit
    def kernel(x):
        out, t = onl.ndarray(shape, dtype=x.dtype, buffer=onl.shared_hbm), onl.ndarray(shape, dtype=x.dtype, buffer=onl.sbuf)
        t[...] = part(onl.load(x))
        onl.store(out, t)
        return out
    return lambda: kernel(PLACES[:, 0, :6])


SIX = PLACES[:, 0, :6]
for shape, part, want in (((20, 20, 2), lambda t: t[:, 0:1], SIX[:, :1, None]), ((20, 6, 3), lambda t: t, SIX[:, :, None]),
                          ((20, 3, 6), lambda t: t, SIX[:, None]), ((20, 3, 6), lambda t: t[0:1], SIX[:1, None])):
    check(f"assigned to {shape}", assigned(shape, part), np.broadcast_to(want, shape))

GOT, ROWS = placed(lambda x, rows, first: onl.where(P8 < 5, onl.load(first[P8]), -1.0)[:, 0, :], 16)
check("a choice by an index beside rows of a tensor", GOT, np.where(np.arange(8)[:, None] < 5, PLACES[:8, 0], -1))
GOT, ROWS = placed(lambda x, rows, first: onl.load(x[onl.copy(rows[0, 0:1], dtype=onl.float32)[0, 0], :, 0:4])[0:1] *
                   onl.ones((8, 1), dtype=onl.float32), 4)
check("one number of fp32 as an index", GOT, np.broadcast_to(PLACES[7, :1, :4], (8, 4)))

# ---- whole numbers of 32 bits: exact on GpSimdE, fp32 where VectorE is asked or one of them lies in PSUM
LARGER = rng.integers(2**28, 2**29, (32, 64)).astype(np.int32)
IN_FP32 = LARGER.astype(np.float32).astype(np.int64)
SUMS = (IN_FP32 + IN_FP32[:, ::-1]).astype(np.float32).astype(np.int32), LARGER + LARGER[:, ::-1]


def equal(got, want):
    return np.array_equal(np.asarray(got), want)


@nki.jit
def word_sums(x, y, engine, psum):
    out, a, b = memory(x.shape, nl.int32), tile(x.shape, nl.int32), tile(x.shape, nl.int32)
    nisa.dma_copy(a, x)
    nisa.dma_copy(b, y)
    if psum:
        c = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.psum)
        nisa.tensor_copy(c, a)
        a = c
    d = tile(x.shape, nl.int32)
    nisa.tensor_tensor(d, a, b, nl.add, engine=engine)
    nisa.dma_copy(out, d)
    return out


for exact, engine, psum in ((1, nisa.engine.unknown, False), (1, nisa.engine.gpsimd, False),
                            (0, nisa.engine.vector, False), (0, nisa.engine.unknown, True)):
    check(f"a sum of words on {engine} psum {psum}", lambda e=engine, p=psum, n=exact: equal(
        word_sums(LARGER, np.ascontiguousarray(LARGER[:, ::-1]), e, p), SUMS[n]), True)


@older.jit
def column_sums(x, engine):
    out, t = onl.ndarray(x.shape, dtype=x.dtype, buffer=onl.shared_hbm), onl.load(x)
    onl.store(out, oisa.tensor_tensor(t, t[:, 0:1], op=np.add, engine=engine))
    return out


check("a sum of words and a column", lambda: equal(column_sums(LARGER, oisa.unknown_engine), LARGER + LARGER[:, :1]), True)
check("a sum of words and a column on VectorE", lambda: equal(column_sums(LARGER, oisa.vector_engine), (
    IN_FP32 + IN_FP32[:, :1]).astype(np.float32).astype(np.int32)), True)


NEAR = (LARGER + rng.integers(-2, 3, LARGER.shape)).astype(np.int32)


@nki.jit
def words(x, y, op, column):
    a, b, d = tile(x.shape, nl.int32), tile(x.shape, nl.int32), tile(x.shape, nl.int32)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=y)
    if column:
        d = op(a, b[:, 0:1], dtype=nl.int32)
    else:
        nisa.tensor_tensor(dst=d, data1=a, data2=b, op=op)
    out = memory(x.shape, nl.int32)
    nisa.dma_copy(dst=out, src=d)
    return out


for name in ("add", "subtract", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater",
             "greater_equal"):
    check(f"{name} of words near each other", lambda n=name: equal(
        words(LARGER, NEAR, getattr(nl, n), False), getattr(np, n)(LARGER, NEAR).astype(np.int32)), True)
    check(f"{name} of words and a column", lambda n=name: equal(
        words(LARGER, NEAR, getattr(nl, n), True), getattr(np, n)(LARGER, NEAR[:, :1]).astype(np.int32)), True)


@nki.jit
def choices(x, y):
    a, b, out = tile(x.shape, nl.int32), tile(x.shape, nl.int32), memory((3 * x.shape[0], x.shape[1]), nl.int32)
    nisa.dma_copy(dst=a, src=x)
    nisa.dma_copy(dst=b, src=y)
    less = nl.less(nl.copy(a, dtype=nl.float32), 3 * 2.0 ** 27, dtype=nl.int8)
    for i, chosen in enumerate((nl.where(less, a, b), nl.where(less, a, 2**24 + 1), nl.where(less, 2**24 + 1, b[:, 0:1]))):
        nisa.dma_copy(dst=out[i * x.shape[0]:(i + 1) * x.shape[0]], src=chosen)
    return out


FEW = IN_FP32 < 3 * 2.0 ** 27
check("a choice among words", lambda: equal(choices(LARGER, NEAR), np.concatenate([
    np.where(FEW, LARGER, NEAR), np.where(FEW, LARGER, 2**24 + 1), np.where(FEW, 2**24 + 1, NEAR[:, :1])])), True)


@nki.jit
def unary_words(x):
    a, out = tile(x.shape, nl.int32), memory(x.shape, nl.int32)
    nisa.dma_copy(dst=a, src=x)
    nisa.tensor_scalar(dst=a, data=a, op0=nl.invert, operand0=None)
    nisa.dma_copy(dst=out, src=a)
    return out


check("an operation of one operand has None for the other", lambda: equal(unary_words(LARGER), ~LARGER), True)


# ---- TensorE moves whole numbers
@nki.jit
def whole_turned(x):
    out, a = memory((x.shape[1], x.shape[0]), x.dtype), tile(x.shape, x.dtype)
    nisa.dma_copy(a, x)
    turned = nl.ndarray((x.shape[1], x.shape[0]), dtype=x.dtype, buffer=nl.psum)
    nisa.nc_transpose(turned, a)
    back = tile(turned.shape, x.dtype)
    nisa.tensor_copy(back, turned)
    nisa.dma_copy(out, back)
    return out


BITS = rng.integers(0, 2**32, (80, 40)).astype(np.uint32)
for kind in (np.uint32, np.int32, np.uint16, np.int16, np.uint8, np.int8):
    check(f"TensorE transposes {kind.__name__}", lambda k=kind: equal(whole_turned(BITS.astype(k)), BITS.astype(k).T), True)



@older.jit
def turned_by_any(x):
    out = onl.ndarray((x.shape[1], x.shape[0]), dtype=x.dtype, buffer=onl.shared_hbm)
    onl.store(out, onl.transpose(onl.load(x)))
    return out


def by_tensor(kind):
    return turned_by_any.compile(BITS.astype(kind)).time()["engines"]["tensor"]["busy"] > 0


check("more than 32 x 32 numbers are TensorE's to transpose", lambda: [by_tensor(k) for k in (np.uint8, np.int32)], [True, True])
check("and as they are", lambda: [equal(turned_by_any(BITS.astype(k)), BITS.astype(k).T) for k in (np.uint8, np.int32)], [True, True])

_jit.settings.machine = "trn1.2xlarge"
check("TensorE of NeuronCore-v2 would round words", lambda: [by_tensor(k) for k in (np.uint8, np.int32)], [True, False])
check("which stay as they are", lambda: equal(turned_by_any(BITS.astype(np.int32)), BITS.astype(np.int32).T), True)
check("TensorE of NeuronCore-v2 transposes uint8", lambda: equal(whole_turned(BITS.astype(np.uint8)),
                                                                BITS.astype(np.uint8).T), True)
check("and goes to the cheaper engine on Trn1", lambda: busy_with_inverse("vector") < 512 / 0.96e9, True)
try:
    drawn(WORDS)
    FAILED.append("NeuronCore-v2 has no lanes to set")
except Exception as error:  # noqa: BLE001
    if "NeuronCore-v3" not in str(error):
        FAILED.append(f"the refusal on v2: {error}")

print(f"{COUNT[0]} checks")
if FAILED:
    sys.exit("\n".join(FAILED))
