"""Modules of the machine's software that are not here, and the way out."""
import re
import traceback
import types

from trnsim.torch import _engine

PLANS = ("write the model in plain PyTorch, or with neuronx_distributed's parallel layers; for sharded plans of known "
         "models there are `trnsim run` and `trnsim plan`")
KERNELS = ("no verb runs both a kernel and operators of PyTorch on the device: put the kernel with its inputs into a "
           "file for `trnsim nki`, and compute the same in this script by PyTorch")
ABSENT = {
    "torch_xla": "torch_xla is supported for training on one or several cores with collectives; GSPMD on one device",
    "torch_xla.distributed.spmd": "use XlaFullyShardedDataParallel or DistributedDataParallel",
    "torch_xla.experimental": "torch_xla.experimental has eager_mode(), compile(), scan(), scan_layers(), "
                              "assume_pure() and gradient_accumulation()",
    "torch_neuronx": "torch_neuronx has trace(), analyze(), bucket_model_trace(), replace_weights(), DataParallel(), "
                     "lazy_load(), async_load(), move_trace_to_device(), dynamic_batch(), testing, "
                     "xla_impl.ops.RmsNorm, and experimental's places and profiler",
    "torch_neuron": "use torch_neuronx.trace()",
    "neuronx_distributed": "neuronx_distributed has tensor and data parallelism, ZeRO-1, trainer, checkpoints "
                           "parallel_model_trace() and ModelBuilder: docs/your_script.md",
    "neuronx_distributed_training": PLANS, "neuronx_distributed_inference": PLANS,
    "optimum": "write the training loop in PyTorch", "transformers_neuronx": "`trnsim generate` writes text",
    "neuronxcc": KERNELS, "nki": KERNELS,
    "torch.neuron": "the device is torch.device(\"neuron\"), its other names are torch_xla's and torch.accelerator's",
    "libneuronxla": "leave it out: it is not needed here",
}


def way_out(error):
    """(what, fix) of an import, or of a module's name, that the machine's software has and this has not; None: of any
    other error."""
    module = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    name = getattr(module, "__name__", "") if isinstance(module, types.ModuleType) else getattr(error, "name", "") or ""
    if isinstance(error, AttributeError) and not isinstance(module, types.ModuleType):
        return None
    if name == "torch" and getattr(error, "name", "") == "neuron":
        name = "torch.neuron"
    found = [known for known in ABSENT if f"{name}.".startswith(known + ".")]
    if not found:
        return None
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((_engine.OWN, "<"))]
    line = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    wanted = re.match(r"cannot import name '(\w+)'|module '\S+' has no attribute '(\w+)'", str(error))
    wanted = wanted if name != "torch.neuron" else None
    what = f"{wanted[1] or wanted[2]} of the module {name}" if wanted else f"the module {name}"
    return f"{line}{what} is not supported", ABSENT[max(found, key=len)]


def told(error):
    """An error of the script, as one text."""
    if isinstance(error, _engine.Refused):
        return str(error)
    absent = way_out(error) if isinstance(error, (ImportError, AttributeError)) else None
    return "; ".join(absent) if absent else _engine.script_trace(error)
