"""neuronx_distributed.parallel_layers.layers: weights of which each core of a tensor-parallel group has a part. On the
host the whole weight is drawn, on every core alike, and a core keeps its part: a seed gives the weights of one core."""
import math

import torch
import torch.nn.functional as F

from trnsim.torch import _amp
from trnsim.torch import _collectives as device_of
from trnsim.torch._checkpoint import barrier
from trnsim.torch._nxd import mappings, state
from trnsim.torch._nxd.random import get_xla_rng_tracker
from trnsim.torch._nxd.utils import create_local_weight, divide, is_downcast, repeated, \
    set_tensor_model_parallel_attributes


def sharded(shape, dim, init_method, place, stride=1, copies=1):
    """A parameter: this core's part of a tensor of `shape`. `place`: (dtype, device). `copies`: so many cores have the
    same part, as the rows of the tensor are repeated before they are divided."""
    dtype, device = place
    each = divide(shape[dim] * copies, state.get_tensor_model_parallel_size())
    if device is None or torch.device(device).type == "cpu":
        whole = torch.empty(shape, dtype=torch.float32)
        init_method(whole)
        own = torch.nn.Parameter(create_local_weight(repeated(whole.to(dtype), copies), dim, each, stride))
    elif torch.device(device).type == "meta":
        state.refuse("a tensor-parallel layer on \"meta\" is not supported: let the host draw its weights")
    elif copies > 1:
        state.refuse("kv_size_multiplier on the device is not supported: let the host draw the weights")
    else:
        whole, own_shape = None, [each if d == dim else n for d, n in enumerate(shape)]
        own = torch.nn.Parameter(torch.empty(own_shape, dtype=dtype, device="xla"))
        with get_xla_rng_tracker().fork():
            init_method(own)
    set_tensor_model_parallel_attributes(own, True, dim, stride)
    own.copies = copies
    return own, whole


def embed(layer, tokens):
    return F.embedding(tokens, layer.weight, layer.padding_idx, layer.max_norm, layer.norm_type,
                       layer.scale_grad_by_freq, layer.sparse)


