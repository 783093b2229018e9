"""Two programs of a launch grid that meet: each has its core, and waits there for the other one."""
import checks
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
from checks import check, loaded, refused
from trnsim.nki import _jit

_jit.settings.machine = "trn2.3xlarge"
X = np.ones((128, 2048), np.float32)


def busy(tile, times):
    for _ in range(times):
        nisa.activation(dst=tile, op=nl.copy, data=tile, scale=1.0)


@nki.jit
def relay(x, first, second, meet):
    """Program 0 works in front of the meeting for others to read, program 1 behind it."""
    me, out = nl.program_id(0), nl.ndarray((2, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = loaded(x)
    if me == 0:
        busy(tile, first)
        nisa.dma_copy(dst=out[0], src=tile)
    if meet:
        nisa.core_barrier(data=out, cores=(0, 1))
    if me == 1:
        given = loaded(out[0] if meet else x)
        busy(given, second)
        nisa.dma_copy(dst=out[1], src=given)
    elif not meet:
        nisa.dma_copy(dst=out[1], src=tile)
    return out


def seconds(kernel, *args):
    return kernel.compile(*args).time()["seconds"]


TOGETHER, ONE = seconds(relay[2], X, 20, 20, False), seconds(relay[2], X, 0, 20, False)
RELAYED = seconds(relay[2], X, 20, 20, True)
WORK = 20 * 2048 / 1.2e9  # of a program's activations, at an element of a partition each cycle of ScalarE's
check("without a meeting both work at once", lambda: TOGETHER < 1.2 * ONE, True)
check("a meeting puts one's work behind the other's", lambda: RELAYED > TOGETHER + 0.9 * WORK, True)
check("numbers behind a meeting", lambda: relay[2](X, 2, 3, True), np.ones((2, *X.shape)))


@nki.jit
def exchanged(x, uneven, columns):
    """Each program works, gets the other's tile, and adds its own."""
    me, out = nl.program_id(0), nl.ndarray((2, x.shape[0], columns), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, other = loaded(x[:, :columns]), nl.ndarray((x.shape[0], columns), dtype=x.dtype, buffer=nl.sbuf)
    busy(tile, uneven if me else 1)
    nisa.sendrecv(src=tile, dst=other, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=other, op=nl.add)
    nisa.dma_copy(dst=out[me], src=tile)
    return out


EVEN, UNEVEN, SMALL = (exchanged[2].compile(X, *more) for more in ((1, 2048), (21, 2048), (1, 64)))
check("the slower program holds up the other", lambda: UNEVEN.time()["seconds"] > EVEN.time()["seconds"] + 0.9 * WORK, True)
check("a core has its own work alone", lambda: EVEN.time()["instructions"], 6)
check("a core reads its own part", lambda: EVEN.time()["hbm_read_bytes"], X.nbytes)
check("more bytes take longer", lambda: EVEN.time()["seconds"] > SMALL.time()["seconds"] + 2e-6, True)
check("numbers of an exchange", lambda: exchanged[2](X, 3, 2048), 2 * np.ones((2, *X.shape)))
check("its text", lambda: "has 2 cores: the figures are those of the slower one" in repr(EVEN), True)
check("both wait for the slower one", lambda: UNEVEN.time()["engines"]["gpsimd"]["waiting"].get("barrier", 0) < WORK, True)


@nki.jit
def in_turn(numbers):
    """How often program 1 works is a number of program 0's, which only the run knows."""
    me, out = nl.program_id(0), nl.ndarray((2, 1, 1), dtype=nl.int32, buffer=nl.shared_hbm)
    own, other, times = loaded(numbers[me]), nl.ndarray((1, 1), nl.int32, buffer=nl.sbuf), nisa.register_alloc()
    nisa.tensor_scalar(dst=own, data=own, op0=nl.multiply, operand0=2)
    nisa.sendrecv(src=own, dst=other, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=3)
    nisa.register_load(times, other)
    for _ in nl.dynamic_range(0, times):
        nisa.tensor_scalar(dst=own, data=own, op0=nl.add, operand0=1)
    nisa.dma_copy(dst=out[me], src=own)
    return out


GIVEN = np.array([[[3]], [[1]]], np.int32)
check("a number that was sent bounds a loop", lambda: in_turn[2](GIVEN).ravel(), [2 * 3 + 2, 2 * 1 + 6])
check("and the time is the longer loop's", lambda: seconds(in_turn[2], GIVEN) > 5 * 5.8e-6, True)


@nki.jit
def of_one(x):
    """A kernel for any number of cores meets nothing on one."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=loaded(x))
    nisa.core_barrier(out, (0))
    return out


check("a barrier of one core", lambda: of_one(X), X)
refused("a barrier of cores that there are not", lambda: relay[3](X, 1, 1, True), "two programs meet")

checks.ended()
