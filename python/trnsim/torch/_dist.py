"""torch.distributed between simulated cores, whatever backend a script names: tensors of the device are reduced by its
collectives, tensors of the host and objects by the parent process."""
import torch
import torch.distributed as dist

from trnsim.torch import _collectives as device
from trnsim.torch._engine import engine
from trnsim.torch._tensor import DeviceTensor

NAMES = {"sum": "sum", "avg": "avg", "product": "mul", "max": "max", "min": "min", "band": "and", "bor": "or"}
HOST = {"sum": lambda x: x.sum(0), "avg": lambda x: x.sum(0) / len(x), "mul": lambda x: x.prod(0),
        "max": lambda x: x.amax(0), "min": lambda x: x.amin(0), "and": lambda x: x.all(0), "or": lambda x: x.any(0)}


class Group:
    """Some cores. Those that were made with as many others, and share none with them, work at the same time."""
    made = []

    def __init__(self, ranks, mesh=None):
        self.ranks, self.mesh = tuple(ranks), mesh and tuple(tuple(row) for row in mesh)
        Group.made.append(self)

    def __contains__(self, rank):
        return rank in self.ranks

    def rank(self):
        return self.ranks.index(engine().rank) if engine().rank in self.ranks else -1

    def size(self):
        return len(self.ranks)

    @property
    def rows(self):
        """All groups that work with this one, as one operator has them: those of its mesh, or those of its size that
        were made. Each core is in one."""
        if len(self.ranks) == engine().ranks:
            return None
        if self.mesh:
            return self.mesh
        rows = [self.ranks]
        for other in Group.made:
            if len(other.ranks) == len(self.ranks) and not any(set(other.ranks) & set(row) for row in rows):
                rows.append(other.ranks)
        if sum(len(row) for row in rows) != engine().ranks:
            raise RuntimeError(f"a collective of the cores {list(self.ranks)} only: the other cores need groups of "
                               "the same size; make them with new_group() on every core")
        return tuple(sorted(rows))

    @property
    def _mesh(self):
        """As torch_xla's groups have it."""
        return [list(row) for row in self.rows or [self.ranks]]


class Done:
    """The answer with async_op=True: operators of the device run in their order."""

    def __init__(self, tensors=()):
        self.tensors = list(tensors)

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    def result(self):
        return self.tensors

    def get_future(self):
        future = torch.futures.Future()
        future.set_result(self.tensors)
        return future


STATE = {"world": None}


def world():
    if STATE["world"] is None:
        raise RuntimeError("Default process group has not been initialized, please make sure to call "
                           "init_process_group.")
    return STATE["world"]


def of(group):
    return group if isinstance(group, Group) else world()


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None,
                       group_name="", pg_options=None, device_id=None):
    if STATE["world"] is not None:
        raise RuntimeError("trying to initialize the default process group twice!")
    if world_size not in (-1, None, engine().ranks):
        raise RuntimeError(f"init_process_group with world_size {world_size}: there are {engine().ranks} cores; start "
                           f"as many processes, by --nproc_per_node {world_size} or spawn()")
    STATE["world"], STATE["backend"] = Group(range(engine().ranks)), backend or "xla"
    dist.group.WORLD = dist.GroupMember.WORLD = STATE["world"]


def destroy_process_group(group=None):
    if group is None or group is STATE["world"]:
        STATE["world"] = dist.group.WORLD = dist.GroupMember.WORLD = None
        Group.made.clear()


def get_rank(group=None):
    return of(group).rank()


def get_world_size(group=None):
    return of(group).size()


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False,
              group_desc=None, device_id=None):
    mesh = ((pg_options or {}).get("xla_pg_options") or {}).get("mesh") if isinstance(pg_options, dict) else None
    return Group(range(engine().ranks) if ranks is None else ranks, mesh)


def name_of(op):
    """Its name in lower case; an operation compares equal to the member of ReduceOp that it is of."""
    if isinstance(op, str):
        return op
    for name in NAMES:
        if hasattr(dist.ReduceOp, name.upper()) and op == getattr(dist.ReduceOp, name.upper()):
            return name
    raise RuntimeError(f"{op} is not supported: {', '.join(NAMES)} are")


def combined(tensor, op, group):
    """The reduced tensor, on the device or by the parent."""
    name, group = NAMES[name_of(op)], of(group)
    if not isinstance(tensor, DeviceTensor):
        parts = [t for r, t in enumerate(exchanged("all_reduce", tensor.detach().clone())) if r in group]
        return HOST[name](torch.stack(parts)).to(tensor.dtype)
    with torch.no_grad():
        out = device.all_reduced(tensor.detach(), "sum" if name == "avg" else name, group.rows)
        return out / group.size() if name == "avg" else out


def exchanged(tag, payload):
    engine().meet()
    return engine().backend.exchange(tag, payload)


def finished(async_op, *tensors):
    return Done(tensors) if async_op else None


def all_reduce(tensor, op=dist.ReduceOp.SUM, group=None, async_op=False):
    with torch.no_grad():
        tensor.copy_(combined(tensor, op, group))
    return finished(async_op, tensor)


def all_reduce_coalesced(tensors, op=dist.ReduceOp.SUM, group=None, async_op=False):
    for tensor in tensors:
        all_reduce(tensor, op, group)
    return finished(async_op, *tensors)


def reduce(tensor, dst, op=dist.ReduceOp.SUM, group=None, async_op=False):
    return all_reduce(tensor, op, group, async_op)  # the others' results are undefined: here they are the sum, too


