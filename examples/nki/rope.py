"""Rotary positions: the halves of each head are turned against each other."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def rope(x, cos, sin):
    seq, heads, size = x.shape
    half = size // 2
    out = nl.ndarray((seq, heads, size), dtype=x.dtype, buffer=nl.shared_hbm)
    for t in nl.affine_range(seq // 128):
        c, s = nl.load(cos[nl.ds(t * 128, 128), :]), nl.load(sin[nl.ds(t * 128, 128), :])
        for h in nl.affine_range(heads):
            tile = nl.load(x[nl.ds(t * 128, 128), h, :])
            turned = nl.ndarray((128, size), dtype=x.dtype, buffer=nl.sbuf)
            low, high = tile[:, 0:half], tile[:, half:size]
            turned[:, 0:half] = nl.subtract(nl.multiply(low, c), nl.multiply(high, s))
            turned[:, half:size] = nl.add(nl.multiply(high, c), nl.multiply(low, s))
            nl.store(out[nl.ds(t * 128, 128), h, :], turned)
    return out


def inputs():
    rng = np.random.default_rng(0)
    angle = np.arange(512)[:, None] / 10000 ** (np.arange(32)[None, :] / 32)
    return [rng.standard_normal((512, 8, 64)).astype(np.float32), np.cos(angle).astype(np.float32),
            np.sin(angle).astype(np.float32)]


def reference(x, cos, sin):
    low, high = x[..., :32], x[..., 32:]
    c, s = cos[:, None, :], sin[:, None, :]
    return np.concatenate([low * c - high * s, high * c + low * s], axis=-1)


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(rope(*arrays) - reference(*arrays)).max())
