"""A selective scan: h = exp(delta a) h + delta u b for each channel and state, the states summed with c."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

CHUNK = 512  # one bank of PSUM: rows that are broadcast there need no copy to SBUF


@nki.jit
def mamba_scan(delta, u, a, b, c):
    channels, seq = delta.shape
    states = a.shape[1]
    out = nl.ndarray((channels, seq), dtype=delta.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(channels // 128):
        rows = nl.ds(i * 128, 128)
        rates = nl.load(a[rows, :])
        last = nl.zeros((128, states), dtype=nl.float32, buffer=nl.sbuf)
        for t in nl.sequential_range(seq // CHUNK):
            part = nl.ds(t * CHUNK, CHUNK)
            d, x = nl.load(delta[rows, part]), nl.load(u[rows, part])
            d_x = nl.multiply(d, x)
            total = nl.zeros((128, CHUNK), dtype=nl.float32, buffer=nl.psum)
            for s in nl.affine_range(states):
                decay = nisa.activation(np.exp, d, scale=rates[:, s:s + 1])
                entering = nl.multiply(d_x, nl.load(b[s:s + 1, part]))
                h = nisa.tensor_tensor_scan(decay, entering, initial=last[:, s:s + 1], op0=np.multiply, op1=np.add)
                last[:, s:s + 1] = h[:, CHUNK - 1:CHUNK]
                total += nl.multiply(h, nl.load(c[s:s + 1, part]))
            nl.store(out[rows, part], nl.copy(total))
    return out


def inputs():
    rng = np.random.default_rng(0)
    delta, u, b, c = (rng.random(s).astype(np.float32) for s in ((128, 1024), (128, 1024), (4, 1024), (4, 1024)))
    return [delta, u, -rng.random((128, 4)).astype(np.float32), b, c]


def reference(delta, u, a, b, c):
    out, h = np.zeros_like(delta), np.zeros(a.shape, np.float32)
    for t in range(delta.shape[1]):
        h = np.exp(delta[:, t:t + 1] * a) * h + (delta[:, t] * u[:, t])[:, None] * b[:, t]
        out[:, t] = h @ c[:, t]
    return out


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(mamba_scan(*arrays) - reference(*arrays)).max())
