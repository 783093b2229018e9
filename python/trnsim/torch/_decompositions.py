"""Decompositions that PyTorch's table lacks, written as its own are."""
import torch

aten = torch.ops.aten
OURS = {}


def decomposes(*names):
    def register(function):
        for name in names:
            packet = getattr(aten, name, None)
            if packet is not None:
                OURS[packet.default] = function
        return function
    return register


def other_dims(tensor, dim):
    return [d for d in range(tensor.dim()) if d != dim % tensor.dim()]


@decomposes("_weight_norm_interface")
def weight_norm(v, g, dim=0):
    norms = v.square().sum(other_dims(v, dim), keepdim=True).sqrt()
    return v * (g / norms), norms


@decomposes("_weight_norm_interface_backward")
def weight_norm_backward(grad, v, g, norms, dim):
    along = (grad * v).sum(other_dims(v, dim), keepdim=True) / norms
    return g / norms * (grad - v * (along / norms)), along
