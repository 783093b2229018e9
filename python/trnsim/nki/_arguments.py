"""The arguments of a kernel's call: arrays become tensors in HBM, wherever a container holds them."""
import dataclasses

import numpy as np

from trnsim.nki import _dtypes, _torch
from trnsim.nki._newer.tensors import NKIObject
from trnsim.nki._state import HBM, error, state
from trnsim.nki.typing import TensorType


def _narrowed(array):
    """Numbers of 64 bits have 32 on the machine: those beyond them are an error. NaN and infinity stay."""
    narrow = {"f8": np.dtype(np.float32), "i8": np.dtype(np.int32), "u8": np.dtype(np.uint32)}.get(array.dtype.str[1:])
    if narrow is None:
        return array
    numbers = array[np.isfinite(array)]
    real = narrow.kind == "f"
    bounds = np.finfo(narrow) if real else np.iinfo(narrow)
    for far in (numbers.min(), numbers.max()) if numbers.size else ():
        if not bounds.min <= far <= bounds.max:
            kind, fix = ("numbers", "smaller numbers") if real else ("whole numbers", "numbers of int32, or uint32")
            raise error(f"an argument of {array.dtype} holds {far}; the machine's {kind} have 32 bits", f"give {fix}")
    return array.astype(narrow)


def array_of(value):
    if isinstance(value, TensorType):
        return np.zeros(value.shape, _dtypes.dtype_of(_dtypes.code(value.dtype, _dtypes.FP32)))
    array = _narrowed(_torch.to_numpy(value) if _torch.is_tensor(value) else np.asarray(value))
    return np.ascontiguousarray(array).view(_dtypes.ours(array.dtype))


def written(given, before, after):
    """Writes what a kernel wrote to an argument, an array on the host or of PyTorch, into the caller's memory."""
    if after.tobytes() == before.tobytes():
        return
    if _torch.is_tensor(given):
        given.detach().copy_(_torch.from_numpy(after.copy()))
    elif isinstance(given, np.ndarray):
        if not given.flags.writeable:
            raise error("the kernel writes to an argument that is read-only", "give an array that can be written")
        same = _dtypes.ours(given.dtype) == after.dtype
        given[...] = after.view(given.dtype) if same else after.astype(given.dtype)


def is_array(value):
    return isinstance(value, (np.ndarray, TensorType)) or (hasattr(value, "__array__") and hasattr(value, "shape")
                                                           and not isinstance(value, (np.generic, type)))


def _parts(value):
    """What a container of arguments holds, by names, and a function that makes one of other parts; None of all else."""
    if isinstance(value, (list, tuple)):
        make = type(value)._make if hasattr(value, "_make") else type(value)
        return {f"[{i}]": v for i, v in enumerate(value)}, lambda parts: make(parts.values())
    if isinstance(value, dict):
        return {f"[{k!r}]": v for k, v in value.items()}, lambda parts: dict(zip(value, parts.values()))
    if isinstance(value, NKIObject) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        members = vars(value)
        return {f".{k}": v for k, v in members.items()}, lambda parts: _like(value, dict(zip(members, parts.values())))
    return None


def _like(value, members):
    out = object.__new__(type(value))
    out.__dict__.update(members)
    return out


class Arguments:
    """The arrays of a call, in containers too, become tensors in HBM; all else stays."""

    def __init__(self):
        self.inputs = []  # (register, array, the caller's)

    def tensor(self, value, name):
        if not is_array(value):
            parts, make = _parts(value) or ({}, None)
            made = {key: self.tensor(part, name + key) for key, part in parts.items()}
            return value if all(made[key] is part for key, part in parts.items()) else make(made)
        array = array_of(value)
        view = state.trace.tensor(HBM, _dtypes.code(array.dtype), list(array.shape), name=name)
        state.tensors.append((view, name, view.code, array.shape))
        self.inputs.append((view.reg, array, value))
        return view
