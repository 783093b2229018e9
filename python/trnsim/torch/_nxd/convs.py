"""neuronx_distributed's convolutions whose output or input channels are divided among the cores of a tensor-parallel
group. They are drawn as layers.py says."""
import math

import torch
import torch.nn.functional as F

from trnsim.torch._nxd import mappings, state
from trnsim.torch._nxd.layers import sharded
from trnsim.torch._nxd.utils import divide


def pair(value):
    if isinstance(value, tuple):
        return value
    if isinstance(value, int):
        return value, value
    raise TypeError(f"a size of a convolution is an int or a tuple of ints, not {type(value)}")


class BaseParallelConv(torch.nn.Module):
    def _settle(self, channels, sizes, divided, init_method):
        """`channels`: input and output; `sizes`: kernel, stride, padding and dilation; `divided`: 0 for outputs."""
        self.in_channels, self.out_channels = channels
        self.kernel_size, self.stride, self.padding, dilation = map(pair, sizes)
        if dilation != (1, 1):
            raise NotImplementedError(f"Non-1 dilation is not yet supported. Received: {dilation}")
        self.partition_dim, self.arg_init_method = divided, init_method
        self.channels_per_partition = divide(channels[1 - divided], state.get_tensor_model_parallel_size())

    def _draw(self, bias, place, keep_master):
        self.dtype = place[0]
        self.weight, whole = sharded([self.out_channels, self.in_channels, *self.kernel_size], self.partition_dim,
                                     self._init_weight, place)
        self.master_weight = whole if keep_master else None
        self.register_parameter("bias", None)
        if bias and self.partition_dim == 0:
            self.bias, _ = sharded([self.out_channels], 0, self._init_bias, place)
        elif bias:  # added to the sum: all cores have the same
            dtype, device = place
            self.bias = torch.nn.Parameter(torch.empty(self.out_channels, dtype=dtype, device=device))
            self._init_bias(self.bias)

    def _init_weight(self, weight):
        if self.arg_init_method is None:
            torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5))
        else:
            self.arg_init_method(weight)

    def _init_bias(self, bias):
        bound = 1 / math.sqrt(self.weight[0].numel())
        torch.nn.init.uniform_(bias, -bound, bound)


def plain_only(groups, padding_mode):
    if groups != 1:
        raise NotImplementedError(f"Non-1 groups is not yet supported. Received: {groups}")
    if padding_mode != "zeros":
        raise NotImplementedError(f"Non-zeros padding is not yet supported. Received: {padding_mode}")


class OutputChannelParallelConv2d(BaseParallelConv):
    """Each core computes its part of the output channels, which gather_output brings to all."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", gather_output=True, dtype=torch.float32, device=None, init_method=None,
                 keep_master_weight=False, partition_pad=False):
        super().__init__()
        plain_only(groups, padding_mode)
        self._settle((in_channels, out_channels), (kernel_size, stride, padding, dilation), 0, init_method)
        self.gather_output, self.partition_pad = gather_output, partition_pad
        self._draw(bias, (dtype, device), keep_master_weight)

    def forward(self, in_tensor):
        whole = mappings.copy_to_tensor_model_parallel_region(in_tensor)
        out = F.conv2d(whole, self.weight, self.bias, self.stride, self.padding)
        return mappings.gather_from_tensor_model_parallel_region_with_dim(out, 1) if self.gather_output else out


class InputChannelParallelConv2d(BaseParallelConv):
    """Each core has a part of the input channels; the sum of the results is brought to all."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", input_is_parallel=False, dtype=torch.float32, device=None, init_method=None,
                 keep_master_weight=False, partition_pad=False):
        super().__init__()
        plain_only(groups, padding_mode)
        self._settle((in_channels, out_channels), (kernel_size, stride, padding, dilation), 1, init_method)
        self.input_is_parallel, self.partition_pad = input_is_parallel, partition_pad
        self._draw(bias, (dtype, device), keep_master_weight)

    def forward(self, in_tensor):
        own = in_tensor if self.input_is_parallel else mappings.region(in_tensor, "part", "all", 1)
        out = F.conv2d(own, self.weight, None, self.stride, self.padding)
        out = mappings.reduce_from_tensor_model_parallel_region(out)
        return out if self.bias is None else out + self.bias[:, None, None]


def names():
    return dict(BaseParallelConv=BaseParallelConv, OutputChannelParallelConv2d=OutputChannelParallelConv2d,
                InputChannelParallelConv2d=InputChannelParallelConv2d)
