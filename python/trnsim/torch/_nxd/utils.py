"""neuronx_distributed.parallel_layers.utils, and those helpers of neuronx_distributed.utils that scripts ask for."""
import enum
import logging
import os

import torch

from trnsim.torch import _xla
from trnsim.torch._nxd import state

ATTRIBUTES = {"tensor_model_parallel": False, "partition_dim": -1, "partition_stride": 1, "copies": 1,
              "num_partitions": None}


def divide(numerator, denominator):
    if numerator % denominator:
        state.refuse(f"{numerator} is not divisible by {denominator}: choose sizes that are multiples of the number "
                     "of cores of a "
                     "tensor-parallel group")
    return numerator // denominator


class hardware(enum.Enum):
    """The chips, by the names that torch_neuronx.utils.get_platform_target() gives them."""
    INF2 = "inf2"
    TRN1 = "trn1"
    TRN2 = "trn2"
    TRN3 = "trn3"


def get_padding_length(numerator, denominator):
    return -numerator % denominator


class EmbeddingUtility:
    """Which rows of a vocabulary a core has: (first, last + 1)."""

    @staticmethod
    def range_from_per_partition_vocab_size(per_partition_vocab_size, rank, world_size):
        return rank * per_partition_vocab_size, (rank + 1) * per_partition_vocab_size

    @staticmethod
    def range_from_global_vocab_size(global_vocab_size, rank, world_size):
        each = divide(global_vocab_size, world_size)
        return EmbeddingUtility.range_from_per_partition_vocab_size(each, rank, world_size)


def set_tensor_model_parallel_attributes(tensor, is_parallel, dim, stride=1, num_partitions=None):
    tensor.tensor_model_parallel, tensor.partition_dim, tensor.partition_stride = is_parallel, dim, stride
    tensor.num_partitions = num_partitions


def set_defaults_if_not_set_tensor_model_parallel_attributes(tensor):
    for name, value in ATTRIBUTES.items():
        if not hasattr(tensor, name):
            setattr(tensor, name, value)


def copy_tensor_model_parallel_attributes(destination_tensor, source_tensor):
    for name in ATTRIBUTES:
        if hasattr(source_tensor, name):
            setattr(destination_tensor, name, getattr(source_tensor, name))


def is_parallel(parameter):
    return getattr(parameter, "tensor_model_parallel", False)


def param_is_not_tensor_parallel_duplicate(param):
    return is_parallel(param) or state.get_tensor_model_parallel_rank() == 0


def split_tensor_along_dim(tensor, dim, num_partitions, contiguous_split_chunks=False):
    parts = torch.split(tensor, divide(tensor.shape[dim], num_partitions), dim)
    return tuple(part.contiguous() for part in parts) if contiguous_split_chunks else parts


def split_tensor_along_last_dim(tensor, num_partitions, contiguous_split_chunks=False):
    return split_tensor_along_dim(tensor, -1, num_partitions, contiguous_split_chunks)


def split_tensor_along_second_dim(tensor, num_partitions, contiguous_split_chunks=False):
    return split_tensor_along_dim(tensor, 1, num_partitions, contiguous_split_chunks)


def cast_all(state_dict, from_dtype=torch.float32, to_dtype=torch.bfloat16):
    return _xla.mapped(state_dict, lambda tensor: tensor.to(to_dtype) if tensor.dtype is from_dtype else tensor)


def move_all_tensor_to_cpu(data, convert=True):
    return _xla.to_host(data) if convert else data


def move_model_to_device(model, device):
    model.to(device)


def create_local_weight(full_weight, partition_dim, per_partition_size, stride, out_weight=None):
    """This core's part of a weight. `stride`: so many weights one behind the other, each of which is divided."""
    pieces = full_weight.split(divide(per_partition_size, stride), partition_dim)
    rank, count = state.get_tensor_model_parallel_rank(), state.get_tensor_model_parallel_size()
    with torch.no_grad():
        return torch.cat(pieces[rank::count], partition_dim, out=out_weight)


def is_downcast():
    """Whether floats are bf16 on the device, and doubles fp32."""
    return os.environ.get("XLA_DOWNCAST_BF16", "0") == "1"


def repeated(weight, copies):
    return torch.cat([weight] * copies) if copies > 1 else weight


def get_logger(name="Neuron", rank0_only=True):
    logger = logging.getLogger(name)
    logger.addFilter(lambda record: state.is_global_rank_zero() or not rank0_only)
    return logger


def cpu_mode():
    """Whether the script has chosen to compute on the host."""
    return os.environ.get("NXD_CPU_MODE", "0") == "1"


def mark_step():
    """Ends a step; on the host there is none."""
    if not cpu_mode():
        _xla.mark_step()


def is_hf_pretrained_model(model):
    return hasattr(model, "_no_split_modules")


def names():
    own = {name: value for name, value in globals().items() if callable(value) and getattr(
        value, "__module__", "") == __name__}
    own.pop("hardware")
    return dict(own, ensure_divisibility=divide, get_local_world_size=_xla.world_size,
                requires_init_pg_override=lambda: False, is_pjrt_device=lambda: True,
                is_torch_version_greater_than_2=lambda: torch.__version__.startswith("2"))
