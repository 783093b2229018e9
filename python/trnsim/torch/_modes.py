"""What catches a script's calls: factories and moves that name the device, and operators without a tensor of ours among
their arguments. "neuron" and "xla" are names of the same device."""
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from trnsim.torch._record import dispatch
from trnsim.torch._tensor import DeviceTensor

NAMES = ("xla", "neuron")
MOVES = {torch.Tensor.to, torch.nn.Module.to, torch.Tensor.new_empty, torch.Tensor.type}
FALSE = {torch.Tensor.is_cuda.__get__}


def named(device):
    """Whether a value names the simulated device."""
    if type(device) is str:
        return device.split(":")[0] in NAMES
    return isinstance(device, torch.device) and device.type == "xla"


class Functions(TorchFunctionMode):
    """Puts "meta", which PyTorch's C++ side can allocate, where a call names the device."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if kwargs:
            if "device" in kwargs and named(kwargs["device"]):
                kwargs = dict(kwargs, device="meta")
        else:
            kwargs = {}
        if func in MOVES and len(args) > 1 and named(args[1]):
            args = (args[0], "meta") + args[2:]
        return func(*args, **kwargs)


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
