"""neuronx_distributed.parallel_layers.parallel_state: which cores share a model, and which share its data."""
import torch

from trnsim.torch import _dist
from trnsim.torch._engine import Refused, engine, script_line
from trnsim.torch._tensor import DeviceTensor, from_host

AHEAD = [False]
STATE = {}  # the groups of this core, by "tensor" and "data"


def refuse(what):
    raise Refused(script_line(), what)


def initialize_model_parallel(tensor_model_parallel_size=1, pipeline_model_parallel_size=1, context_parallel_size=1,
                              expert_model_parallel_size=1, skip_collective_init=False, lnc_size=1):
    """Neighbours share a model: 0 and 1 of four with two each; 0 and 2 have the same part of it."""
    if not _dist.STATE["world"]:
        refuse("initialize_model_parallel: there are no processes yet; call torch.distributed.init_process_group"
               "(\"xla\") before it")
    if STATE:
        raise AssertionError("model parallelism is initialized already: destroy_model_parallel() undoes it")
    for name, size in (("pipeline_model_parallel_size", pipeline_model_parallel_size),
                       ("context_parallel_size", context_parallel_size),
                       ("expert_model_parallel_size", expert_model_parallel_size)):
        if size != 1:
            refuse(f"{name}={size} is not supported, only tensor and data parallelism; leave it at 1")
    size, ranks = tensor_model_parallel_size, engine().ranks
    if size < 1 or ranks % size:
        refuse(f"tensor_model_parallel_size={size} does not divide {ranks} cores: start a multiple of it, by "
               f"--nproc_per_node or NEURON_RT_NUM_CORES")
    models = [list(range(first, first + size)) for first in range(0, ranks, size)]
    STATE["tensor"] = group_of(models)
    STATE["data"] = group_of([list(range(first, ranks, size)) for first in range(size)])
    STATE["single"] = group_of([[rank] for rank in range(ranks)])


def group_of(mesh):
    """This core's group of several that work at the same time."""
    groups = [_dist.new_group(ranks, pg_options={"xla_pg_options": {"mesh": mesh}}) for ranks in mesh]
    return next(group for group in groups if engine().rank in group)


def model_parallel_is_initialized():
    return bool(STATE)


def destroy_model_parallel():
    STATE.clear()


class Alone:
    """The group of one core, which layers are on where model parallelism is not initialized: they are then those of
    torch.nn."""
    ranks, rows = (0,), None

    @staticmethod
    def rank():
        return 0

    @staticmethod
    def size():
        return 1


def need_groups():
    if not STATE:
        raise AssertionError("model parallelism is not initialized: call initialize_model_parallel() first")


def group(kind, as_list=False):
    if engine().ranks > 1:
        need_groups()
    found = STATE[kind] if STATE else Alone
    return [list(row) for row in found.rows or [found.ranks]] if as_list else found


def rows():
    """The tensor-parallel groups, as collectives take them."""
    return group("tensor").rows


def place(tensor):
    """This core's number in its tensor-parallel group: on the device a number of its own there, as one program serves
    all cores."""
    if get_tensor_model_parallel_size() == 1 or not isinstance(tensor, DeviceTensor):
        return get_tensor_model_parallel_rank()
    if "place" not in STATE:
        STATE["place"] = from_host(torch.tensor(get_tensor_model_parallel_rank()))
    return STATE["place"]


def get_tensor_model_parallel_group(as_list=False):
    """None where model parallelism is not initialized, by which models know that they are on the host."""
    return group("tensor", as_list) if STATE or engine().ranks > 1 else None


def get_tensor_model_parallel_size():
    return group("tensor").size()


def get_tensor_model_parallel_rank():
    return group("tensor").rank()


def get_tensor_model_parallel_src_rank():
    return group("tensor").ranks[0]


def get_tensor_model_parallel_replica_groups():
    return group("tensor", True)


def get_data_parallel_group(as_list=False):
    return group("data", as_list)


def get_data_parallel_size():
    return group("data").size()


def get_data_parallel_rank():
    return group("data").rank()


def get_data_parallel_src_rank():
    return group("data").ranks[0]


def get_data_parallel_replica_groups():
    return group("data", True)


def single(as_list=False):
    """The group of pipelines, contexts and experts, of which there is one each."""
    return group("single", as_list)


def single_size():
    return group("single").size()


def single_rank():
    return group("single").rank()


def get_world_group():
    return _dist.world()


def is_global_rank_zero():
    return engine().rank == 0


def rmsg(msg):
    """The message, and which core tells it."""
    if not STATE:
        return f"[rank_{engine().rank}] {msg}"
    return f"[rank_{engine().rank}_pp0_tp{get_tensor_model_parallel_rank()}_dp{get_data_parallel_rank()}] {msg}"


def set_aot_mode(mode):
    """Whether programs are made ahead of time, which layers here need not know."""
    AHEAD[:] = [bool(mode)]


def get_aot_mode():
    return AHEAD[0]


def names():
    own = {name: value for name, value in globals().items()
           if name.startswith(("get_", "set_", "is_", "model_", "rmsg"))}
    own.update(initialize_model_parallel=initialize_model_parallel, destroy_model_parallel=destroy_model_parallel)
    for kind in ("pipeline_model", "context_model", "expert_model"):
        own.update({f"get_{kind}_parallel_group": single, f"get_{kind}_parallel_size": single_size,
                    f"get_{kind}_parallel_rank": single_rank})
    own.update(get_context_model_parallel_src_tgt_pairs=list, get_expert_data_parallel_group=get_data_parallel_group,
               get_expert_data_parallel_size=get_data_parallel_size,
               get_expert_data_parallel_rank=get_data_parallel_rank)
    return own
