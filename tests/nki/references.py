"""Kernels of others that come without tests of their own, against NumPy: the samples' reference and contributed kernels,
and those of a search on Trn2. Each is (suite, name, function that gives the distance and the most it may be)."""
import importlib.util
import os
import sys
import types

import numpy as np

import trnsim.nki
from trnsim.nki import _jit
from trnsim.nki import language as nl

_rng = np.random.default_rng(0)


def f32(*shape):
    return _rng.standard_normal(shape).astype(np.float32)


def apart(got, want):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.size == want.size, f"{got.shape} for {want.shape}"
    return np.linalg.norm(got.ravel() - want.ravel()) / np.linalg.norm(want)


def _module(*path):
    """A script as a module. PyTorch, which some scripts compare with in their own main(), need not be there."""
    for name in ("torch", "torch.nn", "torch.nn.functional"):
        if name not in sys.modules and importlib.util.find_spec("torch") is None:
            sys.modules[name] = types.ModuleType(name)
    for owner, name in (("torch", "nn"), ("torch.nn", "functional")):
        if not hasattr(sys.modules.get(owner), name) and f"{owner}.{name}" in sys.modules:
            setattr(sys.modules[owner], name, sys.modules[f"{owner}.{name}"])
    name = "referred_" + os.path.basename(path[-1])[:-3]
    spec = importlib.util.spec_from_file_location(name, os.path.join(*path))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- samples
def matmul(samples):
    module = _module(samples, "contributed", "matmul.py")
    a, b = (_rng.random(s).astype(np.float16) for s in ((1024, 2048), (1024, 2048)))
    return apart(trnsim.nki.baremetal()(module.matmul)(a, b), a.T.astype(np.float32) @ b.astype(np.float32)), 2e-2


def max_pooling(samples):
    module, x = _module(samples, "contributed", "maxpooling.py"), f32(448, 448)
    want = np.max([x[i:446 + i, j:446 + j] for i in range(3) for j in range(3)], axis=0)
    return apart(module.max_pooling_2d_stride_1(x, 3), want), 1e-6


def _doubled(a, axis):
    size = a.shape[axis]
    place = np.clip((np.arange(2 * size) + 0.5) / 2 - 0.5, 0, None)
    low = np.floor(place).astype(int)
    part = (place - low).reshape([-1 if d == axis else 1 for d in range(a.ndim)])
    return np.take(a, low, axis) * (1 - part) + np.take(a, np.minimum(low + 1, size - 1), axis) * part


def bilinear(samples):
    module, x = _module(samples, "contributed", "interpolate_bilinear_fwd.py"), f32(2, 64, 32, 32)
    return apart(module.interpolate_bilinear_2x_fwd(x), _doubled(_doubled(x.astype(np.float64), 2), 3)), 1e-5


def tutorial(samples):
    module, a, b = _module(samples, "src/nki_samples/reference/tutorial.py"), f32(2, 8, 128, 512), f32(2, 8, 128, 512)
    return apart(module.add_kernel_nx8x128x512[2](a, b, a.size), a + b), 1e-6


def resize(samples):
    module, x = _module(samples, "src/nki_samples/reference/vision.py"), f32(2, 30, 20, 16)
    rows, columns = (np.floor(np.arange(n) * (m / n)).astype(int) for n, m in ((59, 30), (38, 20)))
    return apart(module.resize_nearest_fixed_dma_kernel(x, (2, 59, 38, 16)), x[:, rows][:, :, columns]), 1e-6


def _softmax(q, k):
    scores = np.einsum("bhdq,bhdk->bhqk", q.astype(np.float64), k.astype(np.float64)) / 8
    scores = np.where(np.tri(scores.shape[2], dtype=bool), scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - top)
    total = powers.sum(-1, keepdims=True)
    return powers / total, (top + np.log(total))[..., 0]


def flash(samples):
    module = _module(samples, "src/nki_samples/reference/attention.py")
    q, k, v = f32(1, 2, 64, 2048), f32(1, 2, 64, 2048), f32(1, 2, 2048, 64)
    parts, logs = _softmax(q, k)
    config = module.FlashConfig(seq_tile_size=2048, training=True)
    out, lse = module.flash_fwd[1, 2](q, k, v, np.array([1], np.int32), use_causal_mask=True, mixed_precision=False,
                                      config=config)
    return max(apart(out, parts @ v), apart(np.asarray(lse).transpose(0, 1, 3, 2), logs)), 1e-5


