"""Operators that write to tensors as their schemas do not say: those that make a tensor another view or another size,
and the scaler's of gradients, which not every PyTorch has for the CPU."""
import math

import torch

from trnsim.torch._tensor import DeviceTensor
from trnsim.torch._values import Unsupported

aten = torch.ops.aten


def reshaped(func, args, kwargs):
    """squeeze_() and its like: the tensor itself is another view of its memory from here on."""
    target = args[0]
    if not isinstance(target, DeviceTensor):
        return func(*args, **kwargs)
    new = getattr(aten, func._schema.name.split("::")[1][:-1])(target, *args[1:], **kwargs)
    if new._meta.offset:
        raise Unsupported(f"{func} of a part of another tensor: write x = f(x) in its place")
    target.data = new
    return target


def resized(func, args, kwargs):
    """resize_() and resize_as_(): the elements in their order, as many as there is place for; new ones are zero."""
    target, size = args[0], args[1].shape if isinstance(args[1], torch.Tensor) else args[1]
    if not isinstance(target, DeviceTensor):
        return func(*args, **kwargs)
    size = torch.Size(size)
    if size == target.shape:
        return target
    memory = math.prod(target._base_storage.value.meta.shape)
    if target.numel() not in (memory, size.numel()):
        raise Unsupported(f"{func} of a part of another tensor: give it memory of its own with .clone()")
    with torch.no_grad():
        whole = aten.reshape.default(target, [-1])
        more = size.numel() - target.numel()
        whole = torch.cat([whole, whole.new_zeros(more)]) if more > 0 else whole[:size.numel()]
        whole = whole.reshape(size)
        target.data = whole.clone() if more else whole  # of another size: no view, so that it can be resized again
    return target


def set_(func, args, kwargs):
    """The tensor has the memory of another from here on, or none."""
    target, source = args[0], args[1] if len(args) > 1 else kwargs.get("source")
    if not isinstance(target, DeviceTensor):
        return func(*args, **kwargs)
    if source is None:
        target.data = target.new_empty((0,))
        return target
    if not isinstance(source, torch.Tensor):
        raise Unsupported(f"{func}: storages are not on the device: give the tensor whose memory it is, and for a part "
                          "of it y.as_strided(size, stride, offset)")
    if not isinstance(source, DeviceTensor):
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, xla:0 and "
                           f"{source.device}!")
    with torch.no_grad():
        target.data = source.detach()
    return target


def unscale(func, args, kwargs):
    """_amp_foreach_non_finite_check_and_unscale_: gradients times a number; whether one of them had none that is
    finite is written to `found`."""
    gradients, found, factor = args
    with torch.no_grad():
        for gradient in gradients:
            found.copy_(torch.maximum(found, (~gradient.isfinite().all()).to(found.dtype)))
            gradient.copy_(torch.where(factor == 1, gradient, gradient * factor.to(gradient.dtype)))


def update_scale(func, args, kwargs):
    """_amp_update_scale_: less where gradients were not finite, more behind so many steps where they were."""
    names = [a.name for a in func._schema.arguments]
    given = {**dict(zip(names, args)), **kwargs}
    scale, tracker, found = given["self"], given["growth_tracker"], given["found_inf"] > 0
    with torch.no_grad():
        steps = tracker + 1
        grows = steps == given["growth_interval"]
        grown = torch.where(grows, scale * given["scale_growth_factor"], scale)
        grown = torch.where(grown.isfinite(), grown, scale)
        scale.copy_(torch.where(found, scale * given["scale_backoff_factor"], grown))
        tracker.copy_(torch.where(found | grows, torch.zeros_like(tracker), steps))
    return scale


NAMED = {"resize_": resized, "resize_as_": resized, "set_": set_,
         "as_strided_": reshaped, "squeeze_": reshaped, "unsqueeze_": reshaped,
         "t_": reshaped, "transpose_": reshaped, "swapaxes_": reshaped, "swapdims_": reshaped,
         "_amp_foreach_non_finite_check_and_unscale_": unscale, "_amp_update_scale_": update_scale}
