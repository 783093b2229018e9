"""Names of PyTorch 2 that scripts use and an older PyTorch does not have, by their definitions: they are put in place
where they are missing."""
import functools
import importlib
import inspect
import math
import sys
import types

import torch
import torch.nn.functional as F

from trnsim.torch._tensor import DeviceTensor

VERSION = "2.1.0"  # of torch_xla and torch_neuronx, as scripts read it


def only(options, names, where):
    """Errors: TypeError for an option that is not of `names`."""
    for name in options:
        if name not in names:
            raise TypeError(f"{where}() got an unexpected keyword argument '{name}'")


def scaled_dot_product_attention(query, key, value, attn_mask=None, *placed, **options):
    options.update(zip(("dropout_p", "is_causal"), placed))
    only(options, ("dropout_p", "is_causal", "scale", "enable_gqa"), "scaled_dot_product_attention")
    if options.get("enable_gqa"):
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    scale = options.get("scale")
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if options.get("is_causal"):
        if attn_mask is not None:
            raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return F.dropout(scores.softmax(-1), options.get("dropout_p", 0.0), True) @ value


def rms_norm(input, normalized_shape, weight=None, eps=None):  # noqa: A002
    dims = tuple(range(-len(normalized_shape), 0))
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    out = input * torch.rsqrt(input.square().mean(dims, keepdim=True) + eps)
    return out if weight is None else out * weight


class RMSNorm(torch.nn.Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        weight = torch.ones(self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", None if weight is None else torch.nn.Parameter(weight))

    def forward(self, x):
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


def smoothed(original):
    """F.cross_entropy() as PyTorch 2 has it: with smoothed labels and their mean, an older PyTorch selects by a mask,
    whose result has a shape that values decide, so that the device's graph would be cut there."""
    form = inspect.signature(original)

    @functools.wraps(original)
    def cross_entropy(*args, **kwargs):
        bound = form.bind(*args, **kwargs)
        bound.apply_defaults()
        x, target, weight, size_average, ignored, reduce, reduction, share = bound.args
        old_form = size_average is not None or reduce is not None
        if not share or old_form or reduction != "mean" or target.is_floating_point():
            return original(*args, **kwargs)
        dim = 0 if x.dim() == 1 else 1
        logs, left_out = F.log_softmax(x, dim), target == ignored
        weighted = logs if weight is None else logs * weight.view([-1 if d == dim else 1 for d in range(x.dim())])
        counted = (~left_out).to(logs.dtype)
        if weight is not None:
            counted = counted * weight[target.masked_fill(left_out, 0)]
        soft = -weighted.sum(dim).masked_fill(left_out, 0).sum() / counted.sum()
        return (1 - share) * F.nll_loss(logs, target, weight, ignore_index=ignored) + share / x.size(dim) * soft
    return cross_entropy


def capturable(plain):
    """Adam's function with capturable=True, for XLA's tensors, too: an older PyTorch takes those of CUDA alone."""
    @functools.wraps(plain)
    def step(params, *rest, **named):
        DeviceTensor.counts_as_cuda = named.get("capturable", False)
        try:
            return plain(params, *rest, **named)
        finally:
            DeviceTensor.counts_as_cuda = False
    step.__script_if_tracing_wrapper, step.__original_fn = True, plain  # torch.jit.script() compiles the plain one
    return step


def counting_there(load_state_dict):
    """Optimizer.load_state_dict(): with capturable=True, the number of steps is where the parameter is."""
    @functools.wraps(load_state_dict)
    def loaded(optimizer, *args, **kwargs):
        load_state_dict(optimizer, *args, **kwargs)
        for group in optimizer.param_groups:
            for p in group["params"] if group.get("capturable") else ():
                if isinstance(optimizer.state[p].get("step"), torch.Tensor):
                    optimizer.state[p]["step"] = optimizer.state[p]["step"].to(p.device, torch.float32)
    return loaded


def install_capturable():
    for kind in (torch.optim.Adam, torch.optim.AdamW):
        module, name = sys.modules[kind.__module__], kind.__name__.lower()
        for function in (f"_single_tensor_{name}", f"_multi_tensor_{name}"):
            setattr(module, function, capturable(getattr(module, function)))
    torch.optim.Optimizer.load_state_dict = counting_there(torch.optim.Optimizer.load_state_dict)


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    from torch.nn.utils.stateless import functional_call as call
    given = parameter_and_buffer_dicts
    given = given if isinstance(given, dict) else {name: t for part in given for name, t in part.items()}
    if strict and set(given) != {name for name, _ in [*module.named_parameters(), *module.named_buffers()]}:
        raise RuntimeError("functional_call(strict=True): give each parameter and each buffer, and no other names")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    return call(module, given, args, kwargs or {})


def stack_module_state(models):
    """The parameters and the buffers of models of one form, one behind the other."""
    def stacked(named):
        return {name: torch.stack([dict(named(m))[name].detach() for m in models]) for name, _ in named(models[0])}
    weights = stacked(lambda m: m.named_parameters())
    return {name: t.requires_grad_() for name, t in weights.items()}, stacked(lambda m: m.named_buffers())


def functions():
    """torch.func, which was functorch."""
    import functorch
    import functorch.experimental
    out = types.ModuleType("torch.func")
    for name in ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize"):
        if hasattr(functorch, name) or hasattr(functorch.experimental, name):
            setattr(out, name, getattr(functorch, name, None) or getattr(functorch.experimental, name))
    out.functional_call, out.stack_module_state = functional_call, stack_module_state
    return out


class Later(types.ModuleType):
    """torch.func, found where a script asks for it: functorch takes a second to import."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__.setdefault("_found", functions()), name)


def supplied(place, **names):
    for name, value in names.items():
        if not hasattr(place, name):
            setattr(place, name, value)


def install():
    supplied(torch, vmap=lambda *args, **kwargs: functions().vmap(*args, **kwargs))
    supplied(F, scaled_dot_product_attention=scaled_dot_product_attention, rms_norm=rms_norm)
    if int(torch.__version__.split(".")[0]) < 2:
        F.cross_entropy = smoothed(F.cross_entropy)
        install_capturable()
    supplied(torch.nn, RMSNorm=RMSNorm)
    supplied(torch.optim.lr_scheduler, LRScheduler=torch.optim.lr_scheduler._LRScheduler)
    try:
        importlib.import_module("torch.func")
    except ImportError:
        torch.func = sys.modules["torch.func"] = Later("torch.func")
