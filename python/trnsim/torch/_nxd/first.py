"""The first ModelBuilder of neuronx_distributed.trace: programs of models that name their states, for cores of one
process. Inputs come by place, and their shapes say which program a call takes."""
import contextlib
import io

import torch

from trnsim.torch import _recorded, _traced
from trnsim.torch._nxd import builder, built, sharding, state

FIRST = "trnsim.first"  # in a file that NxDModelExecutor.save() wrote


class BaseModelInstance:
    """`module_cls()` makes the model. `input_output_aliases`: {a parameter or a buffer: the result that it becomes}."""

    def __init__(self, module_cls, input_output_aliases):
        self.module_cls, self.module, self.input_output_aliases = module_cls, None, [input_output_aliases]

    def load_module(self):
        self.module = self.module_cls()

    def get(self, bucket_rank, **kwargs):
        return self.module, self.input_output_aliases[0]


class Results(torch.nn.Module):
    """(the model's results but for its states, these): `places` of the states among all results."""

    def __init__(self, model, places):
        super().__init__()
        self.model, self.places = model, places

    def forward(self, *tensors):
        out = self.model(*tensors)
        flat = _recorded.tensors_of(out)
        rest = [t for i, t in enumerate(flat) if i not in self.places] if self.places else out
        return rest, [flat[i] for i in self.places]


class NxDModel(built.NxDModel):
    def initialize(self, weights, start_rank_tensor=None):
        self.loaded_on_neuron = False
        self.set_weights(weights)
        self.to_neuron()

    def initialize_with_saved_weights(self, start_rank_tensor=None):
        """With those that it was traced with, where it got no others."""
        self.to_neuron()


class NxDModelExecutor(torch.nn.Module):
    def __init__(self, nxd_model):
        super().__init__()
        self.nxd_model = nxd_model

    def forward(self, *inputs):
        return self.nxd_model(*inputs)

    def save_to_buffer(self, _extra_files=None):
        memory = io.BytesIO()
        torch.save({FIRST: 1, **self.nxd_model.stored(self.nxd_model.loaded_on_neuron)}, memory)
        return memory.getvalue()

    def save(self, f, _extra_files=None):
        _traced.keep(self.save_to_buffer(), f)


_traced.READERS[FIRST] = lambda found: NxDModelExecutor(built.read(found, kind=NxDModel))
UNUSED = {"compiler_workdir", "master_proc_env_vars", "debug", "logical_neuron_cores", "logical_nc_config", "router",
          "weights_to_skip_layout_optimization"}  # they say where and how the real one compiles
ONE = {"pp_degree": 1, "ep_degree": 1, "num_cores_per_group": 1, "start_rank_id": 0}


class ModelBuilder:
    def __init__(self, router, tp_degree, checkpoint_loader, start_rank_id=0, pp_degree=1, ep_degree=1,
                 local_ranks_size=None, world_size=None, init_custom_process_group_fn=None, **others):
        given = dict(others, start_rank_id=start_rank_id, pp_degree=pp_degree, ep_degree=ep_degree)
        for name, value in given.items():
            if name not in UNUSED and name not in ONE:
                raise TypeError(f"ModelBuilder got an unexpected keyword argument '{name}'")
            if name in ONE and value != ONE[name]:
                state.refuse(f"ModelBuilder({name}={value}) is not supported, only {ONE[name]}")
        if world_size is not None and local_ranks_size is None:
            raise ValueError("`world_size` is specified, but `local_ranks_size` is None. Cannot determine "
                             "local_ranks_size.")
        if (world_size or tp_degree) != tp_degree or (local_ranks_size or tp_degree) != tp_degree:
            state.refuse(f"ModelBuilder: world_size {world_size} and local_ranks_size {local_ranks_size} of a model "
                         f"for {tp_degree} cores: one process calls all of them, so leave them out")
        self.cores, self.checkpoint_loader, self.more = tp_degree, checkpoint_loader, init_custom_process_group_fn
        self.models = {}  # by their keys: (instance, example inputs, compiler_args)

    def add(self, key, model_instance, example_inputs, compiler_args=None, bucket_config=None,
            priority_model_idx=None):
        if bucket_config is not None:
            state.refuse("ModelBuilder.add(bucket_config=...) is not supported: add the model with inputs of each "
                         "size under a key of its own; a call takes the one whose inputs have its shapes")
        self.models[key] = model_instance, example_inputs, compiler_args
        return self

    @contextlib.contextmanager
    def as_cores(self):
        with builder.NxDParallelState(world_size=self.cores, tensor_model_parallel_size=self.cores):
            if self.more is not None:
                self.more()
            yield

    def trace(self, initialize_model_weights=True):
        if not self.models:
            raise ValueError("ModelBuilder.trace(): there is no model: call add() before it")
        with self.as_cores():
            found = {}
            for key, (instance, inputs, flags) in self.models.items():
                instance.load_module()
                for number, examples in enumerate(inputs):
                    model, aliases = instance.get(number)
                    found[key if len(inputs) == 1 else f"{key}.{number}"] = traced(model, examples, aliases), flags
        made = NxDModel(self.cores)
        for key, (program, flags) in found.items():
            flags = " ".join(flags) if isinstance(flags, (list, tuple)) else flags
            made.add(key, program, builder.compiled(program.hlo, program.metaneff, compiler_args=flags))
        if initialize_model_weights:
            made.initialize(self.parts())
        return NxDModelExecutor(made)

    def parts(self, serialize_path=None):
        """The weights of each core."""
        instance = next(iter(self.models.values()))[0]
        with self.as_cores(), sharding.init_on_device(torch.device("meta")):
            instance.load_module()
            return builder.shard_checkpoint(self.checkpoint_loader(), instance.get(0)[0],
                                            serialize_path=serialize_path)

    def shard_checkpoint(self, serialize_path):
        self.parts(serialize_path)


def traced(model, examples, aliases):
    """The find of one program."""
    if not isinstance(model, torch.nn.Module):
        state.refuse(f"ModelBuilder: the model is a {type(model).__name__}: give a torch.nn.Module")
    examples = (examples,) if isinstance(examples, torch.Tensor) else tuple(examples)
    names = {id(t): name for name, t in (*model.named_parameters(), *model.named_buffers())}
    aliases = aliases or {}
    lost = [place for tensor, place in aliases.items() if id(tensor) not in names]
    if lost:
        state.refuse(f"ModelBuilder: result {lost[0]} is to become a tensor that is no parameter and no buffer of the "
                     "model")
    own, before = Results(model, list(aliases.values())), torch.get_rng_state()
    try:
        program = _recorded.record(own, examples, {})  # which says how many results are left
        if aliases:
            left = len(program.outs) - len(aliases)
            program = _recorded.record(own, examples, {t: left + i for i, t in enumerate(aliases)})
    finally:
        torch.set_rng_state(before)
    inputs = [f"input{i}" for i in range(len(examples))]
    return builder.artifacts(program, inputs, [names[id(t)] for t in aliases], model)


def names():
    return dict(ModelBuilder=ModelBuilder, BaseModelInstance=BaseModelInstance)
