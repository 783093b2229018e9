"""More names of PyTorch 2 by their definitions: of tensors, of attention's kernels, of automatic casts, of averages."""
import contextlib
import enum
import functools
import sys
import types

import torch

from trnsim.torch._newer import supplied


class SDPBackend(enum.Enum):
    """torch.nn.attention's kernels, of which the device has its compiler's alone."""
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3


@contextlib.contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Which kernel a GPU takes: the results are the same."""
    yield


def custom_fwd(fwd=None, *, device_type=None, cast_inputs=None):
    """A function's forward pass, whose tensors get a type where automatic casts are on."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args, **kwargs):
        from trnsim.torch import _amp
        if cast_inputs is None or not _amp.STATE or _amp.STATE[-1] is None:
            return fwd(*args, **kwargs)
        with torch.autocast("xla", enabled=False):
            return fwd(*_amp.cast(args, cast_inputs), **{k: _amp.cast(v, cast_inputs) for k, v in kwargs.items()})
    return decorated


def custom_bwd(bwd=None, *, device_type=None):
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


def get_ema_avg_fn(decay=0.999):
    def averaged(mean, current, count):
        return decay * mean + (1 - decay) * current
    return averaged


def get_ema_multi_avg_fn(decay=0.999):
    def averaged(means, currents, count):
        for mean, current in zip(means, currents):
            mean.lerp_(current.to(mean.dtype), 1 - decay)
    return torch.no_grad()(averaged)


def unravel_index(indices, shape):
    """A tensor for each dimension of `shape`."""
    shape, out = (shape,) if isinstance(shape, int) else tuple(shape), []
    for size in reversed(shape):
        out.append(indices % size)
        indices = torch.div(indices, size, rounding_mode="floor")
    return tuple(reversed(out))


def attention():
    found = types.ModuleType("torch.nn.attention")
    found.SDPBackend, found.sdpa_kernel = SDPBackend, sdpa_kernel
    return found


def install():
    from torch.optim import swa_utils
    supplied(torch.Tensor, nbytes=property(lambda t: t.numel() * t.element_size()),
             itemsize=property(lambda t: t.element_size()))
    supplied(torch, unravel_index=unravel_index)
    supplied(torch.amp, custom_fwd=custom_fwd, custom_bwd=custom_bwd)
    supplied(swa_utils, get_ema_avg_fn=get_ema_avg_fn, get_ema_multi_avg_fn=get_ema_multi_avg_fn)
    if not hasattr(torch.nn, "attention"):
        torch.nn.attention = sys.modules["torch.nn.attention"] = attention()
