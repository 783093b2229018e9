"""Lists of tensors that travel together between cores, and torch_xla's functions that cut long lists into buckets."""
import math
import os

import torch

from trnsim.torch import _collectives as between
from trnsim.torch._collectives import size_of

MIB = 1 << 20


def together(tensors, call):
    """call(tensors of one type) for each type: results in the order of `tensors`."""
    out, kinds = [None] * len(tensors), {}
    for i, tensor in enumerate(tensors):
        kinds.setdefault(tensor.dtype, []).append(i)
    for places in kinds.values():
        for i, result in zip(places, call([tensors[i] for i in places])):
            out[i] = result
    return out


def all_gathered(tensors, dim=0, groups=None):
    """Each as all_gathered() of it, by one collective for each type."""
    count = size_of(groups)
    if count == 1:
        return list(tensors)

    def call(same):
        flat = torch.cat([t.reshape(-1) for t in same])
        rows = between.all_gathered(flat, 0, groups).reshape(count, -1)
        parts = rows.split([t.numel() for t in same], 1)
        return [torch.cat([part[r].reshape(t.shape) for r in range(count)], dim) for t, part in zip(same, parts)]
    return together(tensors, call)


def reduce_scattered(tensors, operation, dim=0, groups=None):
    """Each as reduce_scattered() of it, by one collective for each type."""
    count = size_of(groups)
    if count == 1:
        return list(tensors)
    if any(t.shape[dim] % count for t in tensors):
        raise ValueError(f"reduce_scatter: dimension {dim} of {[list(t.shape) for t in tensors]} cannot be divided "
                         f"among {count} cores")

    def call(same):
        parts = [torch.stack(t.chunk(count, dim)).reshape(count, -1) for t in same]
        mine = between.reduce_scattered(torch.cat(parts, 1).reshape(-1), operation, 0, groups)
        shapes = [t.chunk(count, dim)[0].shape for t in same]
        return [x.reshape(shape) for x, shape in zip(mine.split([part.shape[1] for part in parts]), shapes)]
    return together(tensors, call)


def size(tensor):
    return tensor.numel() * tensor.element_size()


def buckets(tensors, most):
    """Places of the tensors of each bucket. A bucket ends where the next tensor would exceed `most` bytes; a larger one
    joins a bucket of less than half of that."""
    out, total = [[]], 0
    for i, tensor in enumerate(tensors):
        joins = size(tensor) > most and total < most / 2 and total + size(tensor) <= 2 * most
        if not joins and total + size(tensor) > most:
            out, total = out + [[]], 0
        out[-1].append(i)
        total += size(tensor)
        if joins:
            out, total = out + [[]], 0
    return [bucket for bucket in out if bucket]


def in_buckets(name, given, output, most_mb, pin_layout, call):
    """call(bucket) for each bucket; results in order, in the tensors of `output` where they are given."""
    if pin_layout:
        raise RuntimeError(f"xm.{name}: pin_layout=True is not supported, in torch_xla neither: leave it out")
    for what, tensors in (("input_list", given), ("output", output)):
        if tensors is not None and (not isinstance(tensors, list) or any(
                not isinstance(t, torch.Tensor) for t in tensors)):
            raise TypeError(f"xm.{name}: `{what}` needs to be a list of tensors, but is {type(tensors).__name__}")
    if output is not None and len(output) != len(given):
        raise ValueError(f"xm.{name}: {len(output)} outputs for {len(given)} inputs: give as many")
    out = [result for bucket in buckets(given, most_mb * MIB) for result in call([given[i] for i in bucket])]
    for target, result in zip(output or (), out):
        target.copy_(result)
    return out if output is None else output


def all_gather_bucketized(input_list, dim=0, groups=None, output=None, pin_layout=False, bucket_cap_mb=160):
    return in_buckets("all_gather_bucketized", input_list, output, bucket_cap_mb, pin_layout,
                      lambda bucket: all_gathered(bucket, dim, groups))


def reduce_scatter_bucketized(reduce_type, input_list, scale, scatter_dim, shard_count, groups=None, output=None,
                              pin_layout=False, bucket_cap_mb=160):
    if shard_count not in (None, size_of(groups)):
        raise ValueError(f"reduce_scatter_bucketized: shard_count {shard_count} among {size_of(groups)} cores")

    def call(bucket):
        out = reduce_scattered(bucket, reduce_type, scatter_dim, groups)
        return out if scale == 1 else [x * scale for x in out]
    return in_buckets("reduce_scatter_bucketized", input_list, output, bucket_cap_mb, pin_layout, call)


def all_reduce_bucketized_gradients(gradients, scale, groups, pin_layout, bucket_cap_mb=0):
    """Sums in place, in the order of the list; a bucket ends where the next gradient would exceed its size."""
    gradients, bucket, total = list(gradients), [], 0
    with torch.no_grad():
        for gradient in [*gradients, None]:
            more = 0 if gradient is None else size(gradient)
            if bucket and (gradient is None or total + more > bucket_cap_mb * MIB):
                for one, new in zip(bucket, between.all_reduced_list(bucket, "sum", groups, math.inf)):
                    one.copy_(new if scale == 1 else new * scale)
                bucket, total = [], 0
            bucket, total = bucket + [gradient], total + more


def bucket_of_gradients():
    """Megabytes of a bucket in reduce_gradients(); 0: the default."""
    value = os.environ.get("ALLREDUCE_GRADIENTS_BUCKET_SIZE_MB", "0")
    if not value.isdigit():
        raise ValueError(f"ALLREDUCE_GRADIENTS_BUCKET_SIZE_MB={value}: give a whole number")
    return int(value)


def names():
    return dict(all_gather_bucketized=all_gather_bucketized, reduce_scatter_bucketized=reduce_scatter_bucketized,
                all_reduce_bucketized_gradients=all_reduce_bucketized_gradients)
