"""torch_xla.distributed.fsdp.wrap and utils: which modules get a wrapper of their own."""
import contextlib
import functools

import torch

from trnsim.torch import _checkpoint

SURROUNDING = []  # (wrapper, its arguments) of enable_wrap()


def always_wrap_policy(*_, **__):
    return True


def lambda_auto_wrap_policy(module, recurse, unwrapped_params, lambda_fn):
    return True if recurse else lambda_fn(module)


def transformer_auto_wrap_policy(module, recurse, unwrapped_params, transformer_layer_cls):
    return True if recurse else isinstance(module, tuple(transformer_layer_cls))


LEAVES = {torch.nn.MultiheadAttention}
KEPT = {torch.nn.ModuleList, torch.nn.ModuleDict}


def size_based_auto_wrap_policy(module, recurse, unwrapped_params, min_num_params=int(1e8), force_leaf_modules=None,
                                exclude_wrap_modules=None):
    leaves = LEAVES if force_leaf_modules is None else force_leaf_modules
    kept = KEPT if exclude_wrap_modules is None else exclude_wrap_modules
    large = unwrapped_params >= min_num_params
    return large and not isinstance(module, tuple(leaves if recurse else kept))


def recursive_wrap(module, auto_wrap_policy, wrapper_cls, *ignored, only_wrap_children=False, **kwargs):
    """(module or its wrapper, how many parameters wrappers have): children first, as PyTorch's. `ignored`: modules, and
    parameters."""
    ignored_modules, ignored_params = ignored
    count = sum(p.numel() for p in module.parameters() if not any(p is q for q in ignored_params))
    if not auto_wrap_policy(module=module, recurse=True, unwrapped_params=count):
        return module, 0
    total = 0
    for name, child in list(module.named_children()):
        if child not in ignored_modules:
            made, wrapped = recursive_wrap(child, auto_wrap_policy, wrapper_cls, *ignored, **kwargs)
            setattr(module, name, made)
            total += wrapped
    if not only_wrap_children and auto_wrap_policy(module=module, recurse=False, unwrapped_params=count - total):
        return wrapper_cls(module, **kwargs), count
    return module, total


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls, **kwargs):
    SURROUNDING.append((wrapper_cls, kwargs))
    try:
        yield
    finally:
        SURROUNDING.pop()


def wrap(module, **overrides):
    """Wrapped as enable_wrap() around it says; as it is without one."""
    if not SURROUNDING:
        return module
    wrapper, kwargs = SURROUNDING[-1]
    return wrapper(module, **{**kwargs, **overrides})


def checkpoint_module(module):
    """The module's values are computed again for its gradients."""
    module.forward = functools.partial(_checkpoint.checkpoint, module.forward)
    return module


def names():
    return dict(always_wrap_policy=always_wrap_policy, lambda_auto_wrap_policy=lambda_auto_wrap_policy,
                transformer_auto_wrap_policy=transformer_auto_wrap_policy, enable_wrap=enable_wrap, wrap=wrap,
                size_based_auto_wrap_policy=size_based_auto_wrap_policy, recursive_wrap=recursive_wrap)