class ParallelEmbedding(torch.nn.Module):
    """An embedding whose words, or with shard_across_embedding whose features, are divided among cores."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, init_method=torch.nn.init.normal_, device=None,
                 dtype=torch.float32, shard_across_embedding=False, pad=False, tensor_model_parallel_group=None,
                 sequence_parallel_enabled=False, sequence_dimension=None):
        super().__init__()
        mappings.only_group(tensor_model_parallel_group)
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = (max_norm, norm_type,
                                                                               scale_grad_by_freq, sparse)
        self.shard_across_embedding, self.sequence_parallel_enabled = shard_across_embedding, sequence_parallel_enabled
        self.sequence_dimension, self.count = sequence_dimension or 0, state.get_tensor_model_parallel_size()
        if pad or self.count > 1 and (max_norm is not None or scale_grad_by_freq):
            state.refuse("ParallelEmbedding with pad, or on several cores with max_norm or scale_grad_by_freq, is not "
                         "there: leave them out")
        if shard_across_embedding and sequence_parallel_enabled:
            state.refuse("ParallelEmbedding with shard_across_embedding and sequence_parallel_enabled is not "
                         "supported: "
                         "divide the words")
        self.weight, _ = sharded([num_embeddings, embedding_dim], 1 if shard_across_embedding else 0, init_method,
                                 (dtype, device))

    def forward(self, input_):
        if self.shard_across_embedding:
            return mappings.gather_from_tensor_model_parallel_region(embed(self, input_))
        out = embed(self, input_) if self.count == 1 else self.own_words(input_)
        if not self.sequence_parallel_enabled:
            return mappings.reduce_from_tensor_model_parallel_region(out)
        if self.sequence_dimension == 0:  # tokens are [batch, sequence], as everywhere
            out = out.transpose(0, 1).contiguous()
        return mappings.reduce_scatter_to_sequence_parallel_region(out, self.sequence_dimension)

    def own_words(self, tokens):
        """The vectors of this core's words, and zeros for the others'."""
        own = tokens - state.place(tokens) * self.weight.shape[0]
        mask = (own >= 0) & (own < self.weight.shape[0])
        out = F.embedding(own * mask.to(own.dtype), self.weight) * mask.unsqueeze(-1).to(self.weight.dtype)
        if self.padding_idx is None:
            return out
        padding = (tokens == self.padding_idx % self.num_embeddings).unsqueeze(-1)
        return torch.where(padding, out.detach(), out)  # its vector is never changed


class GatheredLinear(torch.autograd.Function):
    """Products with the whole sequence, of which each core has a part; it is gathered again for the weights' gradients
    instead of being kept."""

    @staticmethod
    def forward(ctx, own, dim, *weights):
        ctx.save_for_backward(own, *weights)
        ctx.dim = dim
        whole = device_of.all_gathered(own, dim, state.rows())
        return tuple(F.linear(whole, weight) for weight in weights)

    @staticmethod
    def backward(ctx, *gradients):
        own, *weights = ctx.saved_tensors
        whole = device_of.all_gathered(barrier([own])[0], ctx.dim, state.rows())
        of_whole = sum(gradient.matmul(weight) for gradient, weight in zip(gradients, weights))
        of_own = device_of.reduce_scattered(of_whole, "sum", ctx.dim, state.rows())
        flat = whole.reshape(-1, whole.shape[-1])
        return of_own, None, *(g.reshape(-1, g.shape[-1]).t().matmul(flat) for g in gradients)


class BaseParallelLinear(torch.nn.Module):
    def _settle(self, pad, tensor_model_parallel_group, init_method):
        mappings.only_group(tensor_model_parallel_group)
        if pad:
            state.refuse(f"{type(self).__name__} with pad is not supported: choose sizes that are multiples of the "
                         "number of cores")
        self.arg_init_method = init_method

    def _init_weight(self, weight):
        if self.arg_init_method is None:
            torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5))
        else:
            self.arg_init_method(weight)

    def _new_bias(self, size, place):
        """Drawn by each core for itself, within the bound that its part of the weight gives."""
        dtype, device = place
        on_host = device is None or torch.device(device).type == "cpu"
        self.bias = torch.nn.Parameter(torch.empty(size, dtype=dtype, device="cpu" if on_host else "xla"))
        bound = 1 / math.sqrt(self.weight.shape[1])
        torch.nn.init.uniform_(self.bias, -bound, bound)

    def _with_bias(self, out):
        if self.skip_bias_add:
            return out, self.bias
        return out if self.bias is None else out + self.bias


class ColumnParallelLinear(BaseParallelLinear):
    """Each core computes its part of the outputs, which gather_output brings to all."""

    def __init__(self, input_size, output_size, bias=True, gather_output=True, dtype=torch.float32, device=None,
                 stride=1, init_method=None, sequence_parallel_enabled=False, sequence_dimension=None,
                 keep_master_weight=False, skip_bias_add=False, pad=False, tensor_model_parallel_group=None):
        super().__init__()
        self._settle(pad, tensor_model_parallel_group, init_method)
        if gather_output and sequence_parallel_enabled:
            state.refuse("ColumnParallelLinear with sequence_parallel_enabled needs gather_output=False")
        self.input_size, self.output_size, self.gather_output = input_size, output_size, gather_output
        self.sequence_parallel_enabled, self.sequence_dimension = sequence_parallel_enabled, sequence_dimension or 0
        self.stride, self.skip_bias_add, self.dtype = stride, skip_bias_add, dtype
        self.output_size_per_partition = divide(output_size, state.get_tensor_model_parallel_size())
        self.weight, whole = sharded([output_size, input_size], 0, self._init_weight, (dtype, device), stride)
        self.master_weight = whole if keep_master_weight else None
        if bias:
            self._new_bias(output_size if gather_output else self.output_size_per_partition, (dtype, device))
            if not gather_output:
                set_tensor_model_parallel_attributes(self.bias, True, 0, stride)
        else:
            self.register_parameter("bias", None)

    def forward(self, input):
        return self._with_bias(columns(self, input, self.weight)[0])


def columns(layer, tensor, *weights):
    """The products of a layer's inputs and this core's rows of each weight."""
    if layer.sequence_parallel_enabled and state.get_tensor_model_parallel_size() > 1:
        tensor, *weights = _amp.arguments(F.linear, (tensor, *weights), {})[0]
        return GatheredLinear.apply(tensor, layer.sequence_dimension % tensor.dim(), *weights)
    tensor = mappings.copy_to_tensor_model_parallel_region(tensor)
    out = [F.linear(tensor, weight) for weight in weights]
    return [mappings.gather_from_tensor_model_parallel_region(x) for x in out] if layer.gather_output else out


class RowParallelLinear(BaseParallelLinear):
    """Each core has a part of the inputs; the sum of the products is brought to all."""

    def __init__(self, input_size, output_size, bias=True, input_is_parallel=False, dtype=torch.float32, device=None,
                 stride=1, init_method=None, sequence_parallel_enabled=False, sequence_dimension=None,
                 keep_master_weight=False, skip_bias_add=False, pad=False, reduce_output=True,
                 tensor_model_parallel_group=None):
        super().__init__()
        self._settle(pad, tensor_model_parallel_group, init_method)
        if sequence_parallel_enabled and not input_is_parallel:
            raise RuntimeError("RowParallelLinear with sequence_parallel_enabled needs input_is_parallel=True")
        self.input_size, self.output_size, self.input_is_parallel = input_size, output_size, input_is_parallel
        self.sequence_parallel_enabled, self.sequence_dimension = sequence_parallel_enabled, sequence_dimension or 0
        self.stride, self.skip_bias_add, self.dtype = stride, skip_bias_add, dtype
        self.reduce_output = reduce_output
        self.input_size_per_partition = divide(input_size, state.get_tensor_model_parallel_size())
        self.weight, whole = sharded([output_size, input_size], 1, self._init_weight, (dtype, device), stride)
        self.master_weight = whole if keep_master_weight else None
        if bias:
            self._new_bias(output_size, (dtype, device))
            self.bias.sequence_parallel_enabled = sequence_parallel_enabled
        else:
            self.register_parameter("bias", None)

    def forward(self, input_):
        if not self.input_is_parallel:
            input_ = mappings.scatter_to_tensor_model_parallel_region(input_)
        out = F.linear(input_, self.weight)
        if self.reduce_output and self.sequence_parallel_enabled:
            out = mappings.reduce_scatter_to_sequence_parallel_region(out, self.sequence_dimension)
        elif self.reduce_output:
            out = mappings.reduce_from_tensor_model_parallel_region(out)
        return self._with_bias(out)


class LayerNorm(torch.nn.LayerNorm):
    """neuronx_distributed.parallel_layers.layer_norm's: with sequence_parallel_enabled its gradients are those of a
    part of the sequence, which allreduce_sequence_parallel_gradients() sums."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, device=None, dtype=None,
                 sequence_parallel_enabled=False):
        super().__init__(normalized_shape, eps, elementwise_affine, device=device, dtype=dtype)
        self.sequence_parallel_enabled = sequence_parallel_enabled
        for parameter in self.parameters():
            parameter.sequence_parallel_enabled = sequence_parallel_enabled

    def forward(self, input):
        if not is_downcast():
            return super().forward(input)
        scale = [None if parameter is None else parameter.double() for parameter in (self.weight, self.bias)]
        return F.layer_norm(input.double(), self.normalized_shape, *scale, self.eps).to(input.dtype)


