"""neuronx_distributed.parallel_layers.grads: norms over all parts of a model, sums over cores with other data."""
import math
import os

import torch

from trnsim.torch import _collectives as device_of
from trnsim.torch._nxd import state
from trnsim.torch._nxd.utils import is_parallel

BUCKET_MEGABYTES = 512  # of gradients that travel together; the documentation's default of ALLREDUCE_BUCKET_CAP_MB


def shares(parameters):
    """[(gradient, 1 / the number of cores of a group that have the same one)]."""
    size = state.get_tensor_model_parallel_size()
    return [(p.grad.detach(), 1 / (getattr(p, "copies", 1) if is_parallel(p) else size))
            for p in parameters if p.grad is not None]


def get_grad_norm(parameters, norm_type=2, zero1_optimizer=False, zero1_optimizer_groups=None, force_spmd=True):
    """[1]: the norm of the gradients of all parts. Those that several cores have count once: each brings its share of
    them, so that all cores run the same program."""
    found = shares([parameters] if isinstance(parameters, torch.Tensor) else parameters)
    if not found:
        return torch.zeros(1, device="xla")
    groups = [state.rows()]
    if zero1_optimizer:
        groups.append(zero1_optimizer_groups or state.get_data_parallel_group(as_list=True))
    if math.isinf(norm_type):
        found, how = torch.stack([gradient.abs().max() for gradient, _ in found]).max(), "max"
    else:
        sums = [powers(gradient, norm_type) * share for gradient, share in found]
        found, how = torch.stack(sums).sum(), "sum"
    for rows in groups:
        found = device_of.all_reduced(found, how, rows)
    return (found if how == "max" else found.sqrt() if norm_type == 2 else found ** (1 / norm_type)).reshape(1)


def powers(gradient, norm_type):
    gradient = gradient.float()
    return gradient.square().sum() if norm_type == 2 else (gradient.abs() ** norm_type).sum()


def clip_grads_with_norm(parameters, total_norm, max_norm):
    factor = torch.clamp(max_norm / (total_norm + 1e-6), max=1.0)
    with torch.no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad.mul_(factor.to(parameter.grad.dtype))


def clip_grad_norm(parameters, max_norm, norm_type=2, zero1_optimizer=False, zero1_optimizer_groups=None,
                   force_spmd=True):
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    norm = get_grad_norm(parameters, norm_type, zero1_optimizer, zero1_optimizer_groups, force_spmd)
    clip_grads_with_norm(parameters, norm, max_norm)
    return norm


@torch.no_grad()
def bucket_allreduce_gradients(grads_list, reduce_over_ep_group=False):
    """Their means over the cores with the same part of the model, in place, the last first."""
    grads = list(reversed(list(grads_list)))
    count, rows = state.get_data_parallel_size(), state.get_data_parallel_group(as_list=True)
    most = int(os.environ.get("ALLREDUCE_BUCKET_CAP_MB", BUCKET_MEGABYTES)) << 20
    if count > 1:
        shares = [grad / count for grad in grads]
        for grad, mean in zip(grads, device_of.all_reduced_list(shares, "sum", rows, most)):
            grad.copy_(mean)


@torch.no_grad()
def allreduce_sequence_parallel_gradients(optimizer):
    """Sums of those that a core has for its part of the sequence alone; `main_grad` where ZeRO-1 adds them up."""
    parts = [p for group in optimizer.param_groups for p in group["params"]
             if getattr(p, "sequence_parallel_enabled", False)]
    found = [grad for grad in (getattr(p, "main_grad", p.grad) for p in parts) if grad is not None]
    for grad, total in zip(found, device_of.all_reduced_list(found, "sum", state.rows())):
        grad.copy_(total)


def names():
    return dict(get_grad_norm=get_grad_norm, clip_grad_norm=clip_grad_norm, clip_grads_with_norm=clip_grads_with_norm,
                bucket_allreduce_gradients=bucket_allreduce_gradients,
                allreduce_sequence_parallel_gradients=allreduce_sequence_parallel_gradients)
