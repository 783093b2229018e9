"""Kernels as libraries of the newer dialect write them, against NumPy: classes and enumerations, allocators, lists of
tiles, programs that meet, loops whose length the run knows, calls of SDK 2.27, and what copies through patterns do."""
import copy
import dataclasses
import enum
import sys
import typing
import warnings

import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl
import nki.tensor as ntensor
from trnsim.nki import _jit

warnings.simplefilter("ignore")
rng = np.random.default_rng(5)
FAILED, COUNT = [], [0]


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def check(name, got, want, most=1e-6):
    COUNT[0] += 1
    try:
        a, b = np.asarray(got(), np.float64), np.asarray(want, np.float64)
        if a.shape != b.shape or not np.allclose(a, b, rtol=most, atol=most * max(1e-30, np.abs(b).max())):
            FAILED.append(f"{name}: {a.ravel()[:4]} is not {b.ravel()[:4]}")
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")


# ---- what libraries are made of
class Norm(enum.Enum):
    NONE, RMS = 0, 1


class Tile(nl.NKIObject):
    index: int
    start: int
    size: int = 128


class Buffers(nl.NKIObject):
    def __init__(self):
        self.names = []


def size_of(dtype):
    """As libraries tell types apart: by their text, with formats of later chips among them."""
    if str(dtype) == str(nl.float32) or str(dtype) == str(nl.int32):
        return 4
    if str(dtype) in ("bfloat16", "float16"):
        return 2
    assert str(dtype) != str(nl.float8_e4m3fn_x4)
    return 1


class Stack(nl.NKIObject):
    """Places tiles one after the other, round and round in so many sections."""

    def __init__(self, first, sections):
        self.first, self.at, self.sections, self.section = first, first, sections, 0

    def alloc(self, shape, dtype, name=None):
        size = int(np.prod(shape[1:])) * size_of(dtype)
        tile = nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf, name=name, address=(0, self.at))
        self.at += size
        return tile

    def step(self):
        self.section = (self.section + 1) % self.sections
        if self.section == 0:
            self.at = self.first


def tiles(total, size=128):
    return [Tile(i, i * size, min(size, total - i * size)) for i in range((total + size - 1) // size)]


def loaded(tensor):
    out = nl.ndarray(tensor.shape, dtype=tensor.dtype)
    nisa.dma_copy(out, tensor)
    return out


def given(*made):
    """The tiles as tensors in HBM."""
    out = []
    for tile in made:
        out.append(nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm))
        nisa.dma_copy(out[-1], tile)
    return tuple(out) if len(out) > 1 else out[0]


@nki.jit(platform_target="trn2")
def normed(x: nl.NkiTensor, kind: Norm = Norm.RMS, dtype: nki.dtype = nl.float32, more: typing.Optional[int] = None):
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=dtype, buffer=nl.shared_hbm)
    stack, kept = Stack(1024, 2), Buffers()
    for t in tiles(rows):
        a = stack.alloc((128, columns), x.dtype, name=f"a{t.index}")
        squares = stack.alloc((128, columns), nl.float32)
        total, scale = stack.alloc((128, 1), nl.float32), stack.alloc((128, 1), nl.float32)
        p = slice(0, t.size)
        nisa.dma_copy(dst=a[p, :], src=x[t.start:t.start + t.size, :])
        if kind == Norm.RMS:
            nisa.activation(dst=squares[p, :], op=nl.square, data=a[p, :], reduce_op=nl.add, reduce_res=total[p, :],
                            reduce_cmd=nisa.reduce_cmd.reset_reduce)
            nisa.activation(dst=scale[p, :], op=nl.rsqrt, data=total[p, :], scale=1.0 / columns)
            nisa.tensor_scalar(dst=a[p, :], data=a[p, :], op0=nl.multiply, operand0=scale[p, 0])
        nisa.dma_copy(dst=out[t.start:t.start + t.size, :], src=a[p, :])
        kept.names.append(t.index)
        stack.step()
    return {"out": out, "tiles": len(kept.names)}