class RMSNorm(torch.nn.Module):
    """neuronx_distributed.modules.rms_norm's: computed in fp32, in the type of the values."""

    def __init__(self, normalized_shape, eps=1e-5, sequence_parallel_enabled=False, elementwise_affine=True):
        super().__init__()
        if not elementwise_affine:
            raise RuntimeError("RMSNorm does not support `elementwise_affine = False`")
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps, self.elementwise_affine = torch.Size(shape), eps, True
        self.weight = torch.nn.Parameter(torch.ones(self.normalized_shape))
        self.weight.sequence_parallel_enabled = sequence_parallel_enabled

    def forward(self, input):
        wide = input.float()
        dims = tuple(range(-len(self.normalized_shape), 0))
        return (self.weight * (wide * torch.rsqrt(wide.square().mean(dims, keepdim=True) + self.eps))).to(input.dtype)


class SPMDRank(torch.nn.Module):
    """A core's number as a weight: the checkpoint of the whole model has all numbers in a row."""

    def __init__(self, world_size):
        super().__init__()
        self.world_size = world_size
        self.rank = torch.nn.Parameter(torch.zeros(1, dtype=torch.int32), requires_grad=False)
        set_tensor_model_parallel_attributes(self.rank, True, 0, 1, world_size)

    def get_rank(self):
        return self.rank


def names():
    return dict(ParallelEmbedding=ParallelEmbedding, ColumnParallelLinear=ColumnParallelLinear,
                RowParallelLinear=RowParallelLinear, BaseParallelLinear=BaseParallelLinear, SPMDRank=SPMDRank)
