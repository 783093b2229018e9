"""torch_xla's ZeroRedundancyOptimizer: each core updates its part of every parameter's rows."""
import torch

from trnsim.torch import _collectives as between
from trnsim.torch._engine import engine
from trnsim.torch._tensor import from_host


def parts(tensor, count):
    """[count, rows, ...]: a tensor's rows in as many parts, the last of them filled up with zeros."""
    flat = tensor.reshape(1) if tensor.dim() == 0 else tensor
    missing = -flat.shape[0] % count
    if missing:
        flat = torch.cat([flat, flat.new_zeros((missing,) + tuple(flat.shape[1:]))])
    return flat.reshape((count, -1) + tuple(flat.shape[1:]))


class ZeroRedundancyOptimizer(torch.optim.Optimizer):
    """`optimizer_class` on this core's parts, whose type is `optimizer_dtype` (fp32). step() averages gradients over
    cores, clips them by their norm over all parts, and gathers the updated parameters."""

    def __init__(self, params, optimizer_class, optimizer_dtype=None, grad_clipping=True, max_norm=None, **defaults):
        layout = {name: defaults.pop(name, None) for name in ("pin_layout", "sharding_groups", "grad_norm_groups",
                                                              "lazy_init")}
        if layout["sharding_groups"] or layout["grad_norm_groups"]:
            raise RuntimeError("ZeroRedundancyOptimizer with groups of cores is not there: leave them out")
        super().__init__(params, defaults)
        self.clips, self.max_norm, self.cores = grad_clipping, 1.0 if max_norm is None else max_norm, engine().ranks
        self.mine = from_host(torch.tensor([engine().rank]))  # a number on the device: the same program on all cores
        self.dtype = optimizer_dtype or torch.float32
        groups = [dict(group, params=[self.part(p) for p in group["params"]]) for group in self.param_groups]
        self.base_optimizer = optimizer_class(groups, **defaults)
        self.grad_norm = None

    def part(self, parameter):
        with torch.no_grad():
            own = parts(parameter.detach(), self.cores).index_select(0, self.mine)[0].to(self.dtype)
        return torch.nn.Parameter(own, parameter.requires_grad)

    def pairs(self):
        """Each parameter with this core's part of it."""
        for whole, own in zip(self.param_groups, self.base_optimizer.param_groups):
            own.update({name: value for name, value in whole.items() if name != "params"})
            yield from zip(whole["params"], own["params"])

    @torch.no_grad()
    def step(self, closure=None, **named):
        if closure is not None:
            raise RuntimeError("ZeroRedundancyOptimizer.step() takes no closure: call backward() before it")
        pairs = [(whole, own) for whole, own in self.pairs() if whole.grad is not None]
        for whole, own in pairs:
            rows = parts(whole.grad.to(self.dtype), self.cores)
            rows = rows.reshape((-1,) + tuple(rows.shape[2:]))
            own.grad = between.reduce_scattered(rows, "sum") / self.cores
        if self.clips and pairs:
            self.clip([own.grad for _, own in pairs])
        self.base_optimizer.step(**named)
        for whole, own in pairs:
            own.grad = None
            every = between.all_gathered(own.detach().to(whole.dtype))
            whole.copy_(every[:max(whole.shape[0], 1)].reshape(whole.shape) if whole.dim() else every[0])

    def clip(self, grads):
        squares = between.all_reduced(torch.stack([g.float().square().sum() for g in grads]).sum(), "sum")
        self.grad_norm = squares.sqrt()
        factor = torch.clamp(self.max_norm / (self.grad_norm + 1e-6), max=1.0)
        for grad in grads:
            grad.mul_(factor)

    def state_dict(self):
        return dict(super().state_dict(), base_state=self.base_optimizer.state_dict()["state"])

    def load_state_dict(self, state):
        state = dict(state)
        base = state.pop("base_state")
        super().load_state_dict(state)
        self.base_optimizer.load_state_dict(dict(self.base_optimizer.state_dict(), state=base))
