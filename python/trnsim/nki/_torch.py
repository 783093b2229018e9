"""Tensors of PyTorch as a kernel's arguments and results."""
import sys

import numpy as np

from trnsim.nki import _dtypes

# Formats that NumPy has no name of its own for: torch's name, ours, and the integer that has their bits.
_BITS = (("bfloat16", _dtypes.bfloat16, "int16"), ("float8_e5m2", _dtypes.float8_e5m2, "uint8"))
_WIDER = {np.dtype(np.uint16): np.int32, np.dtype(np.uint32): np.int64}  # torch computes with signed ones alone


def is_tensor(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def to_numpy(tensor):
    """The numbers of a tensor on the host; of its own memory where they are dense."""
    torch = sys.modules["torch"]
    own = tensor.detach()
    for name, dtype, bits in _BITS:
        if own.dtype == getattr(torch, name, None):
            return own.contiguous().view(getattr(torch, bits)).numpy().view(dtype)
    return own.numpy()


def from_numpy(array):
    torch = sys.modules["torch"]
    for name, dtype, bits in _BITS:
        if array.dtype == dtype and hasattr(torch, name):
            return torch.from_numpy(array.view(bits)).view(getattr(torch, name))
    if array.dtype.kind == "V":
        return array  # a format that torch does not have
    return torch.from_numpy(array.astype(_WIDER.get(array.dtype, array.dtype), copy=False))
