"""Modes that catch a script's calls: factories and moves that name the device, and operators without a tensor of ours
among their arguments. "neuron" and "xla" are names of the same device."""
import os
import sys

import torch
import torch.utils.data
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from trnsim.torch import _amp
from trnsim.torch._record import dispatch
from trnsim.torch._tensor import DeviceTensor, from_host
from trnsim.torch._values import HOOKS

NAMES = ("xla", "neuron")
MOVES = {torch.Tensor.to, torch.nn.Module.to, torch.Tensor.new_empty, torch.Tensor.type}
MAKERS = {torch.tensor, torch.zeros, torch.ones, torch.full, torch.empty, torch.rand, torch.randn, torch.randint,
          torch.arange, torch.linspace, torch.eye, torch.randperm}


def named(device):
    """Whether a value names the simulated device."""
    if type(device) is str:
        return device.split(":")[0] in NAMES
    return isinstance(device, torch.device) and device.type == "xla"


def loads_data():
    """Whether a data loader asks: its numbers stay on the host."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.endswith("overrides.py"):
        frame = frame.f_back
    inside = os.path.join("torch", "utils", "data")
    return torch.utils.data.get_worker_info() is not None or frame is not None and inside in frame.f_code.co_filename


def indices(index):
    """Lists of numbers as tensors of the host: PyTorch's C++ side would make them where it can hold none."""
    if type(index) is tuple:
        return tuple(indices(x) if type(x) in (list, bool) or hasattr(x, "__array__") else x for x in index)
    if type(index) is bool:
        return torch.tensor(index)
    if isinstance(index, list) and index and all(type(x) in (int, bool) for x in index):
        return torch.tensor(index)
    if isinstance(index, list) and index:  # of lists: PyTorch takes it for a tuple
        return indices(tuple(index))
    if isinstance(index, (torch.Tensor, int)) or not hasattr(index, "__array__"):
        return index
    return torch.as_tensor(index)


def moved(tensor, kwargs):
    """Made on the host, as its values are there."""
    return from_host(tensor).requires_grad_(bool(kwargs.get("requires_grad", False)))


class Functions(TorchFunctionMode):
    """Puts "meta", which PyTorch's C++ side can allocate, where a call names the device. `everywhere`: also where a
    call names none, for scripts that know of no devices."""

    def __init__(self, everywhere=False):
        super().__init__()
        self.everywhere = everywhere

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if kwargs:
            if "device" in kwargs and named(kwargs["device"]):
                kwargs = dict(kwargs, device="meta")
        else:
            kwargs = {}
        if _amp.STATE:
            args, kwargs = _amp.arguments(func, args, kwargs)
        if func in MOVES and len(args) > 1 and named(args[1]):
            args = (args[0], "meta") + args[2:]
        if func in INDEXING and type(args[0]) is DeviceTensor:
            args = (args[0], indices(args[1])) + args[2:]
        if func in HOSTED and kwargs.get("device") is not None and kwargs["device"] == "meta":
            return moved(func(*args, **dict(kwargs, device="cpu", requires_grad=False)) if func is torch.tensor else
                         func(*args, **dict(kwargs, device="cpu")), kwargs)
        if self.everywhere and func in MAKERS and kwargs.get("device") is None and not loads_data():
            kwargs = dict(kwargs, device="meta")
        return func(*args, **kwargs)


INDEXING = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
HOSTED = {torch.tensor, torch.as_tensor, torch.scalar_tensor}


class Operators(TorchDispatchMode):
    """Records operators that make tensors on the device, and those whose arguments are there."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if kwargs:
            device = kwargs.get("device")
            if device is not None and device.type == "meta":
                return dispatch(func, args, kwargs)
        else:
            kwargs = {}
        for kind in types:
            if kind is DeviceTensor:
                return dispatch(func, args, kwargs)
        return func(*args, **kwargs)


HOOKS.update(operators=Operators, functions=Functions)
