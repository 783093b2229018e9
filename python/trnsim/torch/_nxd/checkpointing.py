"""neuronx_distributed.parallel_layers.checkpointing and the checkpoints of neuronx_distributed.trainer: a file for each
part of a model. Values are stored in the same form with and without xser, and read by either."""
import os
import shutil

import torch

from trnsim.torch import _xla
from trnsim.torch._nxd import state
from trnsim.torch._nxd.utils import cast_all, create_local_weight, divide, is_parallel, repeated


def write(data, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    torch.save(_xla.to_host(data), path)


def folder(checkpoint_dir, every_copy):
    name = f"tp_rank_{state.get_tensor_model_parallel_rank():02d}_pp_rank_00"
    name += f"_dp_rank_{state.get_data_parallel_rank():02d}" if every_copy else ""
    return os.path.join(checkpoint_dir, name, "checkpoint.pt")


def save(checkpoint, output_dir, save_serially=True, save_xser=False, down_cast_bf16=False, master_dp_only=True):
    data = _xla.to_host(checkpoint)  # on all cores: it computes what is pending
    if state.get_data_parallel_rank() == 0 or not master_dp_only:
        write(cast_all(data) if down_cast_bf16 else data, folder(output_dir, not master_dp_only))
    _xla.rendezvous("Checkpoint Done")


def sections(parameter, size):
    """The sizes of the weights that follow one another in one of `size`."""
    if hasattr(parameter, "fused_qkv"):
        keys = parameter.num_key_value_heads * parameter.head_dim
        return [parameter.num_attention_heads * parameter.head_dim, keys, keys]
    return getattr(parameter, "sections", size)


def own_part(parameter, whole):
    """This core's part of a whole weight, or of each of several that follow one another."""
    dim, whole = parameter.partition_dim, repeated(whole, getattr(parameter, "copies", 1))
    weights = whole.split(sections(parameter, whole.shape[dim]), dim)
    size, stride = state.get_tensor_model_parallel_size(), parameter.partition_stride
    if getattr(parameter, "num_partitions", None) not in (None, size):
        state.refuse(f"a weight of {parameter.num_partitions} parts is not supported on {size} cores: give it as many "
                     "parts as a tensor-parallel group has cores")
    return torch.cat([create_local_weight(w, dim, divide(w.shape[dim], size), stride) for w in weights], dim)


def own_parts(model, weights):
    """This core's parts of the weights of a whole model."""
    out = dict(weights)
    for name, parameter in model.state_dict(keep_vars=True).items():
        if is_parallel(parameter) and name in out:
            out[name] = own_part(parameter, out[name])
    return out


def get_sharded_model_dict(model, model_state_dict):
    return own_parts(model, model_state_dict)


def load(chkpt_path, model=None, model_or_optimizer=None, model_key="model", load_xser=False, sharded=True, strict=True,
         master_dp_only=True, weights_only=False):
    """The checkpoint, without the part that a given model or optimizer has taken."""
    target = model if model is not None else model_or_optimizer
    if not sharded and target is None:
        raise AssertionError("load(sharded=False) needs model_or_optimizer: it says how weights are divided")
    found = torch.load(folder(chkpt_path, not master_dp_only) if sharded else chkpt_path, map_location="cpu")
    if target is not None:
        weights = found if model_key is None else found.pop(model_key)
        if isinstance(target, torch.optim.Optimizer):
            target.load_state_dict(weights)
        else:
            target.load_state_dict(weights if sharded else own_parts(target, weights), strict=strict)
        found = None if model_key is None else found
    _xla.rendezvous("neuron.load_checkpoint")
    return found


def file(path, tag, kind, every_copy=False):
    copy = state.get_data_parallel_rank() if every_copy else 0
    return os.path.join(path, tag, kind, f"dp_rank_{copy:02d}_tp_rank_{state.get_tensor_model_parallel_rank():02d}"
                                         "_pp_rank_00.pt")


def tags(path):
    """The names of complete checkpoints, the newest last."""
    found = [tag for tag in (os.listdir(path) if os.path.isdir(path) else [])
             if os.path.exists(os.path.join(path, tag, "done"))]
    return sorted(found, key=lambda tag: (os.path.getmtime(os.path.join(path, tag, "done")), tag))


def has_checkpoint(path):
    return bool(tags(path))


def is_divided(optimizer):
    """Whether each copy of the model has other states of its optimizer."""
    return hasattr(getattr(optimizer, "optimizer", optimizer), "base_optimizer")


def save_checkpoint(path, tag="", model=None, optimizer=None, scheduler=None, user_content=None, num_workers=8,
                    use_xser=False, num_kept_ckpts=None, async_save=False, zero1_optimizer=False):
    """Below path/tag; the tags that are more than num_kept_ckpts go, the oldest first."""
    tag, first, root = str(tag), state.get_data_parallel_rank() == 0, state.is_global_rank_zero()
    done = os.path.join(path, tag, "done")
    if root and os.path.exists(done):
        os.remove(done)
    for kind, item, divided in (("model", model, False), ("optim", optimizer, is_divided(optimizer))):
        if item is not None:
            data = _xla.to_host(item.state_dict())
            if first or divided:
                write(data, file(path, tag, kind, divided))
    if root:
        for name, item in (("scheduler", scheduler and scheduler.state_dict()), ("user_content", user_content)):
            if item is not None:
                write(item, os.path.join(path, tag, f"{name}.pt"))
    _xla.rendezvous("saving checkpoint done")
    if root:
        os.makedirs(os.path.join(path, tag), exist_ok=True)
        with open(done, "w", encoding="utf-8") as mark:
            mark.write("1")
        for old in tags(path)[:-num_kept_ckpts] if num_kept_ckpts and num_kept_ckpts > 0 else []:
            shutil.rmtree(os.path.join(path, old))
    _xla.rendezvous("mark checkpoint as done")


def load_checkpoint(path, tag=None, model=None, optimizer=None, scheduler=None, num_workers=8, strict=True):
    """The user's content, or None."""
    if tag is None:
        found = tags(path)
        if not found:
            raise RuntimeError(f"load_checkpoint: there is no complete checkpoint in {path}")
        tag = found[-1]
    tag = str(tag)
    if model is not None:
        model.load_state_dict(torch.load(file(path, tag, "model"), map_location="cpu"), strict=strict)
    if optimizer is not None:
        optimizer.load_state_dict(torch.load(file(path, tag, "optim", is_divided(optimizer)), map_location="cpu"))
    if scheduler is not None:
        scheduler.load_state_dict(torch.load(os.path.join(path, tag, "scheduler.pt")))
    content = os.path.join(path, tag, "user_content.pt")
    _xla.rendezvous("load all done")
    return torch.load(content) if os.path.exists(content) else None


def finalize_checkpoint():
    """Nothing is written behind the script's back."""


def names():
    return dict(save=save, load=load, get_sharded_model_dict=get_sharded_model_dict)
