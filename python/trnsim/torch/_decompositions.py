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


def by_feature(weight, x):
    """As x's second dimension has them; PyTorch 1.13's own decompositions take no x of one dimension."""
    return weight.reshape([-1 if d == 1 else 1 for d in range(x.dim())] if weight.numel() > 1 else [])


@decomposes("prelu")
def prelu(x, weight):
    return torch.where(x > 0, x, by_feature(weight, x) * x)


@decomposes("prelu_backward")
def prelu_backward(grad, x, weight):
    others = [d for d in range(x.dim()) if d != 1 or weight.numel() == 1]
    by_weight = torch.where(x > 0, 0, x * grad).sum(others).reshape(weight.shape)
    return torch.where(x > 0, grad, by_feature(weight, x) * grad), by_weight
