"""Depthwise convolution along the sequence: each tap is a multiply-add with a number for each channel."""
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def conv1d(x, weight):
    channels, seq = x.shape
    taps = weight.shape[1]
    out = nl.ndarray((channels, seq), dtype=x.dtype, buffer=nl.shared_hbm)
    for c in nl.affine_range(channels // 128):
        rows = nl.ds(c * 128, 128)
        padded = nl.zeros((128, seq + taps - 1), dtype=x.dtype, buffer=nl.sbuf)
        padded[:, taps - 1:seq + taps - 1] = nl.load(x[rows, :])
        w = nl.load(weight[rows, :])
        total = nisa.tensor_scalar(padded[:, 0:seq], np.multiply, w[:, 0:1])
        for t in nl.static_range(1, taps):
            total = nisa.scalar_tensor_tensor(data=padded[:, t:t + seq], op0=np.multiply, operand0=w[:, t:t + 1],
                                              op1=np.add, operand1=total)
        nl.store(out[rows, :], total)
    return out


def inputs():
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s).astype(np.float32) for s in ((256, 1024), (256, 4))]


def reference(x, weight):
    taps = weight.shape[1]
    padded = np.pad(x, ((0, 0), (taps - 1, 0)))
    return sum(padded[:, t:t + x.shape[1]] * weight[:, t:t + 1] for t in range(taps))


if __name__ == "__main__":
    arrays = inputs()
    print("largest difference", np.abs(conv1d(*arrays) - reference(*arrays)).max())
