"""What scripts of kernels share: results that are compared with NumPy's, calls that are refused, moves to the chip and
back."""
import sys

import numpy as np
import nki.isa as nisa
import nki.language as nl

FAILED, COUNT = [], [0]


def check(name, got, want, most=1e-6):
    COUNT[0] += 1
    try:
        a, b = np.asarray(got()).astype(np.float64), np.asarray(want).astype(np.float64)
        if a.shape != b.shape or not np.allclose(a, b, rtol=most, atol=most):
            FAILED.append(f"{name}: {a.ravel()[:4]} is not {b.ravel()[:4]}")
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")


def refused(name, call, *words):
    COUNT[0] += 1
    try:
        call()
        FAILED.append(f"{name} is taken")
    except Exception as error:  # noqa: BLE001
        if any(word not in str(error) for word in words):
            FAILED.append(f"{name}: {error}")


def ended():
    print(f"{COUNT[0]} checks")
    if FAILED:
        sys.exit("\n".join(FAILED))


def loaded(src, shape=None, dtype=None):
    out = nl.ndarray(shape or src.shape, dtype=dtype or src.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=out, src=src)
    return out


def stored(src):
    out = nl.ndarray(src.shape, dtype=src.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=src)
    return out
