"""torch_xla.core.xla_model and the loaders, as far as training scripts use them."""
import torch

from trnsim.torch import _collectives as between, _spmd, _xla_buckets
from trnsim.torch._engine import engine
from trnsim.torch._environment import cores
from trnsim.torch._tensor import DEVICE, DeviceTensor, from_host

REDUCE = {"REDUCE_SUM": "sum", "REDUCE_MUL": "mul", "REDUCE_MAX": "max", "REDUCE_MIN": "min", "REDUCE_AND": "and",
          "REDUCE_OR": "or"}
CLOSURES = []


def world_size(defval=1):
    return engine().ranks


def ordinal(defval=0):
    return engine().rank


def xla_device(n=None, devkind=None):
    if n not in (None, 0) or devkind not in (None, "NEURON", "TPU", "XLA"):
        raise RuntimeError(f"xla_device({n!r}, {devkind!r}): each process has one device, a NeuronCore: ask for "
                           "xla_device()")
    return DEVICE


def mark_step(wait=False, reset_scope=True):
    engine().everything = False
    engine().mark_step()
    run_step_closures()


def sync(wait=False, reset_scope=True):
    mark_step()


def add_step_closure(closure, args=(), run_async=False):
    """Called when the step has ended; its tensors are computed by then."""
    CLOSURES.append((closure, args))


def run_step_closures():
    while CLOSURES:
        function, args = CLOSURES.pop(0)
        function(*args)


def scaled(tensor, scale):
    return tensor if scale == 1 else tensor * scale


def written(out, results):
    """Results, in the tensors of `output=` where they are given."""
    if out is None:
        return results
    for target, new in zip(out, results):
        target.copy_(new)
    return out


def all_reduce(reduce_type, inputs, scale=1.0, groups=None, cctx=None, pin_layout=True):
    """A tensor: the reduced one; a list: in place."""
    if isinstance(inputs, torch.Tensor):
        return scaled(between.all_reduced(inputs, reduce_type, groups), scale)
    with torch.no_grad():
        for tensor, new in zip(inputs, between.all_reduced_list(inputs, reduce_type, groups)):
            tensor.copy_(scaled(new, scale))
    return None


def all_gather(value, dim=0, groups=None, output=None, pin_layout=True):
    if not isinstance(value, torch.Tensor):
        return written(output, _xla_buckets.all_gathered(list(value), dim, groups))
    out = between.all_gathered(value, dim, groups)
    return out if output is None else output.copy_(out)


def reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count=None, groups=None, output=None, pin_layout=True):
    if shard_count not in (None, between.size_of(groups)):
        raise ValueError(f"reduce_scatter: shard_count {shard_count} among {between.size_of(groups)} cores")
    if not isinstance(input, torch.Tensor):
        parts = _xla_buckets.reduce_scattered(list(input), reduce_type, scatter_dim, groups)
        return written(output, [scaled(part, scale) for part in parts])
    out = scaled(between.reduce_scattered(input, reduce_type, scatter_dim, groups), scale)
    return out if output is None else output.copy_(out)


def all_to_all(value, split_dimension, concat_dimension, split_count, groups=None, pin_layout=True):
    return between.all_to_all(value, split_dimension, concat_dimension, split_count, groups)


def collective_permute(value, pairs):
    return between.permuted(value, pairs)


def collective_broadcast(tensors, root_ordinal=0, groups=None, pin_layout=True):
    with torch.no_grad():
        for tensor in tensors:
            tensor.copy_(between.broadcast(tensor.detach(), root_ordinal, groups))


def broadcast_master_param(model):
    collective_broadcast(list(model.parameters()) + list(model.buffers()))
    mark_step()


def gradients_of(optimizer):
    return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def reduce_gradients(optimizer, groups=None, pin_layout=True):
    count = between.size_of(groups)
    most = _xla_buckets.bucket_of_gradients()
    if count > 1 and most:
        last_first = gradients_of(optimizer)[::-1]  # as the backward pass makes them
        _xla_buckets.all_reduce_bucketized_gradients(last_first, 1.0 / count, groups, pin_layout, most)
    elif count > 1:
        all_reduce("sum", gradients_of(optimizer), 1.0 / count, groups)


