"""Who makes the descriptors of loads, stores and copies of the older dialect on Trn2, and what that costs.

python3 -m trnsim.nki --instance_type trn2.3xlarge --no_numbers tests/nki/copies_older.py
"""
import sys

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
from checks import COUNT, FAILED, check

COPIES = 64
X = np.zeros((128, COPIES * 16), np.float32)


@nki.jit
def loaded(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(COPIES):
        nl.store(out[:, nl.ds(i * 16, 16)], nl.load(x[:, nl.ds(i * 16, 16)]))
    return out


def copied(x, **mode):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(COPIES):
        tile = nl.ndarray((128, 16), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, nl.ds(i * 16, 16)], **mode)
        nisa.dma_copy(dst=out[:, nl.ds(i * 16, 16)], src=tile, **mode)
    return out


@nki.jit
def chosen_by_compiler(x):
    return copied(x)


@nki.jit
def left_out(x):
    return copied(x, dge_mode=None)


@nki.jit
def by_hardware(x):
    return copied(x, dge_mode=nisa.dge_mode.hwdge)


def microseconds(kernel):
    return kernel.compile(X).time()["seconds"] * 1e6


LOADED, CHOSEN, HARDWARE = (microseconds(k) for k in (loaded, chosen_by_compiler, by_hardware))
EACH = 0.559  # us: the descriptors of one copy
check("descriptors of loads and stores are made before", lambda: LOADED < COPIES * EACH, True)
check("copies without a mode are as loads and stores", lambda: abs(CHOSEN - LOADED) < 1, True)
check("None is no mode", lambda: microseconds(left_out) == CHOSEN, True)
check("both units make those of hwdge", lambda: 0 < HARDWARE - COPIES * EACH < 20, True)

print(f"{COUNT[0]} checks")
if FAILED:
    sys.exit("\n".join(FAILED))
