"""Registers whose number is known while a kernel is traced, and numbers that are no longer known: written over in any
way, rounded by the type of a tile, or of a tile that took the place of another one. The masks of shuffles are made
once."""
import numpy as np
import neuronxcc.nki as older
import neuronxcc.nki.isa as oisa
import neuronxcc.nki.language as onl
import nki
import nki.isa as nisa
import nki.language as nl
from trnsim.nki import _jit, _report

import checks
from checks import loaded, stored

_jit.settings.machine = "trn2.3xlarge"
NUMBERS = np.array([[5, 2, 3, 4, 5, 6, 7, 1]], np.int32)


def number(value=None, dtype=nl.int32):
    out = nl.ndarray((1, 1), dtype=dtype, buffer=nl.sbuf)
    if value is not None:
        nisa.memset(dst=out, value=value)
    return out


def times(body):
    """How often a loop runs whose bound `body` returns as a tile; `body` gets eight numbers of the run."""
    @nki.jit
    def kernel(numbers):
        run, count = nisa.register_alloc(), number(0.0, nl.float32)
        nisa.register_load(run, body(loaded(numbers)))
        for _ in nl.dynamic_range(run):
            nisa.tensor_scalar(dst=count, data=count, op0=nl.add, operand0=1.0)
        return stored(count)
    return lambda: kernel(NUMBERS)


def check(name, body, want):
    checks.check(name, times(body), np.array([[want]]))


# ---- a number that is known is written over
def assigned(s):
    out = number(3)
    out[0:1, 0:1] = s[0:1, 0:1]
    return out


def result_assigned(s):
    out = number(3)
    out[...] = nl.add(s[0:1, 0:1], s[0:1, 1:2])
    return out


def added(s):
    out = number(3)
    out += s[0:1, 0:1]
    return out


def of_another_type(s):
    out = number(70000)
    low = out.view(nl.int16)
    nisa.memset(dst=low[0:1, 1:2], value=0)
    return out


def seen_as_another_type(s):
    return number(65536 + 9).view(nl.int16)[0:1, 0:1]


def by_dma(s):
    out = number(3)
    nisa.dma_compute(dst=out, srcs=[s[0:1, 0:1], s[0:1, 1:2]], scales=[1.0, 1.0], reduce_op=nl.add)
    return out


def beside(s):
    """Another number of the same tile is written: this one stays as it is."""
    out = nl.ndarray((1, 4), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=out[0:1, 1:2], value=6)
    nisa.tensor_copy(dst=out[0:1, 2:3], src=s[0:1, 0:1])
    return out[0:1, 1:2]


check("assigned", assigned, 5)
check("the result of an instruction is assigned", result_assigned, 7)
check("added to", added, 8)
check("half of it is written", of_another_type, 70000 % 65536)
check("half of it is read", seen_as_another_type, 9)
check("written by DMA", by_dma, 7)
check("another one of its tile is written", beside, 6)


# ---- a number that the tile's type does not hold: the chip rounds it
def copied(value, first, second):
    def body(s):
        out = number(dtype=second)
        nisa.tensor_copy(dst=out, src=number(value, first))
        return out
    return body


def doubled(s):
    half, out = number(100, nl.int8), number(dtype=nl.int8)
    nisa.tensor_tensor(dst=out, data1=half, data2=half, op=nl.add)
    wide = number()
    nisa.tensor_scalar(dst=wide, data=out, op0=nl.maximum, operand0=0)
    return wide


check("2.7 as a whole number", copied(2.7, nl.float32, nl.int32), 3)
check("257 in bf16", copied(257, nl.bfloat16, nl.int32), 256)
check("a sum above the greatest number of its type", doubled, 127)


# ---- a tile that is gone, and another one at its address
def replaced(s):
    wide, found, spare = nl.ndarray((1, 8), dtype=nl.float32, buffer=nl.sbuf), number(0), number(0, nl.float32)
    nisa.tensor_copy(dst=wide, src=s)
    for i in range(8):
        gone = [number(30, nl.float32) for _ in range(6)]
        for tile in gone:
            nisa.tensor_copy(dst=spare, src=tile)
        del gone, tile
        floor = nl.floor(wide[0:1, i:i + 1])
        one = number()
        nisa.tensor_copy(dst=one, src=floor)
        run = nisa.register_alloc()
        nisa.register_load(run, one)
        for _ in nl.dynamic_range(run):
            nisa.tensor_scalar(dst=found, data=found, op0=nl.add, operand0=1)
        del floor, one
    return found


check("tiles that take the place of known ones", replaced, int(NUMBERS.sum()))


# ---- iterations, which do not overlap
@nki.jit
def counted(numbers):
    run, left = nisa.register_alloc(), loaded(numbers)
    nisa.register_load(run, left[0:1, 0:1])
    for _ in nl.dynamic_range(2, 5):
        nisa.tensor_scalar(dst=left, data=left, op0=nl.add, operand0=0)
    while run:
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
        nisa.register_load(run, left[0:1, 0:1])
    return stored(left)


