"""SyncBatchNorm between simulated cores, whose own kernels are a GPU's: one all-gather of each core's mean, squares
around it and count, and of their gradients one reduce-scatter."""
import torch

from trnsim.torch import _collectives, _dist
from trnsim.torch._tensor import DeviceTensor

plain_forward = torch.nn.SyncBatchNorm.forward


class Gathered(torch.autograd.Function):
    """Every core's rows; the gradient is this core's part of the sum of theirs."""

    @staticmethod
    def forward(ctx, rows, groups):
        ctx.groups = groups
        return _collectives.all_gathered(rows, 0, groups)

    @staticmethod
    def backward(ctx, gradient):
        return _collectives.reduce_scattered(gradient, "sum", 0, ctx.groups), None


def statistics(x, group):
    """Mean and sum of squares around it of each channel over all cores, and the number of elements."""
    dims, count = [d for d in range(x.dim()) if d != 1], x.numel() // x.shape[1]
    mean = x.mean(dims)
    squares = (x - mean.reshape([1, -1] + [1] * (x.dim() - 2))).square().sum(dims)
    own = torch.cat([mean, squares, torch.full((1,), float(count), device=x.device)])
    rows = Gathered.apply(own.unsqueeze(0), group.rows)
    means, squares, counts = rows.split([len(mean), len(mean), 1], 1)
    total = counts.sum()
    mean = (means * counts).sum(0) / total
    return mean, (squares + counts * (means - mean).square()).sum(0), total


def synchronized(norm, x, group):
    wide = x.float()
    mean, squares, total = statistics(wide, group)
    if norm.training and norm.track_running_stats:
        with torch.no_grad():
            norm.num_batches_tracked.add_(1)
            factor = 1.0 / float(norm.num_batches_tracked) if norm.momentum is None else norm.momentum
            norm.running_mean.mul_(1 - factor).add_(mean, alpha=factor)
            norm.running_var.mul_(1 - factor).add_(squares / (total - 1), alpha=factor)
    shape = [1, -1] + [1] * (x.dim() - 2)
    out = (wide - mean.reshape(shape)) * torch.rsqrt(squares / total + norm.eps).reshape(shape)
    if norm.affine:
        out = out * norm.weight.reshape(shape) + norm.bias.reshape(shape)
    return out.to(x.dtype)


def forward(self, x):
    if not isinstance(x, DeviceTensor):
        return plain_forward(self, x)
    self._check_input_dim(x)
    if self.training:
        group = _dist.of(self.process_group)
        if group.size() > 1:
            return synchronized(self, x, group)
    return torch.nn.BatchNorm1d.forward(self, x)  # which all BatchNorms have, of one core


def install():
    torch.nn.SyncBatchNorm.forward = forward