X = f32(300, 96)
check("classes, enumerations, an allocator", lambda: normed(X)["out"],
      X / np.sqrt((X.astype(np.float64) ** 2).mean(1, keepdims=True)), 1e-5)
check("results in a dictionary", lambda: normed(X, kind=Norm.NONE)["tiles"], 3)
check("members of a class in their order", lambda: [Tile(1, 2).size, Tile(index=3, start=4, size=5).size], [128, 5])
check("classes are equal by their members", lambda: [Tile(1, 2) == Tile(1, 2, 128), Tile(1, 2) == Tile(2, 2)], [1, 0])


# ---- what only the run knows
@nki.jit
def counted(a):
    """So many rows as begin with a positive number are doubled, one after the other."""
    x, ones = loaded(a), nl.ndarray((a.shape[0], 1), dtype=nl.float32)
    positive, count = nl.ndarray((a.shape[0], 1), dtype=nl.float32), nl.ndarray((1, 1), dtype=nl.int32)
    nisa.memset(ones, 1.0)
    nisa.tensor_scalar(positive, x[:, 0:1], nl.greater, 0.0)
    total = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(total, positive, ones)
    nisa.tensor_copy(count, total)
    out, end = given(x), nisa.register_alloc()
    nisa.register_load(end, count)
    for i in nl.dynamic_range(end):
        row = nl.ndarray((1, a.shape[1]), dtype=a.dtype)
        nisa.dma_copy(row, a.ap([[a.shape[1], 1], [1, a.shape[1]]], scalar_offset=i))
        nisa.tensor_scalar(row, row, nl.multiply, 2.0)
        nisa.dma_copy(out.ap([[a.shape[1], 1], [1, a.shape[1]]], scalar_offset=i), row)
    return out


A = f32(64, 32)
check("a loop as long as the run says", lambda: counted(A),
      np.where(np.arange(64)[:, None] < (A[:, 0] > 0).sum(), 2 * A, A))


@nki.jit
def halved(a):
    """Divided by two until all are below one: a while loop on a value of the run."""
    x, most = loaded(a), nl.ndarray((1, 1), dtype=nl.float32)
    flag, goes_on = nl.ndarray((1, 1), dtype=nl.int32), nisa.register_alloc(1)
    while goes_on:
        nisa.tensor_reduce(most, nl.maximum, x, axis=1)
        nisa.tensor_scalar(flag, most, nl.greater_equal, 1.0)
        nisa.register_load(goes_on, flag)
        if goes_on:
            nisa.tensor_scalar(x, x, nl.multiply, 0.5)
    return given(x)


check("a while loop on a value of the run", lambda: halved(np.array([[3.0, 40.0, 5.0]], np.float32)),
      np.array([[3.0, 40.0, 5.0]]) / 64)


def rewritten(how):
    """A loop as long as a number in HBM that the kernel has written: 3 became 5."""
    @nki.jit
    def kernel(n):
        out, five, read = nl.zeros((1, 8), nl.int32, nl.shared_hbm), nl.full((1, 1), 5, nl.int32), nisa.register_alloc()
        how(n, five)
        nisa.register_load(read, n)
        for i in nl.dynamic_range(read):
            nisa.dma_copy(out.ap([[8, 1], [1, 1]], scalar_offset=i, indirect_dim=1), five)
        return out
    return kernel


def stored_register(n, five):
    register = nisa.register_alloc()
    nisa.register_load(register, five)
    nisa.register_store(n, register)


for number, how in enumerate((nl.store, nisa.dma_copy, stored_register,
                              lambda n, five: nisa.dma_compute(n, [n, nl.full((1, 1), 2, nl.int32)], nl.add))):
    check(f"a number in HBM that the kernel wrote {number}",
          lambda h=how: rewritten(h)(np.array([[3]], np.int32)), [[5] * 5 + [0] * 3])


