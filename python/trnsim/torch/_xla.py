"""torch_xla's modules as far as training scripts use them."""
import types

import torch

from trnsim.torch._collectives import collective
from trnsim.torch._engine import engine
from trnsim.torch._tensor import DEVICE, DeviceTensor

REDUCE = {"REDUCE_SUM": "sum", "REDUCE_MUL": "mul", "REDUCE_MAX": "max", "REDUCE_MIN": "min", "REDUCE_AND": "and",
          "REDUCE_OR": "or"}


def world_size():
    return engine().ranks


def ordinal():
    return engine().rank


def xla_device(n=None, devkind=None):
    return DEVICE


def mark_step(wait=False, reset_scope=True):
    engine().everything = False
    engine().mark_step()


def reduced(tensor, operation, scale):
    out = collective("all_reduce", tensor, tensor._meta.shape, operation) if world_size() > 1 else tensor
    return out * scale if scale != 1 else out


def all_reduce(reduce_type, inputs, scale=1.0, groups=None, cctx=None, pin_layout=True):
    """A tensor: the reduced one; a list: in place."""
    if isinstance(inputs, torch.Tensor):
        return reduced(inputs, reduce_type, scale)
    for tensor in inputs:
        tensor.copy_(reduced(tensor, reduce_type, scale))
    return None


def all_gather(value, dim=0, groups=None, output=None, pin_layout=True):
    if world_size() == 1:
        return value
    shape, dim = list(value.shape), dim % value.dim()
    shape[dim] *= world_size()
    return collective("all_gather", value, shape, dim)


def reduce_scatter(reduce_type, value, scale, scatter_dim, *_, **__):
    if world_size() == 1:
        return value * scale
    shape = list(value.shape)
    shape[scatter_dim] //= world_size()
    return collective("reduce_scatter", value, shape, reduce_type, scatter_dim) * scale


def reduce_gradients(optimizer, groups=None, pin_layout=True):
    if world_size() > 1:
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        with torch.no_grad():
            all_reduce("sum", gradients, 1.0 / world_size())


def optimizer_step(optimizer, barrier=False, optimizer_args=None, groups=None, pin_layout=True):
    reduce_gradients(optimizer)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        mark_step()
    return loss


def to_host(data):
    if isinstance(data, DeviceTensor):
        return data.detach().cpu()
    if isinstance(data, dict):
        return type(data)((key, to_host(item)) for key, item in data.items())
    if isinstance(data, (list, tuple)):
        return type(data)(to_host(item) for item in data)
    return data


def to_device(data, device=DEVICE):
    if isinstance(data, torch.Tensor):
        return data.to(device)
    if isinstance(data, dict):
        return {key: to_device(item, device) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(to_device(item, device) for item in data)
    return data


def save(data, path, master_only=True, global_master=False):
    data = to_host(data)
    if ordinal() == 0 or not master_only:
        torch.save(data, path)


def is_master_ordinal(local=True):
    return ordinal() == 0


def master_print(*args, **kwargs):
    if ordinal() == 0:
        print(*args, **{k: v for k, v in kwargs.items() if k in ("file", "flush", "end", "sep")})


class MpDeviceLoader:
    """Batches of a loader on the device; each one ends the step before."""

    def __init__(self, loader, device=DEVICE, **_):
        self._loader, self._device = loader, device

    def __iter__(self):
        for batch in self._loader:
            mark_step()
            yield to_device(batch, self._device)
        mark_step()

    def __len__(self):
        return len(self._loader)


class ParallelLoader:
    def __init__(self, loader, devices=None, **_):
        self._loader = loader

    def per_device_loader(self, device):
        return MpDeviceLoader(self._loader, device)


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="fork"):
    from trnsim.torch._ranks import spawn as start
    return start(fn, args, nprocs or engine().cores)


class GradScaler(torch.cuda.amp.GradScaler):
    """Does nothing: the device's 16-bit format has fp32's range."""

    def __init__(self, *_, **__):
        super().__init__(enabled=False)


def counters():
    return dict(engine().counters)


def report():
    from trnsim.torch._report import text
    return text(engine())


def module(name, **names):
    out = types.ModuleType(name)
    out.__path__ = []
    for key, value in names.items():
        setattr(out, key, value)
    return out


def modules():
    """By name, as sys.modules has them."""
    core = module("torch_xla.core.xla_model", xla_device=xla_device, mark_step=mark_step, all_reduce=all_reduce,
                  optimizer_step=optimizer_step, all_gather=all_gather, reduce_scatter=reduce_scatter,
                  reduce_gradients=reduce_gradients, get_ordinal=lambda defval=0: ordinal(),
                  get_local_ordinal=ordinal, xrt_world_size=lambda defval=1: world_size(), save=save,
                  rendezvous=lambda *_, **__: [], is_master_ordinal=is_master_ordinal, master_print=master_print,
                  wait_device_ops=mark_step, xla_device_hw=lambda device: "NEURON",
                  get_xla_supported_devices=lambda *_: [str(DEVICE)], add_step_closure=closure, **REDUCE)
    runtime = module("torch_xla.runtime", world_size=world_size, global_ordinal=ordinal, local_ordinal=ordinal,
                     device_type=lambda: "NEURON", global_runtime_device_count=world_size,
                     addressable_device_count=lambda: 1, xla_device=xla_device)
    parts = {
        "core": module("torch_xla.core", xla_model=core), "core.xla_model": core, "runtime": runtime,
        "distributed.parallel_loader": module("torch_xla.distributed.parallel_loader", MpDeviceLoader=MpDeviceLoader,
                                              ParallelLoader=ParallelLoader),
        "distributed.xla_multiprocessing": module("torch_xla.distributed.xla_multiprocessing", spawn=spawn),
        "amp": module("torch_xla.amp", autocast=torch.autocast, GradScaler=GradScaler),
        "debug.metrics": module("torch_xla.debug.metrics", metrics_report=report,
                                counter_names=lambda: list(counters()),
                                counter_value=lambda name: counters().get(name), clear_all=lambda: None),
        "utils.serialization": module("torch_xla.utils.serialization", save=save, load=torch.load)}
    for room in ("distributed", "debug", "utils"):
        inside = {k.split(".")[1]: v for k, v in parts.items() if k.startswith(room + ".")}
        parts[room] = module("torch_xla." + room, **inside)
    top = module("torch_xla", device=xla_device, sync=mark_step, launch=spawn, __version__="2.1.0",
                 **{k: v for k, v in parts.items() if "." not in k})
    return {"torch_xla": top, **{"torch_xla." + name: part for name, part in parts.items()}}


def closure(function, args=(), run_async=False):
    mark_step()
    function(*args)


__all__ = ["modules"]
