"""RMS normalisation of rows whose number is no multiple of 128: a mask leaves out the partitions beyond."""
import math

import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def rmsnorm(x, gamma):
    rows, cols = x.shape
    out = nl.ndarray((rows, cols), dtype=x.dtype, buffer=nl.shared_hbm)
    i_p, i_f = nl.mgrid[0:128, 0:cols]
    weight = nl.load(gamma.reshape((1, cols)))
    for r in nl.affine_range(math.ceil(rows / 128)):
        inside = r * 128 + i_p < rows
        tile = nl.load(x[r * 128 + i_p, i_f], mask=inside)
        squares = nl.sum(nl.square(tile, mask=inside), axis=[1], mask=inside, keepdims=True)
        factor = nl.rsqrt(nl.add(nl.multiply(squares, 1.0 / cols, mask=inside), 1e-6, mask=inside), mask=inside)
        nl.store(out[r * 128 + i_p, i_f], nl.multiply(nl.multiply(tile, factor, mask=inside), weight, mask=inside), mask=inside)
    return out


def inputs():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((300, 1024)).astype(np.float32), rng.standard_normal(1024).astype(np.float32)]


def reference(x, gamma):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * gamma


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(rmsnorm(*arrays) - reference(*arrays)).max())