def broadcast(tensor, src, group=None, async_op=False):
    with torch.no_grad():
        if isinstance(tensor, DeviceTensor):
            tensor.copy_(device.broadcast(tensor.detach(), src, of(group).rows))
        else:
            tensor.copy_(exchanged("broadcast", tensor.detach().clone())[src])
    return finished(async_op, tensor)


def gathered(tensor, group):
    """Each core's tensor."""
    group = of(group)
    if not isinstance(tensor, DeviceTensor):
        return [t for r, t in enumerate(exchanged("all_gather", tensor.detach().clone())) if r in group]
    with torch.no_grad():
        rows = device.all_gathered(tensor.detach().reshape((1,) + tuple(tensor.shape)), 0, group.rows)
        return list(rows.unbind(0))


def all_gather(tensor_list, tensor, group=None, async_op=False):
    with torch.no_grad():
        parts = gathered(tensor, group)
        for target, part in zip(tensor_list, parts):
            target.copy_(part)
    return finished(async_op, *tensor_list)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    with torch.no_grad():
        output_tensor.copy_(torch.stack(gathered(input_tensor, group)).reshape(output_tensor.shape))
    return finished(async_op, output_tensor)


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    return all_gather(gather_list or (), tensor, group, async_op)


def reduce_scatter_tensor(output, input, op=dist.ReduceOp.SUM, group=None, async_op=False):
    group, name = of(group), name_of(op)
    with torch.no_grad():
        if isinstance(input, DeviceTensor) and name in ("sum", "avg"):
            out = device.reduce_scattered(input.detach(), "sum", 0, group.rows)
            out = out / group.size() if name == "avg" else out
        else:
            out = combined(input, op, group).chunk(group.size())[group.rank()]
        output.copy_(out.reshape(output.shape))
    return finished(async_op)


def reduce_scatter(output, input_list, op=dist.ReduceOp.SUM, group=None, async_op=False):
    return reduce_scatter_tensor(output, torch.cat([t.reshape((1,) + tuple(t.shape)) for t in input_list]), op, group,
                                 async_op)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    group = of(group)
    with torch.no_grad():
        rows = torch.stack(scatter_list) if scatter_list else \
            torch.zeros((group.size(),) + tuple(tensor.shape), dtype=tensor.dtype).to(tensor.device)
        broadcast(rows, src, group)
        tensor.copy_(rows[group.rank()])
    return finished(async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    if output_split_sizes or input_split_sizes:
        raise RuntimeError("all_to_all_single with split sizes is not supported: split evenly")
    group = of(group)
    with torch.no_grad():
        if isinstance(input, DeviceTensor):
            output.copy_(device.all_to_all(input.detach(), 0, 0, group.size(), group.rows))
        else:
            parts = [t.chunk(group.size())[group.rank()] for t in gathered(input, group)]
            output.copy_(torch.cat(parts))
    return finished(async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """One tensor to each core of the group, all of one shape."""
    shapes = {tuple(t.shape) for t in (*output_tensor_list, *input_tensor_list)}
    if len(shapes) > 1:
        raise RuntimeError(f"all_to_all of the shapes {sorted(shapes)} is not supported: send tensors of one shape")
    with torch.no_grad():
        out = torch.empty_like(torch.stack(output_tensor_list))
        all_to_all_single(out, torch.stack([t.detach() for t in input_tensor_list]), group=group)
        for target, part in zip(output_tensor_list, out.unbind(0)):
            target.copy_(part)
    return finished(async_op)


def absent(name):
    def called(*_, **__):
        raise RuntimeError(f"torch.distributed.{name} is not supported: every core runs the same program; use "
                           "broadcast, "
                           "scatter, gather or all_to_all")
    return called


def barrier(group=None, async_op=False, device_ids=None):
    exchanged("barrier", None)
    return finished(async_op)


def all_gather_object(object_list, obj, group=None):
    parts = [x for r, x in enumerate(exchanged("all_gather_object", obj)) if r in of(group)]
    object_list[:len(parts)] = parts


def broadcast_object_list(object_list, src=0, group=None, device=None):
    object_list[:] = exchanged("broadcast_object_list", list(object_list))[src]


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    parts = exchanged("gather_object", obj)
    if engine().rank == dst and object_gather_list is not None:
        object_gather_list[:] = parts


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=0, group=None):
    given = exchanged("scatter_object_list", scatter_object_input_list)[src]
    scatter_object_output_list[0] = given[of(group).rank()]


REPLACED = {f.__name__: f for f in (
    init_process_group, destroy_process_group, get_rank, get_world_size, new_group, all_reduce, all_reduce_coalesced,
    reduce, broadcast, all_gather, all_gather_into_tensor, gather, reduce_scatter, reduce_scatter_tensor, scatter,
    all_to_all_single, barrier, all_gather_object, broadcast_object_list, gather_object, scatter_object_list)}
REPLACED.update({name: absent(name) for name in (
    "send", "recv", "isend", "irecv", "batch_isend_irecv")})
REPLACED.update(
    all_to_all=all_to_all,
    _all_gather_base=all_gather_into_tensor, _reduce_scatter_base=reduce_scatter_tensor, monitored_barrier=barrier,
    is_initialized=lambda: STATE["world"] is not None, get_backend=lambda group=None: STATE["backend"],
    is_torchelastic_launched=lambda: engine().ranks > 1,
    get_process_group_ranks=lambda group=None: list(of(group).ranks),
    get_global_rank=lambda group, rank: of(group).ranks[rank], get_group_rank=lambda group, rank: of(group).ranks.index(
        rank))


def install():
    """From here on torch.distributed is ours."""
    from torch.distributed import distributed_c10d
    for name, function in REPLACED.items():
        setattr(dist, name, function)
        setattr(distributed_c10d, name, function)
