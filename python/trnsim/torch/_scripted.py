"""Files of torch.jit's modules: those of the host are saved and loaded; compiled modules keep their tensors where none
but PyTorch's own C++ side sets them, and stay where they were made."""
import functools

import torch

from trnsim.torch import _modes
from trnsim.torch._engine import Refused, script_line
from trnsim.torch._tensor import DeviceTensor

SAVED = "a compiled module is saved before it moves to the device: save it earlier, or save its state_dict()"
LOADED = "a compiled module of a file stays on the host: make the model in Python, and load its state_dict()"


def undispatched(call):
    """Storages, of which files are made, are none that a mode can be asked about."""
    @functools.wraps(call)
    def called(*args, **kwargs):
        guard = torch._C._DisableTorchDispatch()
        try:
            return call(*args, **kwargs)
        finally:
            del guard
    return called


def by_host(save):
    save = undispatched(save)

    @functools.wraps(save)
    def saved(module, *args, **kwargs):
        if any(isinstance(t, DeviceTensor) for t in (*module.parameters(), *module.buffers())):
            raise Refused(script_line(), SAVED)
        return save(module, *args, **kwargs)
    return saved


def placed(load):
    load = undispatched(load)

    @functools.wraps(load)
    def loaded(f, map_location=None, *args, **kwargs):
        if map_location is not None and _modes.named(map_location):
            raise Refused(script_line(), LOADED)
        return load(f, map_location, *args, **kwargs)
    return loaded


def of_host(trace):
    """torch.jit.trace() of a model of the host: around a mode PyTorch 1.13 takes convolutions for constants."""
    plain = undispatched(trace)

    @functools.wraps(trace)
    def traced(func, *args, **kwargs):
        held = (*func.parameters(), *func.buffers()) if isinstance(func, torch.nn.Module) else ()
        given = args[0] if args and isinstance(args[0], (list, tuple)) else args
        ours = any(isinstance(t, DeviceTensor) for t in (*held, *given))
        return (trace if ours else plain)(func, *args, **kwargs)
    return traced


def install():
    kind = torch.jit.RecursiveScriptModule
    kind.save, kind.save_to_buffer = by_host(kind.save), by_host(kind.save_to_buffer)
    torch.jit.load, torch.jit.trace = placed(torch.jit.load), of_host(torch.jit.trace)
