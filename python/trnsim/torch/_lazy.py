"""Modules whose sizes their first batch tells: the host makes their parameters, whose generator draws the numbers, and
they move then, if the script has moved the module before."""
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedTensorMixin

from trnsim.torch._tensor import DEVICE


def waits(tensor):
    """Whether a tensor that is to move is none yet: it moves when it is."""
    if not isinstance(tensor, UninitializedTensorMixin):
        return False
    tensor.moves = True
    return True


def moving(infer):
    def inferred(self, module, *batch):
        tensors = [*module._parameters.values(), *module._buffers.values()]
        moves = any(getattr(tensor, "moves", False) for tensor in tensors)
        infer(self, module, *batch)
        if moves:
            module.to(DEVICE)
    return inferred


def install(wrapped):
    """`wrapped`: a method of tensors, that these are allowed to call."""
    LazyModuleMixin._infer_parameters = moving(LazyModuleMixin._infer_parameters)
    UninitializedTensorMixin._allowed_methods.append(wrapped)
