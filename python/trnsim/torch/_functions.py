"""torch_xla.core.functions: collectives that autograd goes through, as torch_xla has their gradients, which no other
core takes part in; and boxes that do not overlap."""
import torch

from trnsim.torch import _collectives, _special, _xla
from trnsim.torch._engine import engine
from trnsim.torch._tensor import from_host


class AllReduce(torch.autograd.Function):
    """The gradient is that of this core's result alone."""

    @staticmethod
    def forward(ctx, tensor, reduce_type, scale, groups):
        ctx.reduce_type, ctx.scale = reduce_type, scale
        out = _xla.all_reduce(reduce_type, tensor, scale, groups)
        out = out.clone() if out is tensor else out
        ctx.save_for_backward(tensor, out)
        return out

    @staticmethod
    def backward(ctx, gradient):
        given, out = ctx.saved_tensors
        grad, kind = _xla.scaled(gradient, ctx.scale), ctx.reduce_type
        if kind == "mul":
            grad = grad * torch.where(given != 0, out / given, torch.zeros_like(given))
        elif kind in ("min", "max"):
            grad = torch.where(given == out, grad, torch.zeros_like(grad))
        elif kind != "sum":
            raise RuntimeError(f"Unsupported reduce type: {kind}")
        return grad, None, None, None


class AllGather(torch.autograd.Function):
    """The gradient is this core's part of its own."""

    @staticmethod
    def forward(ctx, tensor, dim):
        ctx.dim = dim
        out = _collectives.all_gathered(tensor, dim)
        return out.clone() if out is tensor else out

    @staticmethod
    def backward(ctx, gradient):
        """One program serves all cores: each chooses its part by a number of its own on the device."""
        parts = torch.stack(gradient.chunk(engine().ranks, ctx.dim))
        return parts.index_select(0, from_host(torch.tensor([engine().rank])))[0], None


class SummedOverCores(torch.autograd.Function):
    """The gradient is the sum of all cores' gradients."""

    @staticmethod
    def forward(ctx, tensor):
        return _xla.all_reduce("sum", tensor.clone())

    @staticmethod
    def backward(ctx, gradient):
        return _xla.all_reduce("sum", gradient.clone())


class SyncBatchNorm(torch.nn.Module):
    """torch_xla's own, beside PyTorch's: cores have as many elements each, and the running variance is that of the
    batch, without the correction for its size."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = torch.nn.Parameter(torch.ones(num_features))
        self.bias = torch.nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, batch):
        assert 2 <= batch.ndim <= 5 and batch.shape[1] == self.num_features
        mean, variance = self.running_mean, self.running_var
        if self.training:
            dims = [d for d in range(batch.ndim) if d != 1]
            mean, squares = (SummedOverCores.apply(x.mean(dims)) / engine().ranks for x in (batch, batch * batch))
            variance = squares - mean.pow(2)
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * variance
        mean, variance, weight, bias = (x.reshape([1, -1] + [1] * (batch.ndim - 2))
                                        for x in (mean, variance, self.weight, self.bias))
        return (batch - mean) / torch.sqrt(variance + self.eps) * weight + bias

    def extra_repr(self):
        return f"{self.num_features}, eps={self.eps}"


def all_reduce(reduce_type, value, scale=1.0, groups=None):
    return AllReduce.apply(value, reduce_type, 1.0 if scale is None else scale, groups)


def all_gather(value, dim=0):
    return AllGather.apply(value, dim)


def overlaps(box, others):
    """Shared area over joint area, of boxes as (y0, x0, y1, x1) with corners in any order."""
    def area(b):
        return (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    sides = (torch.minimum(box[2:], others[:, 2:]) - torch.maximum(box[:2], others[:, :2])).clamp(min=0)
    shared = sides[:, 0] * sides[:, 1]
    joint = area(box) + area(others) - shared
    return torch.where(joint > 0, shared / joint, torch.zeros_like(shared))


def nms(boxes, scores, score_threshold, iou_threshold, output_size):
    """(places of the boxes that are left, by their scores, zeros behind them; how many). The host chooses, as the
    number depends on values."""
    with engine().left_to_host("xla::nms"):
        boxes, scores, least, most = map(_special.on_host, (boxes, scores, score_threshold, iou_threshold))
    boxes = torch.cat([torch.minimum(boxes[:, :2], boxes[:, 2:]), torch.maximum(boxes[:, :2], boxes[:, 2:])], 1)
    left = [i for i in scores.argsort(descending=True, stable=True).tolist() if scores[i] > float(least)]
    kept = []
    while left and len(kept) < output_size:
        first, *rest = left
        kept.append(first)
        over = overlaps(boxes[first], boxes[rest]) > float(most)
        left = [i for i, gone in zip(rest, over.tolist()) if not gone]
    places = torch.zeros(output_size, dtype=torch.int32)
    places[:len(kept)] = torch.tensor(kept, dtype=torch.int32)
    return from_host(places), from_host(torch.tensor(len(kept), dtype=torch.int32))


def distributed_mm(w, x, split=1):
    """w @ x, where each core has its columns of w and as many rows of x as all cores' columns."""
    count, own = engine().ranks, w.size(1)
    if x.size(0) // count != own or x.size(1) % split:
        raise ValueError(f"distributed_mm: w of {list(w.shape)} and x of {list(x.shape)} among {count} cores, split by "
                         f"{split}: x needs {own * count} rows and a multiple of {split} columns")
    mine = from_host(torch.tensor([engine().rank]))
    results = []
    for part in x.split(x.size(1) // split, 1):
        every = all_gather(part, 1).reshape(count, own, -1).index_select(0, mine)[0]
        total = all_reduce("sum", w @ every)
        columns = total.reshape(total.size(0), count, -1).index_select(1, mine)
        results.append(columns.reshape(total.size(0), -1))
    return torch.cat(results, 1)


def names():
    return dict(all_reduce=all_reduce, all_gather=all_gather, nms=nms, distributed_mm=distributed_mm,
                AllReduce=AllReduce, AllGather=AllGather, AllReduceSumLayer=SummedOverCores,
                SyncBatchNorm=SyncBatchNorm)
