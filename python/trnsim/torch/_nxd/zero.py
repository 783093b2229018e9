"""neuronx_distributed.optimizer: ZeRO-1 among the cores with the same part of a model; and AdamW with fp32 states."""
import math
import os

import torch

from trnsim.torch import _xla
from trnsim.torch._nxd import checkpointing, grads, state, utils
from trnsim.torch._zero import ZeroRedundancyOptimizer


class NeuronZero1Optimizer(ZeroRedundancyOptimizer):
    """The states of a parameter are divided among the cores of its data-parallel group; the norm counts each parameter
    once, whichever part of it a core has."""

    def __init__(self, params, optimizer_class, **named):
        state.need_groups()
        if not named.get("sharding_groups"):
            named["sharding_groups"] = state.get_data_parallel_group(as_list=True)
        super().__init__(params, optimizer_class, **named)

    def norm(self, pairs):
        for whole, own in pairs:
            utils.copy_tensor_model_parallel_attributes(own, whole)
        return grads.get_grad_norm([own for _, own in pairs], zero1_optimizer=True, zero1_optimizer_groups=self.groups)

    def file(self, output_dir):
        return os.path.join(output_dir, f"optim.dp_rank_{state.get_data_parallel_rank():02d}."
                                        f"tp_rank_{state.get_tensor_model_parallel_rank():02d}")

    def save_sharded_state_dict(self, output_dir, num_workers_per_step=8):
        checkpointing.write(self.state_dict(), self.file(output_dir))
        _xla.rendezvous("optimizer checkpoint done")

    def load_sharded_state_dict(self, output_dir, num_workers_per_step=8):
        self.load_state_dict(torch.load(self.file(output_dir), map_location="cpu"))


class AdamW_FP32OptimParams(torch.optim.Optimizer):
    """AdamW whose decay follows the update; with XLA_DOWNCAST_BF16 its states are doubles, which are fp32 there."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, correct_bias=True,
                 no_deprecation_warning=True, differentiable=False, capturable=False):
        if lr < 0 or eps < 0 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"AdamW_FP32OptimParams: lr={lr}, betas={betas}, eps={eps}: give lr and eps of at least "
                             "0, betas from 0 to below 1")
        self.wide = utils.is_downcast()
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      correct_bias=correct_bias))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.update(parameter, group)
        return loss

    def update(self, parameter, group):
        grad = parameter.grad.double() if self.wide else parameter.grad
        state, (one, two), rate = self.state[parameter], group["betas"], group["lr"]
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(grad), exp_avg_sq=torch.zeros_like(grad))
        state["step"] += 1
        state["exp_avg"].mul_(one).add_(grad, alpha=1 - one)
        state["exp_avg_sq"].mul_(two).addcmul_(grad, grad, value=1 - two)
        if group["correct_bias"]:
            rate = rate * math.sqrt(1 - two ** state["step"]) / (1 - one ** state["step"])
        parameter.addcdiv_(state["exp_avg"], state["exp_avg_sq"].sqrt().add_(group["eps"]), value=-rate)
        if group["weight_decay"] > 0:
            parameter.add_(parameter, alpha=-group["lr"] * group["weight_decay"])
