"""Kernels as libraries of the older dialect write them, against NumPy: experts and rows that the run picks, masks whose
inequality has two indices, tiles that a loop places, programs that meet."""
import collections
import sys

import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc.nki._private.private_api import sendrecv
from neuronxcc.nki.isa.constants import oob_mode
from neuronxcc.starfish.support.dtype import as_native_type, bfloat16, static_cast
from neuronxcc.starfish.support.util import allclose, isclose
from trnsim.nki import _jit

rng = np.random.default_rng(7)
FAILED, COUNT = [], [0]
Skip = collections.namedtuple("Skip", ["token", "weight"])


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def check(name, got, want, most=1e-5):
    COUNT[0] += 1
    try:
        a, b = np.asarray(got(), np.float64), np.asarray(want, np.float64)
        if a.shape != b.shape or not np.allclose(a, b, rtol=most, atol=most * np.abs(b).max()):
            FAILED.append(f"{name}: {a.ravel()[:4]} is not {b.ravel()[:4]}")
    except Exception as error:  # noqa: BLE001
        FAILED.append(f"{name}: {type(error).__name__}: {error}")


@nki.jit
def experts(x, weights, expert_of, tokens, skip=Skip(True, False)):
    """Each block of 128 tokens is multiplied with the weights of its expert."""
    (rows, inner), columns = x.shape, weights.shape[2]
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    for b in nl.sequential_range(tokens.shape[0]):
        expert, token = nl.load(expert_of[b], dtype=np.int32), nl.load(tokens[b, p])
        mode = oob_mode.skip if skip.token else oob_mode.error
        block = nl.load(x[token[p, 0], nl.arange(inner)[None, :]], mode=mode)
        sums = nl.zeros((128, columns), dtype=np.float32, buffer=nl.psum)
        for h in nl.affine_range(inner // 128):
            row, column = nl.mgrid[0:128, 0:columns]
            part = nl.load(weights[expert[0, 0], h * 128 + row, column])
            sums += nisa.nc_matmul(nl.copy(nisa.nc_transpose(block[0:128, nl.ds(h * 128, 128)])), part)
        nl.store(out[token[p, 0], nl.arange(columns)[None, :]], nl.multiply(sums, 2.0))
    return out


X, W = f32(256, 256), f32(4, 256, 64)
CHOSEN, TOKENS = np.array([[2], [1]], np.int32), rng.permutation(256).reshape(2, 128).astype(np.int32)
WANT = np.zeros((256, 64))
for _b in range(2):
    WANT[TOKENS[_b]] = 2 * (X[TOKENS[_b]].astype(np.float64) @ W[CHOSEN[_b, 0]])
check("experts that the run picks", lambda: experts(X, W, CHOSEN, TOKENS), WANT)


@nki.jit
def flat(x, count):
    """The first `count` numbers, row by row, doubled; the others are 1."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    p, f = nl.arange(x.shape[0])[:, None], nl.arange(x.shape[1])[None, :]
    nl.store(out, nl.ones(x.shape, dtype=x.dtype))
    mask = x.shape[1] * p + f < count
    nl.store(out[p, f], nl.multiply(nl.load(x[p, f], mask=mask), 2.0, mask=mask), mask=mask)
    return out


F = f32(64, 48)
for _count in (64 * 48, 1000, 48, 5):
    check(f"the first {_count} numbers of rows", lambda n=_count: flat(F, n),
          np.where(np.arange(F.size).reshape(F.shape) < _count, 2 * F, 1))


@nki.jit
def placed(x):
    """A loop that counts an address up: its tiles lie where the first iteration puts them."""
    out, at = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm), 0
    for i in nl.affine_range(8):
        t = nl.ndarray((nl.par_dim(128), 16384), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=at))
        at += 16384 * 4
        t[0:128, 0:64] = nl.load(x[i])
        nl.store(out[i], nl.exp(t[0:128, 0:64]))
    return out


E = f32(8, 128, 64)
check("tiles that a loop places", lambda: placed(E), np.exp(E))


@nki.jit
def divided(x):
    """The quotient of whole numbers is no whole number."""
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x) / 7)
    return out


N = rng.integers(-50, 50, (32, 8)).astype(np.int32)
check("whole numbers divided", lambda: divided(N), N / 7)


@nki.jit
def halves(x):
    """Each of two programs has half of the columns and gets the other's greatest numbers."""
    me, out = nl.program_id(0), nl.ndarray((x.shape[0], 2), dtype=x.dtype, buffer=nl.shared_hbm)
    width = x.shape[1] // 2
    own, other = nl.max(nl.load(x[:, nl.ds(me * width, width)]), axis=1), nl.ndarray((x.shape[0], 1), dtype=x.dtype)
    sendrecv(src=own, dst=other, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=1)
    nl.store(out[:, me], nl.maximum(own, other))
    return out


def on_trn2():
    before, _jit.settings.machine = _jit.settings.machine, "trn2.3xlarge"
    try:
        return halves[2](F)
    finally:
        _jit.settings.machine = before


check("programs that meet", on_trn2, np.repeat(F.max(1, keepdims=True), 2, 1))


# ---- hints of loops, and how harnesses compare
@nki.jit(experimental_flags="experimental-native-scalar-support", enable_out_of_bound_check=False)
def hinted(x):
    """Loops with the number of buffers that the compiler shall keep."""
    out, p, f = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm), nl.arange(32)[:, None], nl.arange(8)[None, :]
    for i in nl.sequential_range(0, x.shape[1], 16, multi_buffer=2):
        for j in nl.affine_range(2, multi_buffer=1):
            nl.store(out[p, i + 8 * j + f], nl.exp(nl.load(x[p, i + 8 * j + f])))
    return out


E = f32(32, 64)
check("loops with hints", lambda: hinted(E), np.exp(E))
HALF, FAR = static_cast(E, bfloat16), np.array([1.0, np.nan, np.inf, 100.0])
check("numbers of fewer bits", lambda: as_native_type(HALF), nl.static_cast(HALF, np.float32))
check("close to the greatest number", lambda: [
    allclose(HALF, E, rtol=1e-2), allclose(HALF, E, rtol=1e-9), allclose(FAR, FAR), allclose(FAR, FAR, equal_nan=True),
    allclose(FAR, FAR, equal_nan=True, equal_inf=True)], [1, 0, 0, 0, 1])
check("elements that are close", lambda: [isclose(FAR, FAR + 0.5, rtol=0.01, mode=mode) for mode in ("max", "py")],
      [[1, 0, 0, 1], [0, 0, 0, 1]])
check("elements beside the greatest", lambda: isclose(FAR[::3], FAR[::3] + 0.5, rtol=0.01), [1, 1])

print(f"{COUNT[0]} checks")
if FAILED:
    sys.exit("\n".join(FAILED))