def optimizer_step(optimizer, barrier=False, optimizer_args=None, groups=None, pin_layout=True):
    reduce_gradients(optimizer, groups)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def mapped(data, change):
    if isinstance(data, torch.Tensor):
        return change(data)
    if isinstance(data, dict):
        return type(data)((key, mapped(item, change)) for key, item in data.items())
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(mapped(item, change) for item in data))
    if isinstance(data, (list, tuple)):
        return type(data)(mapped(item, change) for item in data)
    return data


def to_host(data):
    return mapped(data, lambda t: t.detach().cpu() if isinstance(t, DeviceTensor) else t)


def moved(tensor):
    """A tensor of its own, which wants a gradient where that of the host does."""
    return tensor if isinstance(tensor, DeviceTensor) else from_host(tensor).requires_grad_(tensor.requires_grad)


def to_device(data):
    return mapped(data, moved)


def send_cpu_data_to_device(datas, device, input_sharding=None):
    """All tensors of the host in lists and dictionaries; of one tensor alone a list with it, as torch_xla's."""
    if input_sharding is not None and not _spmd.is_spmd():
        raise RuntimeError("send_cpu_data_to_device with input_sharding: call torch_xla.runtime.use_spmd() first")
    if torch.device(device).type != "xla":
        raise RuntimeError(f"send_cpu_data_to_device: {device} is not the simulated device: give xm.xla_device()")
    return to_device([datas] if isinstance(datas, torch.Tensor) else datas)


def save(data, file_or_path, master_only=True, global_master=False):
    data = to_host(data)
    if ordinal() == 0 or not master_only:
        torch.save(data, file_or_path)
    rendezvous("torch_xla.core.xla_model.save")


def save_files(data, path, master_only=True, global_master=False):
    """torch_xla.utils.serialization's."""
    save(data, path, master_only, global_master)


def load(path):
    return torch.load(path)


def rendezvous(tag, payload=b"", replicas=()):
    if replicas and sorted(replicas) != list(range(engine().ranks)):
        raise RuntimeError(f"rendezvous of the cores {list(replicas)} alone is not supported: it always includes all "
                           "cores")
    engine().meet()
    return engine().backend.exchange(f"rendezvous({str(tag)!r})", payload)


def mesh_reduce(tag, data, reduce_fn):
    return reduce_fn([to_host(x) for x in engine().backend.exchange(f"mesh_reduce({str(tag)!r})", to_host(data))])


def is_master_ordinal(local=True):
    return ordinal() == 0


def master_print(*args, fd=None, local=False, flush=False, **kwargs):
    if ordinal() == 0:
        kwargs.setdefault("file", fd)
        print(*args, **kwargs, flush=flush)


def do_on_ordinals(target, data=(), ordinals=(0,)):
    if ordinal() in ordinals:
        return target(*data)
    return None


def is_xla_tensor(tensor):
    return isinstance(tensor, DeviceTensor)


def supported_devices(devkind=None, max_devices=None):
    return [str(DEVICE)]


def unlazy(tensors):
    mark_step()


def seed(value, device=None):
    torch.manual_seed(value)


def memory_info(device=None):
    """Bytes of the tensors that the script holds, and of a core's memory."""
    used = sum(m.numel * torch.empty((), dtype=m.dtype).element_size() for m in engine().held())
    return {"bytes_used": used, "bytes_limit": 16 << 30, "peak_bytes_used": used}


class RateTracker:
    """Things a second of this host."""

    def __init__(self, smooth_factor=None):
        import time
        self.smooth, self.now = smooth_factor if smooth_factor is not None else 0.8, time.time
        self.begin = self.last = self.now()
        self.count, self.before, self.value = 0.0, 0.0, None

    def add(self, count):
        self.count += count

    def rate(self):
        now = self.now()
        current = (self.count - self.before) / max(now - self.last, 1e-9)
        self.value = current if self.value is None else self.smooth * self.value + (1 - self.smooth) * current
        self.before, self.last = self.count, now
        return self.value

    def global_rate(self):
        return self.count / max(self.now() - self.begin, 1e-9)


class Joined:
    """The answer of spawn(join=False): the processes have ended."""

    def join(self, timeout=None):
        return True


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="fork"):
    from trnsim.torch._ranks import spawn as start
    start(fn, args, nprocs or engine().cores or cores())
    return None if join else Joined()


def launch(fn, args=(), start_method="fork", debug_single_process=False):
    if engine().ranks > 1:  # torchrun has started the processes
        return fn(ordinal(), *args)
    return spawn(fn, args, 1 if debug_single_process else None)
