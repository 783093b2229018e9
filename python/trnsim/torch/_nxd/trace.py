"""neuronx_distributed.trace: a model of parallel layers compiled ahead of time for several cores, which one process
runs. Each core's part is a traced model; one program serves all of them, with the weights of each."""
import contextlib
import os
import re
import warnings

import torch

from trnsim.torch import _buckets, _dist, _traced
from trnsim.torch._engine import engine
from trnsim.torch._nxd import sharding, state

OPTIONS = ("inline_weights_to_neff", "bucket_config", "tp_degree", "max_parallel_compilations", "spmd_mode",
           "checkpoint_loader_callable", "force_custom_init_on_device", "serialization_path")


class ParallelModel(torch.nn.Module):
    pass


class TensorParallelNeuronModel(ParallelModel):
    """`models`: of each core. All get the same inputs; the first one's results are the answer."""

    def __init__(self, models):
        super().__init__()
        self.models, self.tp_degree = torch.nn.ModuleList(models), len(models)
        running = engine()
        running.copies = max(running.copies, self.tp_degree)

    def forward(self, *tensors):
        return _traced.together(list(self.models), tensors)


@contextlib.contextmanager
def as_core(rank, count):
    """The block is told that it runs on one of so many cores."""
    running, before = engine(), torch.get_rng_state()
    running.rank, running.ranks = rank, count
    with sharding.kept_state():
        _dist.init_process_group("xla")
        state.initialize_model_parallel(count)
        try:
            yield
        finally:
            _dist.destroy_process_group()
            running.rank, running.ranks, running.collectives = 0, 1, []
            torch.set_rng_state(before)  # each core draws the same numbers


def part(func, example_inputs, weights, options):
    """The traced model of this core, and its inputs. `weights`: of the whole model, or None: func() has loaded them."""
    model, aliases = func()
    if weights is not None:
        own = sharding.part_of(weights, model, engine().rank, engine().ranks)
        left = model.load_state_dict(own, strict=False).missing_keys
        states = set(map(id, aliases or ()))
        left = [name for name, p in model.named_parameters() if name in left and id(p) not in states]
        if left and engine().rank == 0:
            warnings.warn(f"parallel_model_trace(): the checkpoint has no {', '.join(left)}: they stay as func() has "
                          "made them")
    return _traced.made_model(model, example_inputs, input_output_aliases=aliases, **options)


def checked(options):
    """Errors: those of the documentation, and Refused for a process that is one of several cores."""
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"parallel_model_trace() got an unexpected keyword argument '{name}'")
    inlines, spmd = options.get("inline_weights_to_neff", True), options.get("spmd_mode", False)
    if spmd and inlines:
        raise ValueError("Spmd mode is not supported when inline_weights_to_neff=True. Set "
                         "inline_weights_to_neff=False, if using the spmd mode.")
    if spmd and options.get("checkpoint_loader_callable") is None:
        raise ValueError("parallel_model_trace(spmd_mode=True) needs checkpoint_loader_callable")
    if engine().ranks > 1:
        state.refuse("parallel_model_trace() starts a process for each core by itself: call it from one process, "
                     "without spawn() and --nproc_per_node")


def parallel_model_trace(func, example_inputs, states=None, compiler_workdir=None, compiler_args=None, **options):
    """As the documentation's: func() returns a model and its input_output_aliases, on each core. With `spmd_mode`,
    checkpoint_loader_callable() returns the weights of the whole model."""
    checked(options)
    config = options.pop("bucket_config", None)
    if config is not None:
        return _buckets.bucket_models(func, example_inputs, config, lambda make, inputs: parallel_model_trace(
            make, inputs, states, compiler_workdir, compiler_args, **options))
    if states is not None:
        state.refuse("parallel_model_trace(states=...) is not supported: func() names states in its aliases")
    load = options.get("checkpoint_loader_callable") if options.get("spmd_mode") else None
    weights = load() if load else None
    passed = dict(compiler_args=compiler_args, inline_weights_to_neff=options.get("inline_weights_to_neff", True))
    models, count = [], options.get("tp_degree", 1)
    for rank in range(count):
        with as_core(rank, count):
            model, examples = part(func, example_inputs, weights, passed)
        models.append(model)
    made = TensorParallelNeuronModel(models)
    made(*examples)
    for model in models:
        model.begin()
    if options.get("serialization_path") is not None:
        parallel_model_save(made, options["serialization_path"])
    return made


def parallel_model_save(model, save_dir):
    """A file for each core: its part, or those of all buckets."""
    os.makedirs(save_dir, exist_ok=True)
    parts = model.models
    if isinstance(model, _buckets.BucketModel):
        parts = [_buckets.BucketModel(own, model.kernel) for own in zip(*(one.models for one in model.models))]
    for rank, one in enumerate(parts):
        one.save(os.path.join(save_dir, f"tp_{rank}.pt"))


def parallel_model_load(model_dir):
    names = sorted(os.listdir(model_dir), key=lambda name: int(re.sub(r"\D", "", name) or -1))
    parts = [torch.jit.load(os.path.join(model_dir, name)) for name in names]
    if not isinstance(parts[0], _buckets.BucketModel):
        return TensorParallelNeuronModel(parts)
    buckets = [TensorParallelNeuronModel(own) for own in zip(*(part.models for part in parts))]
    return _buckets.BucketModel(buckets, parts[0].kernel)


def names():
    return dict(sharding.names(), replace_weights=_traced.replace_weights,
                parallel_model_trace=parallel_model_trace, parallel_model_save=parallel_model_save,
                parallel_model_load=parallel_model_load, ParallelModel=ParallelModel,
                TensorParallelNeuronModel=TensorParallelNeuronModel)
