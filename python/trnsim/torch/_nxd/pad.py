"""neuronx_distributed.parallel_layers.pad: heads that cores do not divide are filled up with heads of zeros."""
import torch
import torch.nn.functional as F

from trnsim.torch._nxd import layers
from trnsim.torch._nxd.utils import is_parallel, set_tensor_model_parallel_attributes


def get_number_of_extra_heads(n_head, tp_degree):
    return -n_head % tp_degree


def padded(parameter, dim, ratio):
    """A parameter with zeros behind it along `dim`."""
    more = int(parameter.shape[dim] * ratio - parameter.shape[dim])
    new = torch.nn.Parameter(F.pad(parameter.data, [0, 0] * (parameter.dim() - 1 - dim) + [0, more]))
    if is_parallel(parameter):
        set_tensor_model_parallel_attributes(new, True, parameter.partition_dim, parameter.partition_stride)
    return new


def pad_layers(module, ratio, hook):
    if hook is not None:
        hook(module, ratio)
    if isinstance(module, layers.ColumnParallelLinear):
        module.weight = padded(module.weight, 0, ratio)
        if module.bias is not None:
            module.bias = padded(module.bias, 0, ratio)
    elif isinstance(module, layers.RowParallelLinear):
        module.weight = padded(module.weight, 1, ratio)


def pad_model(model, tp_degree, n_heads, wrapped_classes=(), pad_hook_fn=None):
    """The model, whose parallel layers inside `wrapped_classes` (in all of it, if there are none) have as many heads as
    the cores divide. `pad_hook_fn`: called with each module in there and the ratio of the heads."""
    ratio, kinds = (n_heads + get_number_of_extra_heads(n_heads, tp_degree)) / n_heads, tuple(wrapped_classes)

    def walk(module, inside):
        inside = inside or not kinds or isinstance(module, kinds)
        for child in module.children():
            walk(child, inside)
        if inside:
            pad_layers(module, ratio, pad_hook_fn)
    walk(model, False)
    return model


def names():
    return dict(get_number_of_extra_heads=get_number_of_extra_heads, pad_model=pad_model)