COUNTED = counted.compile(NUMBERS)
STILL = COUNTED.time()["engines"]["tensor"]
checks.check("engines stand still between iterations", lambda: [STILL["busy"], STILL["waiting"]["barrier"] > 7 * 5e-6],
             [0, True])
checks.check("iterations", lambda: [COUNTED.iterations, "8 iterations" in _report.text(COUNTED, COUNTED.time(True))],
             [3 + 5, True])


# ---- the programs of a grid of cores, whose time is the slower one's
@nki.jit
def shared_out(x, times, meet=False):
    """Program 0 doubles its half of the rows once, program 1 several times."""
    out, core, half = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm), nl.program_id(0), x.shape[0] // 2
    tile = loaded(x[core * half:(core + 1) * half])
    for _ in range(times if core else 1):
        nisa.activation(dst=tile, op=nl.copy, data=tile, scale=2.0)
    if meet:
        nisa.core_barrier(data=out, cores=(0, 1))
    nisa.dma_copy(dst=out[core * half:(core + 1) * half], src=tile)
    return out


HALVES = np.ones((256, 512), np.float32)
ON_TWO, FEWER, MET = (shared_out[2].compile(HALVES, *more) for more in ((9,), (1,), (9, True)))
checks.check("programs of a grid", lambda: [
    "has 2 cores" in _report.text(ON_TWO, ON_TWO.time(True)), ON_TWO.time()["instructions"],
    "has 2 cores" in _report.text(MET, MET.time(True)),
    "cores" in _report.text(COUNTED, COUNTED.time(True))], [True, FEWER.time()["instructions"] + 8, True, False])
