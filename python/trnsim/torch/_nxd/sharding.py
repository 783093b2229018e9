"""How neuronx_distributed.trace divides a checkpoint of the whole model among cores, which scripts also do by hand in a
process that is none of the cores."""
import contextlib

import torch

from trnsim.torch._nxd import checkpointing, state
from trnsim.torch._nxd.utils import is_parallel


class Pretended:
    """A group of one core of so many, without processes."""

    def __init__(self, rank, count):
        self.ranks, self.rows, self.own = tuple(range(count)), None, rank

    def rank(self):
        return self.own

    def size(self):
        return len(self.ranks)


def pretend(tp_degree, rank):
    """From now on this process builds the layers of that core."""
    state.STATE.clear()
    state.STATE.update(tensor=Pretended(rank, tp_degree), data=Pretended(0, 1), single=Pretended(0, 1))


@contextlib.contextmanager
def kept_state():
    before = dict(state.STATE)
    state.STATE.clear()
    try:
        yield
    finally:
        state.STATE.clear()
        state.STATE.update(before)


def invoke_preshard_hook(module, checkpoint, prefix):
    """Layers that change the weights of the whole model before they are divided."""
    if hasattr(module, "preshard_hook"):
        module.preshard_hook(checkpoint, prefix + "weight")
        return
    for name, child in module.named_children():
        invoke_preshard_hook(child, checkpoint, prefix + name + ".")


def get_sharded_checkpoint(checkpoint, model, rank, tp_degree, is_cached=False):
    """In place: the parts of core `rank`. `is_cached`: the hooks have run."""
    if not is_cached:
        invoke_preshard_hook(model, checkpoint, "")
    dtype = getattr(getattr(model, "config", None), "torch_dtype", None)
    for name, parameter in model.named_parameters():
        if isinstance(dtype, torch.dtype) and is_parallel(parameter) and name in checkpoint:
            checkpoint[name] = checkpoint[name].to(dtype)
    with kept_state():
        pretend(tp_degree, rank)
        checkpoint.update(checkpointing.own_parts(model, checkpoint))


def part_of(checkpoint, model, rank, count):
    """The weights of core `rank`, of those of the whole model, which stay as they are."""
    own = dict(checkpoint)
    get_sharded_checkpoint(own, model, rank, count)
    return own


@contextlib.contextmanager
def init_on_device(device, include_buffers=False, force_custom_init_on_device=False):
    """For "cpu" and "meta", where scripts ask for the shapes of a part: the host draws weights that nothing reads."""
    if torch.device(device).type not in ("cpu", "meta"):
        state.refuse(f"init_on_device({device}) is not supported, only \"cpu\" and \"meta\": make the module and move "
                     "it")
    yield


def names():
    return dict(get_sharded_checkpoint=get_sharded_checkpoint, invoke_preshard_hook=invoke_preshard_hook,
                init_on_device=init_on_device, _mock_parallel_state=pretend)