def flash_backward(samples):
    module = _module(samples, "src/nki_samples/reference/attention.py")
    q, k, v, dy = (f32(1, 1, 64, 1024) for _ in range(4))
    parts, logs = _softmax(q, k)
    out = np.einsum("bhqk,bhdk->bhdq", parts, v)
    dp = np.einsum("bhdq,bhdk->bhqk", dy, v)
    ds = parts * (dp - (dp * parts).sum(-1, keepdims=True)) / 8
    want = (np.einsum("bhqk,bhdk->bhdq", ds, k), np.einsum("bhqk,bhdq->bhdk", ds, q),
            np.einsum("bhqk,bhdq->bhdk", parts, dy))
    lse = np.ascontiguousarray(logs.reshape(1, 1, 8, 128).transpose(0, 1, 3, 2).astype(np.float32))
    got = module.flash_attn_bwd[1, 1](q, k, v, out.astype(np.float32), dy, lse, np.array([1], np.int32),
                                      use_causal_mask=True, mixed_precision=False)
    return max(map(apart, got, want)), 1e-5


def rmsnorm_quant(samples):
    from nki_samples.reference.rmsnorm_quant import rmsnorm_quant as module
    x, gamma = f32(2, 160, 512).astype(nl.bfloat16), f32(1, 512).astype(nl.bfloat16)
    wide = x.astype(np.float64)
    want = wide / np.sqrt((wide ** 2).mean(-1, keepdims=True) + 1e-6) * gamma.astype(np.float64)
    settings = module.RmsNormQuantKernelArgs(lower_bound=0.0)
    worst = 0
    for kernel in (module.rmsnorm_quant_kernel, module.rmsnorm_quant_kernel[2]):
        out = np.asarray(kernel(x, gamma, settings))
        scale = np.ascontiguousarray(out[..., 512:]).view(np.float32)
        worst = max(worst, apart(out[..., :512].astype(np.float32) * scale, want))
    return worst, 5e-2  # numbers of eight bits


SAMPLES = (matmul, max_pooling, bilinear, tutorial, resize, flash, flash_backward)
SAMPLES_V3 = (rmsnorm_quant,)


# ---- the search on Trn2
def adamw(theta, g, m, v):
    m, v = 0.9 * m.astype(np.float64) + 0.1 * g, 0.999 * v.astype(np.float64) + 0.001 * g.astype(np.float64) ** 2
    return 0.99999 * theta - 0.01 * m / (np.sqrt(1000 * v) + 1e-8)


def silu(x):
    return x / (1 + np.exp(-x.astype(np.float64)))


def searched(path, operator):
    """One of the kernels; matmuls of 515 GFLOP are compared where TRNSIM_NKI_ALL is set."""
    module = _module(path)
    if operator == "adamw":
        arrays = [f32(10944, 2048) for _ in range(3)] + [np.abs(f32(10944, 2048))]
        return apart(module.kernel(*arrays), adamw(*arrays)), 2e-5
    if operator == "silu":
        tiled = "(P, MID, F)" in open(path, encoding="utf-8").read() or "128, 32, 7168" in open(path, encoding="utf-8").read()
        x = f32(*((128, 32, 7168) if tiled else (4096, 7168)))
        return apart(module.kernel(x), silu(x)), 1e-5
    arrays = [f32(32, 128, 40, 128), f32(40, 128, 12288)]
    if not os.environ.get("TRNSIM_NKI_ALL"):
        module.kernel.compile(*arrays).time()
        return 0.0, 1.0
    want = arrays[0].reshape(4096, 5120) @ arrays[1].reshape(5120, 12288)
    return apart(module.kernel(*arrays), want), 2e-5


def within(call, *arguments, machine="trn1.2xlarge"):
    """Runs a comparison on a machine. Errors: AssertionError when the results are further apart than they may be."""
    before, _jit.settings.machine = _jit.settings.machine, machine
    try:
        distance, most = call(*arguments)
    finally:
        _jit.settings.machine = before
    assert distance <= most, f"differs by {distance:.2g} of the norm"
