"""The layers of neuronx_distributed.modules.lora: a frozen layer and the product of two thin matrices beside it. Where
cores have a layer in parts, the second matrix is divided if the outputs are, the first one if the inputs are."""
import math

import torch
import torch.nn.functional as F

from trnsim.torch._nxd import state
from trnsim.torch._nxd.layers import ColumnParallelLinear, RowParallelLinear
from trnsim.torch._nxd.qkv import GQAQKVColumnParallelLinear


class LoraLayer(torch.nn.Module):
    """A layer and its adapter; the sum of both until merge() adds the adapter's product to the layer's weight."""

    def __init__(self, base_layer, lora_config):
        super().__init__()
        if lora_config.lora_rank <= 0:
            raise ValueError(f"lora_rank={lora_config.lora_rank} is not positive")
        rank, self.base_layer, self.merged = lora_config.lora_rank, base_layer, False
        self.lora_rank, self.lora_alpha = rank, lora_config.lora_alpha
        self.scaling = self.lora_alpha / (math.sqrt(rank) if lora_config.use_rslora else rank)
        share = lora_config.lora_dropout
        self.lora_dropout = torch.nn.Dropout(share) if share > 0 else torch.nn.Identity()
        self.update_layer(lora_config)
        self.draw(lora_config.init_lora_weights.lower())
        self.to(next(base_layer.parameters()).device)

    def draw(self, how):
        if how not in ("default", "gaussian"):
            raise ValueError(f"init_lora_weights is \"default\" or \"gaussian\", not {how!r}")
        if how == "gaussian":
            torch.nn.init.normal_(self.lora_A.weight, std=1 / self.lora_rank)
        else:
            torch.nn.init.kaiming_uniform_(self.lora_A.weight, a=math.sqrt(5))
        for weight in self.lora_B.parameters():
            torch.nn.init.zeros_(weight)

    def get_base_layer(self):
        return self.base_layer

    def added(self, x):
        """The adapter's part of the output."""
        return self.lora_B(self.lora_A(self.lora_dropout(x.to(self.lora_A.weight.dtype))))

    def forward(self, x, *args, **kwargs):
        out = self.base_layer(x, *args, **kwargs)
        if self.merged:
            return out
        if isinstance(out, tuple):
            state.refuse("an adapter of a layer with skip_bias_add is not supported: leave skip_bias_add out")
        kept = x.dtype if x.is_floating_point() else out.dtype
        return (out + self.added(x) * self.scaling).to(kept)

    def weights(self):
        """[(weight of the layer, what its adapter adds)]."""
        return [(self.base_layer.weight, self.get_delta_weight())]

    def get_delta_weight(self):
        return self.lora_B.weight @ self.lora_A.weight * self.scaling

    def merge(self):
        self.change(not self.merged, 1)

    def unmerge(self):
        self.change(self.merged, -1)

    def change(self, wanted, sign):
        with torch.no_grad():
            for weight, more in self.weights() if wanted else ():
                weight.add_(more.to(weight.dtype), alpha=sign)
        self.merged = sign > 0

    def __repr__(self):
        return "lora." + super().__repr__()


class LoraLinear(LoraLayer):
    def update_layer(self, lora_config):
        base = self.base_layer
        self.lora_A = torch.nn.Linear(base.in_features, self.lora_rank, bias=False, dtype=base.weight.dtype)
        self.lora_B = torch.nn.Linear(self.lora_rank, base.out_features, bias=False, dtype=base.weight.dtype)


class LoraConv2d(LoraLayer):
    def update_layer(self, lora_config):
        base = self.base_layer
        self.lora_A = torch.nn.Conv2d(base.in_channels, self.lora_rank, base.kernel_size, base.stride, base.padding,
                                      bias=False, dtype=base.weight.dtype)
        self.lora_B = torch.nn.Conv2d(self.lora_rank, base.out_channels, 1, bias=False, dtype=base.weight.dtype)

    def get_delta_weight(self):
        return torch.einsum("or,rikl->oikl", self.lora_B.weight[:, :, 0, 0], self.lora_A.weight) * self.scaling


