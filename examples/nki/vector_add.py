"""c = a + b: the smallest kernel. Tiles of 128 partitions are loaded, added on VectorE, stored."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def vector_add(a, b):
    rows, cols = a.shape
    out = nl.ndarray((rows, cols), dtype=a.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(rows // nl.tile_size.pmax):
        part = nl.ds(r * nl.tile_size.pmax, nl.tile_size.pmax)
        nl.store(out[part, :], nl.load(a[part, :]) + nl.load(b[part, :]))
    return out


def inputs():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((512, 2048)).astype(np.float32) for _ in range(2)]


def reference(a, b):
    return a + b


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(vector_add(*arrays) - reference(*arrays)).max())