@nki.jit
def large(n):
    """Registers keep all bits of a whole number, and reach HBM."""
    out, register = nl.ndarray((1,), nl.int32, nl.shared_hbm), nisa.register_alloc(2 ** 24 + 1)
    nisa.register_store(out, register)
    return out


check("a large number of a register", lambda: large(1), [2 ** 24 + 1])


# ---- programs that meet
@nki.jit
def summed(x):
    """Each program sums half of the columns and gets the other's sums."""
    n, me = (nl.num_programs(axes=0), nl.program_id(axis=0)) if nl.program_ndim() else (1, 0)
    out, width = nl.ndarray((x.shape[0], 1), dtype=nl.float32, buffer=nl.shared_hbm), x.shape[1] // n
    part, own = loaded(x[:, me * width:(me + 1) * width]), nl.ndarray((x.shape[0], 1), dtype=nl.float32)
    nisa.tensor_reduce(own, nl.add, part, axis=1)
    if n > 1:
        other = nl.ndarray(own.shape, dtype=own.dtype)
        nisa.sendrecv(src=own, dst=other, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
        nisa.tensor_tensor(own, own, other, nl.add)
    rows = slice(me * x.shape[0] // n, (me + 1) * x.shape[0] // n)
    nisa.dma_copy(out[rows, :], own[rows, :])
    if n > 1:
        nisa.core_barrier(out, (0, 1))
    return out


def on_trn2(call):
    def run():
        before, _jit.settings.machine = _jit.settings.machine, "trn2.3xlarge"
        try:
            return call()
        finally:
            _jit.settings.machine = before
    return run


B = f32(128, 64)
check("programs send and receive", on_trn2(lambda: summed[2](B)), B.sum(1, keepdims=True), 1e-5)
check("one program alone", lambda: summed(B), B.sum(1, keepdims=True), 1e-5)


@nki.jit
def placed_apart(x):
    """Two programs place tiles at the same addresses, up to the end of SBUF: each has the memories of a core."""
    me, out = nl.program_id(0), nl.ndarray((64, 64), nl.float32, buffer=nl.shared_hbm)
    end = nl.tile_size.total_available_sbuf_size
    mine = nl.ndarray((64, 64), nl.float32, nl.sbuf, address=(0, 1024))
    other = nl.ndarray((64, 64), nl.float32, nl.sbuf, address=(0, end - 256))
    total = nl.ndarray((64, 64), nl.float32, nl.psum, address=(0, 2048))
    nisa.dma_copy(mine, x[64 * me:64 * me + 64])
    nisa.activation(mine, nl.exp, mine)
    nisa.sendrecv(src=mine, dst=other, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
    nisa.tensor_tensor(total, mine, other, nl.add)
    half = slice(32 * me, 32 * me + 32)
    nisa.tensor_copy(mine, total)
    nisa.dma_copy(out[half], mine[half])
    nisa.core_barrier(out, (0, 1))
    return out


check("programs that place tiles alike", on_trn2(lambda: placed_apart[2](B)), np.exp(B[:64]) + np.exp(B[64:]), 1e-5)


@nki.jit
def places(x):
    out = nl.ndarray((x.shape[0], x.shape[1] + 1), dtype=nl.int32)
    nisa.memset(out, 0)
    nisa.nonzero_with_count(dst=out, src=loaded(x), index_offset=16, padding_val=-1)
    return given(out)


check("nonzero_with_count", on_trn2(lambda: places(np.array([[0, 1, 1, 0, 0, 1, 0, 0]], np.float32))),
      [[17, 18, 21, -1, -1, -1, -1, -1, 3]])


# ---- calls of SDK 2.27 and 2.28
@nki.jit
def earlier(x):
    a, b, c = loaded(x), nl.ndarray(x.shape, dtype=x.dtype, buffer="sbuf"), loaded(x)
    eye = loaded(nl.shared_constant(ntensor.identity(x.shape[0], nl.float32)))
    nisa.affine_select(b, [[-1, x.shape[1]]], 0, 1, a, 0.0, nl.greater_equal)
    nisa.dma_copy(c, a, dst_rmw_op=nl.add, unique_indices=True, dge_mode=1)
    three, last = a.reshape((x.shape[0], 4, x.shape[1] // 4)), nl.ndarray((x.shape[0], 4), dtype=nl.float32)
    nisa.tensor_reduce(last, nl.add, three, axis=1)
    register = nisa.register_alloc(0)
    nisa.register_move(register, imm=2)
    half = nl.ndarray(x.shape, dtype=nl.bfloat16)
    nisa.tensor_copy(dst=half, src=a, dtype=nl.bfloat16)
    return (*given(b, c, last, eye), int(register), given(half))


E = f32(64, 64)
check("affine_select with its offset third", lambda: earlier(E)[0], np.tril(E))
check("dma_copy that adds", lambda: earlier(E)[1], 2 * E)
check("the last axis of three called 1", lambda: earlier(E)[2], E.reshape(64, 4, 16).sum(2), 1e-5)
check("constants of nki.tensor", lambda: earlier(E)[3], np.eye(64))
check("register_move of imm", lambda: earlier(E)[4], 2)
check("tensor_copy with the type of dst", lambda: np.asarray(earlier(E)[5], np.float32), E, 4e-3)


@nki.jit
def begun_with(x, number):
    total, product = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.psum), nl.ndarray(x.shape, dtype=nl.float32)
    t = loaded(x)
    nisa.memset(total, number)
    for _ in nl.affine_range(2):
        nisa.nc_matmul(total, t, t)
    nisa.tensor_copy(product, total)
    return given(product)


check("a sum that begins with zeros", lambda: begun_with(E, 0.0), 2 * E.T @ E, 1e-5)
for number in (0.0, 1.0):
    check(f"a sum that begins with {number}: warnings", lambda n=number: len(begun_with.compile(E, n).warnings), number)


# ---- patterns
@nki.jit
def turned(x):
    """A result that is copied once, its axes exchanged: the copy cannot be left out."""
    a, b = loaded(x), nl.ndarray((x.shape[0], 64), dtype=nl.float32)
    out = nl.ndarray((x.shape[0], 8, 8), dtype=nl.float32)
    nisa.tensor_scalar(b, a, nl.multiply, 3.0)
    nisa.tensor_copy(out, b.ap([[64, x.shape[0]], [1, 8], [8, 8]]))
    part = a[:, 8:16].ap([[64, x.shape[0]], [1, 4]], offset=2)
    return given(out, *(part,))


D = f32(32, 64)
check("a copy through a pattern", lambda: turned(D)[0], 3 * D.reshape(32, 8, 8).transpose(0, 2, 1))
check("a pattern counts from its own tensor", lambda: turned(D)[1], D[:, 10:14])

# ---- views whose place the run knows
@nki.jit
def picked(w, which):
    """Rows of one of several matrices: views of a view, made before its number is there."""
    row = nl.ndarray((1, 1), dtype=nl.int32)
    matrix = w.select(0, row)
    nisa.dma_copy(row, which)
    rows, columns = w.shape[1:]
    out = nl.ndarray((rows, columns), dtype=w.dtype, buffer=nl.shared_hbm)
    last = nl.ndarray((rows - 128, columns - 2), dtype=w.dtype, buffer=nl.shared_hbm)
    folded = nl.ndarray((128, 2, columns), dtype=w.dtype)
    nisa.dma_copy(out, matrix)
    part = nl.ndarray(last.shape, dtype=w.dtype)
    nisa.dma_copy(part, matrix[128:, 2:])
    nisa.dma_copy(last, part)
    nisa.dma_copy(folded, matrix[:256].reshape((2, 128, columns)).permute((1, 0, 2)))
    return out, last, given(folded), out[3, 1::2]


@nki.jit
def put_into(w, which, new):
    row = nl.ndarray((1, 1), dtype=nl.int32)
    nisa.dma_copy(row, which)
    nisa.dma_copy(w.select(1, row)[:, 3:7], loaded(new))
    out = nl.ndarray(w.shape, dtype=w.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, w)
    return out


W, WHICH = f32(3, 256, 64), np.array([[2]], np.int32)
for number, wanted in enumerate((W[2], W[2, 128:, 2:], W[2].reshape(2, 128, 64).transpose(1, 0, 2), W[2, 3, 1::2])):
    check(f"a matrix that the run picks {number}", lambda n=number: picked(W, WHICH)[n], wanted)
Z = W.copy()
Z[:, 2, 3:7] = 1
check("a part of a row that the run picks", lambda: put_into(W.copy(), WHICH, np.ones((3, 4), np.float32)), Z)


@nki.jit
def crossed(x, waits):
    """Each program reads the half that the other one writes."""
    out, mine = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm), 64 * nl.program_id(0)
    nisa.dma_copy(out[mine:mine + 64], loaded(x[mine:mine + 64]))
    if waits:
        nisa.core_barrier(out, (0, 1))
    loaded(out[64 - mine:128 - mine])
    return out


for waits in (True, False):
    check(f"a race is a warning, {waits}", on_trn2(lambda w=waits: len(crossed[2].compile(B, w).warnings)), not waits)


# ---- arguments that containers hold
class Pair(typing.NamedTuple):
    left: object
    right: object = None


class Held(nl.NKIObject):
    def __init__(self, tensor, scale):
        self.tensor, self.scale = tensor, scale


@dataclasses.dataclass(frozen=True)
class Frozen:
    tensors: dict
    unused: object = None


@nki.jit
def contained(pairs, held, frozen, nothing=(None, 1)):
    total = nl.zeros(held.tensor.shape, nl.float32)
    for x in [t for p in pairs for t in p if t is not None] + [held.tensor] + list(frozen.tensors.values()):
        nisa.scalar_tensor_tensor(total, loaded(x), nl.multiply, held.scale, nl.add, total)
    return given(total)


X = [f32(8, 16) for _ in range(5)]
check("arrays in containers", lambda: contained([Pair(X[0]), Pair(X[1], X[2])], Held(X[3], 2.0), Frozen({"a": X[4]})),
      2 * sum(X))


# ---- accumulators of VectorE
@nki.jit
def accumulated(x, begin):
    """The sum and the greatest number of all columns, half of them at a time; what is kept is not written out."""
    a, half = loaded(x), x.shape[1] // 2
    kept, total, negated, most = (nl.ndarray((x.shape[0], n), dtype=nl.float32) for n in (half, 1, 1, 1))
    one = dict(op0=nl.multiply, operand0=2.0)
    nisa.tensor_scalar_reduce(kept, a[:, :half], **one, reduce_op=nl.add)
    nisa.tensor_scalar_reduce(kept, a[:, half:], **one, reduce_op=nl.add, reduce_res=total,
                              reduce_cmd=nisa.reduce_cmd.reduce)
    nisa.tensor_scalar_reduce(kept, a[:, half:], **one, reduce_op=nl.add, reduce_res=negated, reduce_res_negate=True,
                              reduce_cmd=nisa.reduce_cmd.load_reduce, reduce_init=loaded(begin))
    nisa.tensor_scalar_reduce(kept, a[:, :half], **one, reduce_op=nl.maximum,
                              reduce_cmd=nisa.reduce_cmd.load_reduce, reduce_init=1.5)
    nisa.tensor_scalar_reduce(kept, a[:, half:], **one, reduce_op=nl.maximum, reduce_res=most,
                              reduce_cmd=nisa.reduce_cmd.reduce)
    return given(total, negated, most)


@nki.jit
def selected(x, bounds):
    """The greatest of the numbers between two columns, half of the columns at a time."""
    a, b, half = loaded(x), loaded(bounds), x.shape[1] // 2
    kept, most = nl.ndarray((x.shape[0], half), dtype=nl.float32), nl.ndarray((x.shape[0], 1), dtype=nl.float32)
    for n, command in enumerate((nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce)):
        nisa.range_select(kept, a[:, n * half:(n + 1) * half], nl.greater_equal, nl.less, b[:, :1], b[:, 1:],
                          reduce_cmd=command, reduce_res=most if n else None, range_start=n * half)
    return given(most)


S, BEGIN = f32(16, 64), f32(16, 1)
for number, wanted in enumerate((2 * S.sum(1, keepdims=True), -(BEGIN + 2 * S[:, 32:].sum(1, keepdims=True)),
                                 np.maximum(2 * S.max(1, keepdims=True), 1.5))):
    check(f"accumulators {number}", lambda n=number: accumulated(S, BEGIN)[n], wanted, 1e-5)
BOUNDS = np.repeat(np.array([[5, 50]], np.float32), 16, 0)
check("a selection in two parts", on_trn2(lambda: selected(S, BOUNDS)), S[:, 5:50].max(1, keepdims=True))


@nki.jit
def up_to(x, bounds, low):
    """The greatest of the numbers from a number on to a column."""
    a, b = loaded(x), loaded(bounds)
    kept, most = nl.ndarray(x.shape, dtype=nl.float32), nl.ndarray((x.shape[0], 1), dtype=nl.float32)
    nisa.range_select(kept, a, nl.greater_equal, nl.less, low, b[:, 1:], reduce_res=most)
    return given(most)


check("a selection with a number for a bound", on_trn2(lambda: up_to(S, BOUNDS, 7.0)), S[:, 7:50].max(1, keepdims=True))


# ---- names that are no instructions
@nki.jit
def named(x):
    a = loaded(x)
    assert isinstance(a.buffer, nl.MemoryRegion) and a.buffer == nl.MemoryRegion.sbuf and isinstance(a.dtype, nl.DType)
    assert not (x == None) and x != None and a != None  # noqa: E711
    assert {"float32": 4, "bfloat16": 2}[a.dtype] == 4 and "float8" in nl.float8_e4m3 and nl.bfloat16 == "bfloat16"
    assert nl.int32 in ("int32", "uint32") and a.dtype == np.float32 and nl.float8_e4m3 != nl.float8_e4m3fn
    assert x[1, 2].shape == (1,) and a[1, 2].shape == (1, 1)
    held = copy.deepcopy({"a": a})
    assert held["a"] is a
    try:
        nisa.tensor_copy(a, a, engine=nisa.engine.dma)
    except nisa.NkiValidationError:
        return given(a)
    raise AssertionError("DMA copied a tile")


check("documented names", lambda: named(D), D)



# ---- the scheduler of this dialect looks few instructions ahead: chains longer than that overlap where the kernel has
# them side by side
@nki.jit
def chains(x, units):
    """Four chains that go to and fro between two engines, `units` of them side by side."""
    out = nl.ndarray((128, 4 * 256), dtype=x.dtype, buffer=nl.shared_hbm)
    for first in range(0, 4, units):
        tiles = [loaded(x) for _ in range(units)]
        for _ in range(40):
            for i, tile in enumerate(tiles):
                tiles[i] = nl.ndarray((128, 256), dtype=x.dtype)
                nisa.tensor_scalar(tiles[i], tile, nl.multiply, 2.0, engine=nisa.vector_engine)
            for i, tile in enumerate(tiles):
                tiles[i] = nl.ndarray((128, 256), dtype=x.dtype)
                nisa.activation(tiles[i], op=nl.copy, data=tile, scale=0.5)
        for i, tile in enumerate(tiles):
            nisa.dma_copy(dst=out[:, (first + i) * 256:(first + i + 1) * 256], src=tile).depends_on(
                kind=nisa.dependency.runtime)
    return out


W = f32(128, 256)
check("chains side by side", lambda: chains(W, 2), np.tile(W, 4))
ALONE, PAIRS = (chains.compile(W, n).time()["seconds"] for n in (1, 2))
check("two chains side by side take less", lambda: PAIRS < 0.9 * ALONE, True)

print(f"{COUNT[0]} checks")
if FAILED:
    sys.exit("\n".join(FAILED))
