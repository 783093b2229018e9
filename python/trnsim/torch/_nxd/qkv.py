"""neuronx_distributed.modules.qkv_linear: queries, and keys and values that several query heads share."""
import torch

from trnsim.torch import _collectives as device_of
from trnsim.torch._nxd import state
from trnsim.torch._nxd.layers import BaseParallelLinear, columns, sharded
from trnsim.torch._nxd.utils import divide, set_tensor_model_parallel_attributes


class OfCopies(torch.autograd.Function):
    """A weight of which several cores have the same part; its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx, weight, rows):
        ctx.rows = rows
        return weight.view(weight.shape)

    @staticmethod
    def backward(ctx, gradient):
        return device_of.all_reduced(gradient, "sum", ctx.rows), None


def groups_of_copies(copies):
    """Cores with the same keys and values: every n-th of a tensor-parallel group."""
    each = divide(state.get_tensor_model_parallel_size(), copies)
    return [row[first::each] for row in state.get_tensor_model_parallel_group(as_list=True) for first in range(each)]


class GQAQKVColumnParallelLinear(BaseParallelLinear):
    """(queries, keys, values) of this core. `output_sizes`: features of the queries, and of the keys or values, which
    `kv_size_multiplier` repeats before they are divided. With fuse_qkv this core's weights are one parameter."""

    def __init__(self, input_size, output_sizes, bias=True, gather_output=True, dtype=torch.float32, device=None,
                 init_method=None, sequence_parallel_enabled=False, sequence_dimension=None, keep_master_weight=False,
                 kv_size_multiplier=1, fuse_qkv=True, tensor_model_parallel_group=None):
        super().__init__()
        self._settle(False, tensor_model_parallel_group, init_method)
        if gather_output and (sequence_parallel_enabled or kv_size_multiplier > 1):
            state.refuse("GQAQKVColumnParallelLinear with sequence_parallel_enabled or kv_size_multiplier needs "
                         "gather_output=False")
        if fuse_qkv and kv_size_multiplier > 1 or keep_master_weight:
            state.refuse("GQAQKVColumnParallelLinear with fuse_qkv and kv_size_multiplier, or with keep_master_weight, "
                         "is not supported: leave one out")
        self.gather_output, self.skip_bias_add, self.fused = gather_output, False, fuse_qkv
        self.sequence_parallel_enabled, self.sequence_dimension = sequence_parallel_enabled, sequence_dimension or 0
        self.copies, place = kv_size_multiplier, (dtype, device)
        self.rows = groups_of_copies(self.copies) if self.copies > 1 else None
        self.input_size, self.output_sizes = input_size, output_sizes
        queries, shared = output_sizes
        drawn = [sharded([size, input_size], 0, self._init_weight, place, 1, copies)[0]
                 for size, copies in ((queries, 1), (shared, self.copies), (shared, self.copies))]
        self.sizes = [weight.shape[0] for weight in drawn]
        if fuse_qkv:
            self.weight_qkv = torch.nn.Parameter(torch.cat([weight.detach() for weight in drawn]))
            set_tensor_model_parallel_attributes(self.weight_qkv, True, 0)
            self.weight_qkv.sections = [queries, shared, shared]
        else:
            self.weight_q, self.weight_k, self.weight_v = drawn
        self._new_biases(bias, drawn, place)

    def _new_biases(self, bias, drawn, place):
        for name, weight in zip(("bias_q", "bias_k", "bias_v"), drawn):
            if bias and not self.gather_output and self.copies == 1:
                self.weight = weight  # whose bound the bias has
                self._new_bias(weight.shape[0], place)
                setattr(self, name, self.bias)
                set_tensor_model_parallel_attributes(self.bias, True, 0)
                del self.weight, self.bias
            elif bias:
                state.refuse("GQAQKVColumnParallelLinear: bias with gather_output or kv_size_multiplier is not "
                             "supported: "
                             "use bias=False")
            else:
                self.register_parameter(name, None)

    def forward(self, input):
        if self.fused:
            out = columns(self, input, self.weight_qkv)[0].split(self.sizes, -1)
        else:
            weights = [self.weight_q, self.weight_k, self.weight_v]
            if self.copies > 1:
                weights[1:] = [OfCopies.apply(weight, self.rows) for weight in weights[1:]]
            out = columns(self, input, *weights)
        biases = (self.bias_q, self.bias_k, self.bias_v)
        return tuple(x if bias is None else x + bias for x, bias in zip(out, biases))