class LoraEmbedding(LoraLayer):
    def update_layer(self, lora_config):
        base = self.base_layer
        self.lora_embedding_A = torch.nn.Parameter(torch.zeros(self.lora_rank, base.num_embeddings,
                                                               dtype=base.weight.dtype))
        self.lora_embedding_B = torch.nn.Parameter(torch.randn(base.embedding_dim, self.lora_rank,
                                                               dtype=base.weight.dtype))

    def draw(self, how):
        """The first matrix stays zero, and the second one has no such rule."""

    def added(self, x):
        base = self.base_layer
        return F.embedding(x, self.lora_embedding_A.T, base.padding_idx, base.max_norm, base.norm_type,
                           base.scale_grad_by_freq, base.sparse) @ self.lora_embedding_B.T

    def get_delta_weight(self):
        return (self.lora_embedding_B @ self.lora_embedding_A).T * self.scaling


def of_sequence(layer, base):
    """A whole layer that sees a part of the sequence: its gradients are summed with the norms'."""
    for parameter in layer.parameters():
        parameter.sequence_parallel_enabled = base.sequence_parallel_enabled
    return layer


class LoraParallelLinear(LoraLayer):
    def update_layer(self, lora_config):
        base, rank, draw = self.base_layer, self.lora_rank, torch.nn.init.xavier_normal_
        parts = dict(bias=False, init_method=draw, sequence_parallel_enabled=base.sequence_parallel_enabled,
                     sequence_dimension=base.sequence_dimension)
        if isinstance(base, RowParallelLinear):
            self.lora_A = RowParallelLinear(base.input_size, rank, input_is_parallel=base.input_is_parallel, **parts)
            self.lora_B = of_sequence(torch.nn.Linear(rank, base.output_size, bias=False), base)
        else:
            self.lora_A = of_sequence(torch.nn.Linear(base.input_size, rank, bias=False), base)
            self.lora_B = ColumnParallelLinear(rank, base.output_size, gather_output=base.gather_output, **parts)


class LoraGQAQKVParallelLinear(LoraLayer):
    def update_layer(self, lora_config):
        base = self.base_layer
        self.lora_A = of_sequence(torch.nn.Linear(base.input_size, self.lora_rank, bias=False), base)
        self.lora_B = GQAQKVColumnParallelLinear(
            self.lora_rank, base.output_sizes, bias=False, gather_output=base.gather_output, fuse_qkv=False,
            init_method=torch.nn.init.xavier_normal_, kv_size_multiplier=base.copies,
            sequence_parallel_enabled=base.sequence_parallel_enabled, sequence_dimension=base.sequence_dimension)

    def forward(self, x, *args, **kwargs):
        out = self.base_layer(x, *args, **kwargs)
        return out if self.merged else tuple(
            (part + more * self.scaling).to(x.dtype) for part, more in zip(out, self.added(x)))

    def weights(self):
        base = self.base_layer
        more = [weight @ self.lora_A.weight * self.scaling for weight in self.lora_B.parameters()]
        return [(base.weight_qkv, torch.cat(more))] if base.fused else \
            list(zip((base.weight_q, base.weight_k, base.weight_v), more))


KINDS = ((torch.nn.Embedding, LoraEmbedding), (torch.nn.Conv2d, LoraConv2d), (torch.nn.Linear, LoraLinear),
         ((ColumnParallelLinear, RowParallelLinear), LoraParallelLinear),
         (GQAQKVColumnParallelLinear, LoraGQAQKVParallelLinear))


def adapted(layer, name, config):
    """The layer with its adapter."""
    made = next((own for kind, own in KINDS if isinstance(layer, kind)), None)
    if made is None:
        raise ValueError(f"LoraConfig: {name} is a {type(layer).__name__}; adapters are for Linear, Embedding, Conv2d, "
                         "ColumnParallelLinear, RowParallelLinear and GQAQKVColumnParallelLinear")
    return made(layer, config)


def tables():
    return {"modules.lora.layer": dict(LoraLayer=LoraLayer, LoraLinear=LoraLinear, LoraConv2d=LoraConv2d,
                                       LoraEmbedding=LoraEmbedding),
            "modules.lora.tp_layer": dict(LoraParallelLinear=LoraParallelLinear,
                                          LoraGQAQKVParallelLinear=LoraGQAQKVParallelLinear)}
