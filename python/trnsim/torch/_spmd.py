"""GSPMD on a mesh of one device: shardings are checked, and divide nothing. There is no partitioner for more."""
import collections

import numpy as np
import torch

from trnsim.torch._engine import engine

GLOBAL, ON = [None], [False]


def use_spmd(auto=False):
    """Errors: RuntimeError where the script has several cores."""
    count = max(engine().ranks, engine().cores)
    if count > 1:
        raise RuntimeError(f"GSPMD over {count} cores is not supported: run on one core, whose mesh has one device, "
                           "or use "
                           "one process a core (spawn() or --nproc_per_node) with XlaFullyShardedDataParallel or "
                           "DistributedDataParallel")
    ON[0] = True


def is_spmd():
    return ON[0]


class Mesh:
    """Devices in a grid whose axes have names. Errors: ValueError for a grid of another size."""

    def __init__(self, device_ids, mesh_shape, axis_names=None):
        self.device_ids, self.mesh_shape = np.array(device_ids), tuple(int(n) for n in mesh_shape)
        self.axis_names = tuple(axis_names) if axis_names is not None else tuple(str(i) for i in range(len(mesh_shape)))
        if len(self.axis_names) != len(self.mesh_shape) or len(set(self.axis_names)) != len(self.axis_names):
            raise ValueError(f"Mesh: {len(self.mesh_shape)} axes have the names {self.axis_names}: name each once")
        if int(np.prod(self.mesh_shape)) != self.device_ids.size or self.device_ids.size != 1:
            raise ValueError(f"Mesh: a grid of {self.mesh_shape} for {self.device_ids.size} devices, but there is one")

    def size(self):
        return self.device_ids.size

    def shape(self):
        return collections.OrderedDict(zip(self.axis_names, self.mesh_shape))

    def get_logical_mesh(self):
        return self.device_ids.reshape(self.mesh_shape)


class HybridMesh(Mesh):
    def __init__(self, *, ici_mesh_shape, dcn_mesh_shape=None, axis_names=None):
        shape = np.array(ici_mesh_shape) * np.array(dcn_mesh_shape or [1] * len(ici_mesh_shape))
        super().__init__(np.arange(int(np.prod(shape))), tuple(shape), axis_names)


def set_global_mesh(mesh):
    GLOBAL[0] = mesh


def get_global_mesh():
    return GLOBAL[0]


def get_1d_mesh(axis_name=None):
    return Mesh(np.arange(1), (1,), None if axis_name is None else (axis_name,))


def checked(spec, mesh, rank):
    """Errors: ValueError for a sharding that is not one of a tensor of `rank` axes on `mesh`."""
    if not ON[0]:
        raise RuntimeError("a sharding without GSPMD: call torch_xla.runtime.use_spmd() first")
    names = [name for part in spec if part is not None for name in (part if isinstance(part, tuple) else (part,))]
    unknown = [n for n in names if (n not in mesh.axis_names if isinstance(n, str) else n >= len(mesh.mesh_shape))]
    if rank is not None and len(spec) != rank:
        raise ValueError(f"the sharding {tuple(spec)} has {len(spec)} axes, the tensor has {rank}")
    if unknown or len(set(names)) != len(names):
        raise ValueError(f"the sharding {tuple(spec)} on a mesh of {mesh.axis_names}: name axes of it, each once")


def mark_sharding(t, mesh, partition_spec, **_):
    checked(partition_spec, mesh, t.ndim)
    return t


class ShardingSpec:
    def __init__(self, mesh, partition_spec, minibatch=False):
        checked(partition_spec, mesh, None)
        self.mesh, self.partition_spec, self.minibatch = mesh, partition_spec, minibatch


class SpmdFullyShardedDataParallel(torch.nn.Module):
    """A module on a mesh of one device: its parameters are whole."""

    def __init__(self, module, *, mesh=None, auto_wrap_policy=None, shard_output=None, **_):
        super().__init__()
        mesh = mesh or get_global_mesh()
        if mesh is None or "fsdp" not in mesh.axis_names:
            raise ValueError("SpmdFullyShardedDataParallel: give a mesh with an axis 'fsdp', or set_global_mesh() one")
        self._orig_module = module

    @property
    def module(self):
        return self._orig_module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_module"), name)

    def forward(self, *args, **kwargs):
        return self._orig_module(*args, **kwargs)


def same(tensor, *_, **__):
    return tensor


def tables():
    """{module below torch_xla: its names}."""
    names = dict(Mesh=Mesh, HybridMesh=HybridMesh, mark_sharding=mark_sharding, ShardingSpec=ShardingSpec,
                 mark_sharding_with_gradients=mark_sharding, clear_sharding=same, set_global_mesh=set_global_mesh,
                 get_global_mesh=get_global_mesh, get_1d_mesh=get_1d_mesh, wrap_if_sharded=same,
                 apply_xla_patch_to_nn_linear=same, apply_backward_optimization_barrier=same)
    wrapper = dict(SpmdFullyShardedDataParallel=SpmdFullyShardedDataParallel)
    return {"distributed.spmd": names, "distributed.spmd.xla_sharding": names, "experimental.xla_sharding": names,
            "experimental.spmd_fully_sharded_data_parallel": wrapper}
