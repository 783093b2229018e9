"""neuronx_distributed.parallel_layers.mappings: ways into and out of regions where each core of a tensor-parallel group
has a part of a tensor. Each names its collective, and that of its gradient."""
import torch

from trnsim.torch import _collectives as device
from trnsim.torch._nxd import state
from trnsim.torch._tensor import DeviceTensor


def part(tensor, dim):
    """This core's part of a dimension."""
    count, shape = state.get_tensor_model_parallel_size(), list(tensor.shape)
    rows = tensor.reshape(shape[:dim] + [count, shape[dim] // count] + shape[dim + 1:])
    return rows.index_select(dim, state.place(tensor).reshape(1)).squeeze(dim)


WAYS = {"same": lambda tensor, dim: tensor.view(tensor.shape), "part": part,
        "sum": lambda tensor, dim: device.all_reduced(tensor, "sum", state.rows()),
        "all": lambda tensor, dim: device.all_gathered(tensor, dim, state.rows()),
        "sum of part": lambda tensor, dim: device.reduce_scattered(tensor, "sum", dim, state.rows())}


class Region(torch.autograd.Function):
    """One way, and another for the gradient."""

    @staticmethod
    def forward(ctx, tensor, way, back, dim):
        ctx.back, ctx.dim = back, dim
        return WAYS[way](tensor, dim)

    @staticmethod
    def backward(ctx, gradient):
        return WAYS[ctx.back](gradient, ctx.dim), None, None, None


def region(tensor, way, back, dim=-1):
    count = state.get_tensor_model_parallel_size()
    if count == 1:
        return tensor
    if not isinstance(tensor, DeviceTensor):
        state.refuse("a tensor-parallel layer of several cores gets a host tensor: move it to xm.xla_device()")
    dim %= tensor.dim()
    if "part" in way and tensor.shape[dim] % count:
        state.refuse(f"dimension {dim} of {list(tensor.shape)} cannot be divided among {count} cores: choose a size "
                     "that can")
    return Region.apply(tensor, way, back, dim)


def only_group(process_group):
    """Errors: for any but the tensor-parallel group."""
    if process_group is not None and process_group is not state.get_tensor_model_parallel_group():
        state.refuse("layers and mappings of another group than the tensor-parallel one are not supported: leave it "
                     "out")


def copy_to_tensor_model_parallel_region(input_, process_group=None):
    only_group(process_group)
    return region(input_, "same", "sum")


def reduce_from_tensor_model_parallel_region(input_, process_group=None):
    only_group(process_group)
    out = region(input_, "sum", "same")
    if out is not input_ and not input_.requires_grad:
        input_.copy_(out)  # as there: scripts sum gradients by it and leave the answer
    return out


def scatter_to_tensor_model_parallel_region(input_, process_group=None):
    only_group(process_group)
    return region(input_, "part", "all")


def gather_from_tensor_model_parallel_region(input_, process_group=None):
    only_group(process_group)
    return region(input_, "all", "part")


def gather_from_tensor_model_parallel_region_with_dim(input_, gather_dim, process_group=None):
    only_group(process_group)
    return region(input_, "all", "part", gather_dim)


def scatter_to_sequence_parallel_region(input_, sequence_dimension=0, process_group=None):
    only_group(process_group)
    return region(input_, "part", "all", sequence_dimension)


def gather_from_sequence_parallel_region(input_, sequence_dimension=0, to_model_parallel=True, process_group=None):
    only_group(process_group)
    if isinstance(sequence_dimension, bool):  # releases without sequence_dimension have the other in its place
        sequence_dimension, to_model_parallel = 0, sequence_dimension
    return region(input_, "all", "sum of part" if to_model_parallel else "part", sequence_dimension)


def reduce_scatter_to_sequence_parallel_region(input_, sequence_dimension=0, process_group=None):
    only_group(process_group)
    return region(input_, "sum of part", "all", sequence_dimension)


def names():
    return {name: value for name, value in globals().items() if name.endswith(("_region", "_region_with_dim"))}
