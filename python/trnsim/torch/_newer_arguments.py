"""Arguments that PyTorch 2 gave to functions which an older PyTorch has without them, by their definitions, and what
came with them: norms of gradients in two steps, a weight's norm and direction as a parametrization."""
import functools
import inspect

import torch
from torch import nn
from torch.nn.utils import clip_grad, parametrizations, parametrize

from trnsim.torch._newer import supplied


def extended(place, name, act, anew=False, **added):
    """The function `name` of `place` takes the keywords `added`, too, if it has not got them (`anew`: in any case):
    act() is given it, its arguments and the values of these."""
    plain = getattr(place, name)
    form = inspect.signature(plain)
    missing = {key: default for key, default in added.items() if anew or key not in form.parameters}
    if not missing:
        return

    @functools.wraps(plain)
    def call(*args, **kwargs):
        values = {key: kwargs.pop(key, default) for key, default in missing.items()}
        return act(functools.partial(plain, *args, **kwargs), args, **values)
    listed = [p for key, p in form.parameters.items() if key not in missing]
    behind = len(listed) - (bool(listed) and listed[-1].kind is inspect.Parameter.VAR_KEYWORD)
    listed[behind:behind] = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default)
                             for key, default in missing.items()]
    call.__signature__ = form.replace(parameters=listed)
    setattr(place, name, call)


def as_it_is(call, args, **values):
    """For arguments that say how to compute the same."""
    return call()


def hinted(call, args, is_causal=None):
    """That a mask is the causal one is a hint: the mask is read all the same."""
    given = inspect.signature(call.func).bind(*args, **call.keywords).arguments
    if is_causal and all(given.get(name) is None for name in ("attn_mask", "src_mask", "mask")):
        raise RuntimeError("is_causal=True is a hint beside a mask: give the mask, as "
                           "nn.Transformer.generate_square_subsequent_mask() makes it")
    return call()


def by_one_kernel(call, args, fused=None):
    """fused=True, of parameters on the CPU or a GPU; a program of the device is one kernel in any case."""
    call()
    if fused:
        for group in args[0].param_groups:
            for p in group["params"]:
                if p.device.type not in ("cpu", "cuda") or not p.is_floating_point():
                    raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of "
                                       f"supported devices: cpu and cuda, but {p.dtype} and {p.device.type}")


def norm_alone(call, args, bias=True):
    call()
    if not bias:
        args[0].register_parameter("bias", None)


def assigned(call, args, assign=False):
    """load_state_dict(): with `assign`, the tensors of the state are the parameters and buffers from here on."""
    out = call()
    state = args[1] if len(args) > 1 else call.keywords["state_dict"]
    for path, module in args[0].named_modules() if assign else ():
        for name, old in [*module._parameters.items(), *module._buffers.items()]:
            new = state.get(f"{path}.{name}" if path else name)
            if new is not None and old is not None and name not in module._non_persistent_buffers_set:
                kept = nn.Parameter(new, old.requires_grad) if name in module._parameters else new
                (module._parameters if name in module._parameters else module._buffers)[name] = kept
    return out


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    tensors = [tensors] if isinstance(tensors, torch.Tensor) else [t for t in tensors if t is not None]
    if not tensors:
        return torch.tensor(0.0)
    total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(t, norm_type) for t in tensors]), norm_type)
    if error_if_nonfinite and not torch.isfinite(total):
        raise RuntimeError(f"The total norm of order {norm_type} for gradients is non-finite, so it cannot be clipped")
    return total


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    share = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for p in [parameters] if isinstance(parameters, torch.Tensor) else parameters:
        if p.grad is not None:
            p.grad.detach().mul_(share)


class Norm(nn.Module):
    """A weight of `length`s along `dim` and a direction."""

    def __init__(self, dim):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, length, direction):
        return torch._weight_norm(direction, length, self.dim)

    def right_inverse(self, weight):
        return torch.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    parametrize.register_parametrization(module, name, Norm(dim), unsafe=True)
    return module


def register_post_accumulate_grad_hook(tensor, hook):
    """hook(tensor) after each gradient of it has been added up."""
    if not tensor.is_leaf or not tensor.requires_grad:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors, nor on tensors that "
                           "need no gradient")
    tensor._accumulator = tensor.view_as(tensor).grad_fn.next_functions[0][0]  # which a weak reference alone would lose

    def added_up(*_):
        hook(tensor)
    return tensor._accumulator.register_hook(added_up)


def install():
    if int(torch.__version__.split(".")[0]) < 2:  # which has one for GPUs alone
        extended(torch.optim.Adam, "__init__", by_one_kernel, anew=True, fused=None)
    for kind in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad):
        extended(kind, "__init__", by_one_kernel, fused=None)
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        extended(clip_grad, name, as_it_is, foreach=None)
        setattr(nn.utils, name, getattr(clip_grad, name))
    extended(nn.LayerNorm, "__init__", norm_alone, bias=True)
    extended(nn.Module, "load_state_dict", assigned, assign=False)
    extended(torch, "load", as_it_is, mmap=None)
    extended(torch.utils.data.DataLoader, "__init__", as_it_is, in_order=True)
    for kind in (nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerEncoderLayer):
        extended(kind, "forward", hinted, is_causal=None)
    for kind in (nn.TransformerDecoder, nn.TransformerDecoderLayer):
        extended(kind, "forward", as_it_is, tgt_is_causal=None, memory_is_causal=False)
    extended(nn.Transformer, "forward", as_it_is, src_is_causal=None, tgt_is_causal=None, memory_is_causal=False)
    supplied(nn.utils, get_total_norm=get_total_norm, clip_grads_with_norm_=clip_grads_with_norm_)
    supplied(parametrizations, weight_norm=weight_norm)
    supplied(torch.Tensor, register_post_accumulate_grad_hook=register_post_accumulate_grad_hook)
