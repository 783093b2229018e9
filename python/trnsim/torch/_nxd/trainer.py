"""neuronx_distributed.trainer: a configuration, a model and an optimizer that follow it."""
import inspect

import torch

from trnsim.torch._checkpoint import checkpoint
from trnsim.torch._nxd import grads, state, utils
from trnsim.torch._nxd.lora import get_lora_model
from trnsim.torch._nxd.zero import NeuronZero1Optimizer

OPTIMIZER = {"zero_one_enabled": False, "grad_clipping": True, "max_grad_norm": 1.0}
MODEL_INIT = {"sequential_move_factor": 11, "meta_device_init": False, "param_init_fn": None}


def completed(given, defaults, where):
    """A part of the configuration with the keys that it leaves out."""
    given = dict(given or {})
    for name in given:
        if name not in defaults:
            state.refuse(f"neuronx_distributed_config: {where} has no key {name!r}: {', '.join(defaults)} are there")
    return {**defaults, **given}


def neuronx_distributed_config(tensor_parallel_size=1, pipeline_parallel_size=1, expert_parallel_size=1,
                               context_parallel_size=1, pipeline_config=None, optimizer_config=None,
                               activation_checkpoint_config=None, pad_model=False, sequence_parallel=False,
                               model_init_config=None, lora_config=None, mixed_precision_config=None, lnc_size=1):
    """A dictionary; model parallelism is initialized where torch.distributed is."""
    optimizer = completed(optimizer_config, OPTIMIZER, "optimizer_config")
    divided = optimizer["zero_one_enabled"]
    precision = completed(mixed_precision_config, {"use_master_weights": divided, "use_fp32_grad_acc": divided,
                                                   "use_master_weights_in_ckpt": False}, "mixed_precision_config")
    for name, value in (("pipeline_config", pipeline_config), ("pad_model", pad_model)):
        if value:
            state.refuse(f"neuronx_distributed_config: {name} is not supported; leave it out")
    if not divided and any(precision.values()):
        state.refuse("neuronx_distributed_config: mixed_precision_config needs optimizer_config with zero_one_enabled")
    config = dict(tensor_parallel_size=tensor_parallel_size, pipeline_parallel_size=pipeline_parallel_size,
                  expert_parallel_size=expert_parallel_size, context_parallel_size=context_parallel_size,
                  pipeline_config=None, optimizer_config=optimizer, pad_model=False,
                  activation_checkpoint_config=activation_checkpoint_config, sequence_parallel=sequence_parallel,
                  model_init_config=completed(model_init_config, MODEL_INIT, "model_init_config"),
                  lora_config=lora_config, mixed_precision_config=precision)
    if config["model_init_config"]["meta_device_init"]:
        state.refuse("neuronx_distributed_config: meta_device_init is not supported: let the host draw the weights")
    if torch.distributed.is_initialized() and not state.model_parallel_is_initialized():
        initialize(config)
    return config


def initialize(config):
    state.initialize_model_parallel(config["tensor_parallel_size"], config["pipeline_parallel_size"],
                                    config["context_parallel_size"], config["expert_parallel_size"])


class NxDModel(torch.nn.Module):
    """The model, under the names of its own parameters and modules."""

    def __init__(self, module, nxd_config):
        super().__init__()
        self.module, self.nxd_config = module, nxd_config
        self.train()

    def local_module(self):
        return self.module

    def original_module(self):
        return self.module

    def local_modules(self):
        return [self.module]

    def run_train(self, *args, **kwargs):
        loss = self(*args, **kwargs)
        loss.backward()
        return loss

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def train(self, mode=True):
        self.training = mode
        self.module.train(mode)
        return self

    def _apply(self, fn):
        self.module._apply(fn)
        return self

    def named_parameters(self, *args, **kwargs):
        return self.module.named_parameters(*args, **kwargs)

    def named_buffers(self, *args, **kwargs):
        return self.module.named_buffers(*args, **kwargs)

    def named_children(self):
        return self.module.named_children()

    def named_modules(self, *args, **kwargs):
        return self.module.named_modules(*args, **kwargs)

    def state_dict(self, *args, **kwargs):
        return self.module.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict, strict=True):
        return self.module.load_state_dict(state_dict, strict=strict)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


