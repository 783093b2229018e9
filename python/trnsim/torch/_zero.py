"""torch_xla's ZeroRedundancyOptimizer: each core updates its part of every parameter's rows."""
import torch

from trnsim.torch import _collectives as between
from trnsim.torch._engine import engine
from trnsim.torch._tensor import from_host

# Arguments that change when and in which packages tensors travel, not their values.
TRAVEL = ("pin_layout", "coalesce_cc", "bucket_cap_mb_all_gather", "bucket_cap_mb_reduce_scatter")
# Those that change values: gradients are reduced in the parts' type, are added up in it, and a state has the parts.
VALUES = ("higher_cc_precision", "use_grad_acc_hook", "save_master_weights")


def parts(tensor, count):
    """[count, rows, ...]: a tensor's rows in as many parts, the last of them filled up with zeros."""
    flat = tensor.reshape(1) if tensor.dim() == 0 else tensor
    missing = -flat.shape[0] % count
    if missing:
        flat = torch.cat([flat, flat.new_zeros((missing,) + tuple(flat.shape[1:]))])
    return flat.reshape((count, -1) + tuple(flat.shape[1:]))


def row_of(groups):
    """The group that this core is in."""
    return next(list(row) for row in groups if engine().rank in row)


class ZeroRedundancyOptimizer(torch.optim.Optimizer):
    """`optimizer_class` on this core's parts, whose type is `optimizer_dtype` (fp32). step() averages gradients over
    the cores of `sharding_groups`, clips them by their norm over all parts and over `grad_norm_groups`, and gathers
    the updated parameters."""

    def __init__(self, params, optimizer_class, optimizer_dtype=None, grad_clipping=True, max_norm=None, **defaults):
        for name in TRAVEL:
            defaults.pop(name, None)
        self.reduces_wide, self.adds_wide, self.saves_parts = (bool(defaults.pop(name, False)) for name in VALUES)
        self.groups, self.norm_groups = defaults.pop("sharding_groups", None), defaults.pop("grad_norm_groups", None)
        lazy = defaults.pop("lazy_init", False)
        super().__init__(params, defaults)
        self.clips, self.max_norm = grad_clipping, 1.0 if max_norm is None else max_norm
        row = row_of(self.groups) if self.groups else list(range(engine().ranks))
        self.cores = len(row)
        self.mine = from_host(torch.tensor([row.index(engine().rank)]))  # on the device: the same program on all cores
        self.dtype, self.optimizer_class, self.given = optimizer_dtype or torch.float32, optimizer_class, dict(defaults)
        self.base_optimizer = self.grad_norm = None
        self.hooks = []
        if not lazy:
            self.init_zero()

    def init_zero(self):
        """The parts anew, of the parameters as they are now."""
        groups = [dict(group, params=[self.part(p) for p in group["params"]]) for group in self.param_groups]
        self.base_optimizer = self.optimizer_class(groups, **self.given)
        for hook in self.hooks:
            hook.remove()
        wholes = [p for group in self.param_groups for p in group["params"] if p.requires_grad]
        self.hooks = [self.hook(p) for p in wholes] if self.adds_wide else []

    def hook(self, parameter):
        """Behind each backward pass the gradient is added to `main_grad`, and is gone."""
        def add(*_):
            with torch.no_grad():
                new = parameter.grad.to(self.dtype)
                parameter.main_grad = new + parameter.main_grad if hasattr(parameter, "main_grad") else new
            parameter.grad = None
        node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
        handle = node.register_hook(add)
        handle.node = node  # which lives as long as something has it
        return handle

    def part(self, parameter):
        with torch.no_grad():
            own = parts(parameter.detach(), self.cores).index_select(0, self.mine)[0].to(self.dtype)
        return torch.nn.Parameter(own, parameter.requires_grad)

    def pairs(self):
        """Each parameter with this core's part of it."""
        for whole, own in zip(self.param_groups, self.base_optimizer.param_groups):
            own.update({name: value for name, value in whole.items() if name != "params"})
            yield from zip(whole["params"], own["params"])

    def gradient(self, whole):
        return getattr(whole, "main_grad", None) if self.adds_wide else whole.grad

    @torch.no_grad()
    def step(self, closure=None, **named):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        pairs = [(whole, own) for whole, own in self.pairs() if self.gradient(whole) is not None]
        for whole, own in pairs:
            given = self.gradient(whole)
            rows = parts(given.to(self.dtype) if self.reduces_wide else given, self.cores)
            rows = rows.reshape((-1,) + tuple(rows.shape[2:]))
            own.grad = (between.reduce_scattered(rows, "sum", 0, self.groups) / self.cores).to(self.dtype)
        if self.clips and pairs:
            self.grad_norm = self.norm(pairs)
            factor = torch.clamp(self.max_norm / (self.grad_norm + 1e-6), max=1.0)
            for _, own in pairs:
                own.grad.mul_(factor.to(own.grad.dtype))
        self.base_optimizer.step(**named)
        self.base_optimizer.zero_grad(set_to_none=True)  # which scripts replace to look at the parts' gradients
        self.gather(pairs)
        return loss

    @torch.no_grad()
    def gather(self, pairs):
        """The parameters of all cores' parts."""
        for whole, own in pairs:
            every = between.all_gathered(own.detach().to(whole.dtype), 0, self.groups)
            whole.copy_(every[:max(whole.shape[0], 1)].reshape(whole.shape) if whole.dim() else every[0])

    def zero_grad(self, set_to_none=False):
        super().zero_grad(set_to_none=set_to_none)
        for group in self.param_groups if self.adds_wide else ():
            for parameter in group["params"]:
                if hasattr(parameter, "main_grad"):
                    parameter.main_grad.zero_()

    def norm(self, pairs):
        """That of the gradients of all parts."""
        squares = torch.stack([own.grad.float().square().sum() for _, own in pairs]).sum()
        squares = between.all_reduced(squares, "sum", self.groups)
        if self.norm_groups:
            squares = between.all_reduced(squares, "sum", self.norm_groups)
        return squares.sqrt()

    def state_dict(self):
        state = dict(super().state_dict(), base_state=self.base_optimizer.state_dict()["state"])
        if self.saves_parts:
            state["sharded_master_weights"] = {i: own.detach() for i, (_, own) in enumerate(self.pairs())}
        return state

    def load_state_dict(self, state):
        state = dict(state)
        base, own_parts = state.pop("base_state"), state.pop("sharded_master_weights", None)
        super().load_state_dict(state)
        self.init_zero()
        self.base_optimizer.load_state_dict(dict(self.base_optimizer.state_dict(), state=base))
        if own_parts is not None:
            pairs = list(self.pairs())
            with torch.no_grad():
                for i, (_, own) in enumerate(pairs):
                    own.copy_(own_parts[i])
            self.gather(pairs)