checks.check("times of cores", lambda: [
    FEWER.time()["seconds"] < ON_TWO.time()["seconds"], MET.time()["seconds"] / ON_TWO.time()["seconds"],
    ON_TWO.time()["hbm_read_bytes"]], [True, 1, HALVES.nbytes // 2])  # none of the data are of both cores
checks.check("numbers of both", lambda: shared_out[2](HALVES, 3), np.repeat([[2.0], [8.0]], 128, 0) * HALVES)


@nki.jit
def own_register(numbers):
    run, left = nisa.register_alloc(), loaded(numbers)
    nisa.register_load(run, left[0:1, 0:1])

    def body(_):
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
        nisa.register_load(run, left[0:1, 0:1])
        return run

    nl.while_loop(run, body)
    return stored(left)


checks.check("a loop whose body returns its own register", lambda: own_register.compile(NUMBERS).iterations, 5)


@nki.jit
def asked_before(numbers):
    run, left = nisa.register_alloc(), loaded(numbers)
    nisa.register_load(run, left[0:1, 0:1])
    if run:
        while run:
            nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
            nisa.register_load(run, left[0:1, 0:1])
            if run:
                nisa.tensor_scalar(dst=left, data=left, op0=nl.add, operand0=0)
    return stored(left)


checks.check("the condition of an if ends no iteration", lambda: asked_before.compile(NUMBERS).iterations, 5)


@nki.jit
def left_early(numbers):
    """Iterations of loops whose heads are of several lines, or that `break` ends."""
    run, left = nisa.register_alloc(), loaded(numbers)
    nisa.register_load(run, left[0:1, 0:1])
    while_left = 1 if run else 0  # no head of a loop
    for _ in nl.dynamic_range(run):
        if while_left == 3:
            break
        while_left += 1
    while (
        bool(
            run)
    ):
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
        nisa.register_load(run, left[0:1, 0:1])
        if (number := 1 if run else 2) and while_left == 4:
            break
        while_left += number
    while run: nisa.register_move(run, 1 if number == 3 else 0)  # noqa: E701
    return stored(left)


checks.check("heads of loops", lambda: left_early.compile(NUMBERS).iterations, 3 + 2 + 1)
LOOPS = {counted.func.__code__.co_firstlineno + n for n in (4, 6)}
LINES = {int(line[0].rsplit(":", 1)[1]) for line in COUNTED.time(True)["lines"] if ":" in line[0]}
checks.check("the wait of an iteration is its loop's", lambda: LOOPS <= LINES, True)


def halves(count, dynamic):
    """Seconds of a kernel that halves so many tiles."""
    def kernel(numbers):
        out = nl.ndarray((16, 128, 512), nl.float32, buffer=nl.shared_hbm)

        def body(i):
            tile = loaded(numbers)
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=0.5)
            nisa.dma_copy(dst=out.ap(pattern=[[512, 128], [1, 512]], offset=0, scalar_offset=i, indirect_dim=0)
                          if dynamic else out[i], src=tile)

        if dynamic:
            nl.fori_loop(0, count, body)
        else:
            for i in range(count):
                body(i)
        return out
    return nki.jit(kernel).compile(np.ones((128, 512), np.float32)).time()["seconds"]


ONE, ITERATION = halves(2, False) - halves(1, False), 5.8e-6  # engine.iteration
EACH = [halves(n + 4, True) - halves(n, True) for n in (4, 8)]
checks.check("iterations do not overlap",
             lambda: [EACH[0] / 4 > ONE + ITERATION, abs(EACH[1] / EACH[0] - 1) < 0.01], [True, True])


# ---- a product in a loop's body, which is traced once: it overwrites its bank in every iteration, or in none
def products(loop, factor):
    """The sum over a loop of what its body leaves in PSUM, which is declared in front of it: so often A.T @ B."""
    @nki.jit
    def kernel(a, b, numbers):
        run, left, a, b = nisa.register_alloc(), loaded(numbers), loaded(a), loaded(b)
        nisa.register_load(run, left[0:1, 1:2])  # 2
        psum = nl.ndarray((16, 32), dtype=nl.float32, buffer=nl.psum)
        total = nl.zeros((16, 32), dtype=nl.float32)

        def product():
            nisa.nc_matmul(dst=psum, stationary=a, moving=b)

        def add(_=None):
            nisa.tensor_tensor(dst=total, data1=total, data2=psum, op=nl.add)

        def twice(_=None):
            product()
            product()
            add()

        def count_down(register):
            nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
            nisa.register_load(register, left[0:1, 1:2])
            return register

        loop(run, product, add, twice, count_down)
        return stored(total)
    a, b = np.random.default_rng(1).standard_normal((2, 8, 32)).astype(np.float32)
    a = a[:, :16].copy()
    checks.check(loop.__name__, lambda: kernel(a, b, NUMBERS), factor * (a.astype(np.float64).T @ b), 1e-5)


def fori(run, product, add, twice, count_down):
    nl.fori_loop(0, run, twice)


def by_range(run, product, add, twice, count_down):
    for _ in nl.dynamic_range(run):
        twice()


def by_while(run, product, add, twice, count_down):
    while run:
        twice()
        count_down(run)


def by_while_loop(run, product, add, twice, count_down):
    def body(register):
        twice()
        return count_down(register)
    nl.while_loop(run, body)


def in_another(run, product, add, twice, count_down):
    for _ in nl.dynamic_range(3):
        product()
        for _ in nl.dynamic_range(run):
            product()
        add()


def behind_another(run, product, add, twice, count_down):
    """The one in front of the loop is added to, and so is what the loop leaves."""
    product()
    for _ in nl.dynamic_range(run):
        product()
    add()
    product()
    add()


def behind_its_first(run, product, add, twice, count_down):
    for _ in nl.dynamic_range(run):
        product()
    product()
    add()


for loop, factor in ((fori, 4), (by_range, 4), (by_while, 4), (by_while_loop, 4), (in_another, 9), (behind_another, 7),
                     (behind_its_first, 2)):
    products(loop, factor)


# ---- shuffles
X = np.random.default_rng(0).standard_normal((64, 16)).astype(np.float32)
TURNED, ONE = list(range(31, -1, -1)), [5] * 32


@nki.jit
def shuffled(x, masks):
    out = nl.ndarray((len(masks), 64, 16), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in nl.affine_range(len(masks)):
        t = loaded(x)
        for p in (0, 32):
            nisa.nc_stream_shuffle(dst=t[p:p + 32], src=t[p:p + 32], shuffle_mask=masks[i])
        nisa.dma_copy(dst=out[i], src=t)
    return out


@older.jit
def shuffled_older(x, n):
    out = onl.ndarray((n, 32, 16), dtype=np.float32, buffer=onl.shared_hbm)
    for i in onl.affine_range(n):
        t, o = onl.load(x[0:32]), onl.ndarray((32, 16), dtype=np.float32)
        oisa.nc_stream_shuffle(src=t, dst=o, shuffle_mask=TURNED if i % 2 else ONE)
        onl.store(out[i], o)
    return out


def of_groups(masks):
    return [X.reshape(2, 32, 16)[:, m].reshape(64, 16) for m in masks]


MASKS = [ONE, TURNED, ONE, TURNED]
checks.check("shuffles", lambda: shuffled(X, MASKS), of_groups(MASKS))
checks.check("shuffles of the older dialect", lambda: shuffled_older(X, 4), [w[:32] for w in of_groups(MASKS)])
COMPILED = shuffled.compile(X, [ONE] * 8)
checks.check("masks are a part of the instruction", lambda: [COMPILED.time()["hbm_read_bytes"]], [8 * X.nbytes])
checks.check("no warnings", lambda: [len(c.warnings) for c in (COMPILED, shuffled_older.compile(X, 4))], [0, 0])

checks.ended()
