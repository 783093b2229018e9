"""Who makes the descriptors of copies on Trn2, and what that costs; the scheduler of the newer dialect.

python3 -m trnsim.nki --instance_type trn2.3xlarge --no_numbers tests/nki/copies.py
"""
import sys

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
from checks import COUNT, FAILED, check

COPIES = 64
X = np.zeros((128, COPIES * 16), np.float32)


def copied(x, mode, engines):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(COPIES):
        tile = nl.ndarray((128, 16), dtype=x.dtype, buffer=nl.sbuf)
        part = slice(i * 16, (i + 1) * 16)
        engine = engines[i % len(engines)]
        nisa.dma_copy(dst=tile, src=x[:, part], dge_mode=mode, engine=engine)
        nisa.dma_copy(dst=out[:, part], src=tile, dge_mode=mode, engine=engine)
    return out


@nki.jit
def chosen_by_compiler(x):
    return copied(x, nisa.dge_mode.unknown, [nisa.engine.unknown])


@nki.jit
def both_units(x):
    return copied(x, nisa.dge_mode.hwdge, [nisa.engine.sync, nisa.engine.scalar])


@nki.jit
def made_before(x):
    return copied(x, nisa.dge_mode.none, [nisa.engine.unknown])


@nki.jit
def apart(x):
    """A reduction that waits for another engine, and further ones that do not."""
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
    for i in range(8):
        tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, i * 128:(i + 1) * 128])
        nisa.tensor_scalar(tile, tile, nl.multiply, 2.0, engine=nisa.vector_engine)
        nisa.activation(tile, op=nl.exp, data=tile)
        nisa.tensor_reduce(dst=sums[:, i:i + 1], op=nl.add, data=tile, axis=(1,))
    nisa.dma_copy(dst=out, src=sums)
    return out


@nki.jit
def kept(x):
    with nl.no_reorder():
        return apart.func(x)


@nki.jit
def left_out(x):
    return copied(x, None, [None])


def microseconds(kernel):
    return kernel.compile(X).time()["seconds"] * 1e6


ONE, TWO, NONE = microseconds(chosen_by_compiler), microseconds(both_units), microseconds(made_before)
EACH = 0.559 + 64 / 1200 + 0.038  # us: the descriptors, and the sequencer's next instruction
check("one unit makes the descriptors of all", lambda: 0 < ONE - 2 * COPIES * EACH < 20, True)
check("ScalarE's unit makes those that it is given", lambda: 0 < TWO - COPIES * EACH < 20, True)
check("descriptors made before cost nothing", lambda: NONE < TWO, True)
check("None is no mode", lambda: microseconds(left_out) == ONE, True)
check("instructions overtake one that waits, but not under no_reorder",
      lambda: microseconds(apart) < 0.9 * microseconds(kept), True)

print(f"{COUNT[0]} checks")
if FAILED:
    sys.exit("\n".join(FAILED))