def recomputed(forward):
    """A module's forward() whose values are computed again for its gradients instead of being kept."""
    def called(*args, **kwargs):
        return checkpoint(forward, *args, **kwargs)
    return called


def apply_activation_checkpointing(model, check_fn=lambda module: True):
    """neuronx_distributed.utils.activation_checkpoint's: modules below `model` for which check_fn() is true."""
    for module in list(model.modules())[1:]:
        if check_fn(module):
            module.forward = recomputed(module.forward)


def checkpointed_classes(wanted, model):
    """Whether a module is of the classes that the configuration names."""
    if wanted != "full":
        classes = tuple(wanted) if isinstance(wanted, (list, tuple)) else (wanted,)
        return lambda module: isinstance(module, classes)
    names = getattr(model, "_no_split_modules", None)
    if not names:
        raise RuntimeError("activation_checkpoint_config \"full\" is for models of transformers, which name their "
                           "layers: give the class of a layer")
    return lambda module: type(module).__name__ in names


def own_arguments(model_fn, given):
    """Without include_buffers, which some releases have in front of the model's own arguments."""
    try:
        inspect.signature(model_fn).bind(*given)
    except TypeError:
        if given and isinstance(given[0], bool):
            return given[1:]
    except ValueError:  # a function of C has no signature
        pass
    return given


def initialize_parallel_model(nxd_config, model_fn, *model_args, **model_kwargs):
    if not state.model_parallel_is_initialized():
        initialize(nxd_config)
    module = model_fn(*own_arguments(model_fn, model_args), **model_kwargs)
    utils.move_model_to_device(module, "xla")
    wanted, base = nxd_config["activation_checkpoint_config"], module
    module = get_lora_model(module, nxd_config["lora_config"])
    if wanted is not None:
        apply_activation_checkpointing(module, checkpointed_classes(wanted, base))
    return NxDModel(module, nxd_config)


class NxDOptimizer(torch.optim.Optimizer):
    """An optimizer whose step() averages gradients over the copies of a model and clips them first."""

    def __init__(self, optimizer, nxd_config):
        self.optimizer, self.nxd_config, self._grad_norm = optimizer, nxd_config, None

    @property
    def grad_norm(self):
        return self._grad_norm

    @property
    def params(self):
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def step(self, closure=None):
        if self.nxd_config["sequence_parallel"]:
            grads.allreduce_sequence_parallel_gradients(self)
        config = self.nxd_config["optimizer_config"]
        if not config["zero_one_enabled"]:
            grads.bucket_allreduce_gradients([p.grad for p in self.params if p.grad is not None])
            if config["grad_clipping"]:
                self._grad_norm = grads.clip_grad_norm(self.params, config["max_grad_norm"])
        out = self.optimizer.step(closure)
        if config["zero_one_enabled"]:
            self._grad_norm = self.optimizer.grad_norm
        return out

    def zero_grad(self, set_to_none=False):
        self.optimizer.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group):
        self.optimizer.add_param_group(param_group)

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state_dict):
        self.optimizer.load_state_dict(state_dict)

    def __getstate__(self):
        return self.optimizer.__getstate__()

    def __repr__(self):
        return f"NxDOptimizer({self.optimizer!r})"


def passed_on(name):
    """A member that is the wrapped optimizer's."""
    return property(lambda self: getattr(self.optimizer, name),
                    lambda self, value: setattr(self.optimizer, name, value))


for member in ("state", "param_groups", "defaults"):
    setattr(NxDOptimizer, member, passed_on(member))


def initialize_parallel_optimizer(nxd_config, optimizer_class, parameters, **defaults):
    config = nxd_config["optimizer_config"]
    if not config["zero_one_enabled"]:
        return NxDOptimizer(optimizer_class(parameters, **defaults), nxd_config)
    precision = nxd_config["mixed_precision_config"]
    if precision["use_master_weights"] and utils.is_downcast():
        defaults.setdefault("optimizer_dtype", torch.double)
    wide = precision["use_fp32_grad_acc"]
    return NxDOptimizer(NeuronZero1Optimizer(
        parameters, optimizer_class, grad_clipping=config["grad_clipping"], max_norm=config["max_grad_norm"],
        use_grad_acc_hook=wide, higher_cc_precision=wide, save_master_weights=precision["use_master_weights_in_ckpt"],
        **defaults), nxd_config)
