"""torch_xla's barrier between operators and its checkpoint(): values that are computed again instead of being kept. The
compiler makes one of equal operators; those behind a barrier are computed there."""
import contextlib

import torch
import torch.utils.checkpoint  # noqa: torch_xla.utils.checkpoint imports it, and scripts put their own in its place

from trnsim.torch import _amp
from trnsim.torch._collectives import Collective
from trnsim.torch._lower import rule
from trnsim.torch._tensor import DeviceTensor, new_tensor
from trnsim.torch._values import Call, Node, Slot, contiguous
from trnsim.torch._views import current

BARRIER, CALLS = Collective("optimization_barrier"), {}


def barrier(tensors):
    """The same values of the device behind a barrier, as one operator; tensors of the host as they are."""
    here = [tensor for tensor in tensors if isinstance(tensor, DeviceTensor)]
    key = tuple(tensor._meta.key for tensor in here)
    if not here:
        return list(tensors)
    if key not in CALLS:
        call = CALLS[key] = Call(BARRIER, [Slot(i) for i in range(len(here))], {}, [tensor._meta for tensor in here])
        call.outs, call.kind = [contiguous(tensor._meta.shape, tensor.dtype) for tensor in here], "device"
    node = Node(CALLS[key], [current(tensor) for tensor in here])
    behind = iter([new_tensor(node.value(i)) for i in range(len(here))])
    return [next(behind) if isinstance(tensor, DeviceTensor) else tensor for tensor in tensors]


@rule("optimization_barrier")
def barrier_rule(at, *values):
    names, types = ", ".join(x.name for x in values), ", ".join(x.type for x in values)
    return at.text.several(f'"stablehlo.optimization_barrier"({names}) : ({types})', values)


def optimization_barrier_(tensors):
    """torch_xla.core.xla_model's: in place."""
    with torch.no_grad():
        for tensor, behind in zip(tensors, barrier(tensors)):
            if behind is not tensor:
                tensor.copy_(behind)


@contextlib.contextmanager
def as_it_was(random):
    """PyTorch's random numbers from a state on, and afterwards from where they were."""
    before = torch.get_rng_state()
    if random is not None:
        torch.set_rng_state(random)
    try:
        yield
    finally:
        torch.set_rng_state(before)


class Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, function, keep_random, *args):
        ctx.function, ctx.random = function, torch.get_rng_state() if keep_random else None
        ctx.cast = _amp.Autocast("xla", _amp.STATE[-1]) if _amp.STATE and _amp.STATE[-1] else contextlib.nullcontext()
        ctx.args = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with torch.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *gradients):
        saved, args = ctx.saved_tensors, list(ctx.args)
        given = [i for i, gradient in enumerate(gradients) if gradient is not None]
        behind = barrier([*saved, *(gradients[i] for i in given)])
        for place, before, tensor in zip(ctx.places, saved, behind):
            args[place] = tensor.detach().requires_grad_(before.requires_grad)
        with as_it_was(ctx.random), torch.enable_grad(), ctx.cast:
            out = ctx.function(*args)
        out = out if isinstance(out, (tuple, list)) else (out,)
        pairs = [(out[i], gradient) for i, gradient in zip(given, behind[len(saved):])
                 if isinstance(out[i], torch.Tensor) and out[i].requires_grad]
        if pairs:
            torch.autograd.backward(*map(list, zip(*pairs)))
        return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)


def checkpoint(function, *args, use_reentrant=True, preserve_rng_state=True, **kwargs):
    """torch_xla.utils.checkpoint's: function's values are computed again for its gradients."""
    if not use_reentrant:
        raise ValueError("torch_xla.utils.checkpoint: use_reentrant=False is not supported: leave it out")
    if not any(isinstance(x, torch.Tensor) and x.requires_grad for x in (*args, *kwargs.values())):
        return function(*args, **kwargs)  # as it would have no gradient, and neither would its parameters
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)

    def of_flat(*flat):
        return function(*flat[:len(args)], **dict(zip(kwargs, flat[len(args):])))
    return Recomputed.apply(of_flat, preserve_rng_state, *args, *kwargs.values())
