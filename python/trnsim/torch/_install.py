"""Puts the simulated device in place of torch_xla and of accelerators: modes, modules, names."""
import functools
import gc

import torch

from trnsim.torch import _amp, _cuda, _ddp, _dist, _engine, _modes, _xla, _xla_modules
from trnsim.torch._modes import loads_data, named
from trnsim.torch._nxd import modules as _nxd
from trnsim.torch._tensor import DeviceTensor, from_host


def tied(apply):
    """Module._apply with tied parameters tied afterwards, and what a script has noted at a parameter kept: each move
    makes new tensors."""
    depth = [0]

    def applied(module, function, *rest):
        if depth[0]:
            return apply(module, function, *rest)
        groups, notes = {}, {}
        for inner in module.modules():
            for name, parameter in inner._parameters.items():
                if parameter is not None:
                    groups.setdefault(id(parameter), []).append((inner, name))
                    notes[id(parameter)] = vars(parameter)
        depth[0] += 1
        try:
            out = apply(module, function, *rest)
        finally:
            depth[0] -= 1
        for before, (first, *others) in groups.items():
            new = first[0]._parameters[first[1]]
            for name in notes[before].keys() - vars(new).keys():
                setattr(new, name, notes[before][name])
            for inner, name in others:
                inner._parameters[name] = new
        return out
    return applied


def renamed(to):
    def moved(module, *args, **kwargs):
        args = tuple(torch.device("xla") if named(a) else a for a in args)
        kwargs = {k: torch.device("xla") if named(v) else v for k, v in kwargs.items()}
        return to(module, *args, **kwargs)
    return moved


def one_kind(check):
    """PyTorch 1.13 takes a parameter of a tensor subclass for one of every kind, uninitialized too; 2.x does not."""
    def checked(kind, instance):
        return check(kind, instance) if kind is torch.nn.Parameter else type.__instancecheck__(kind, instance)
    return checked


def moved(item):
    """Tensors in a loaded file's lists and dictionaries, on the device."""
    if isinstance(item, DeviceTensor):
        return item
    if isinstance(item, torch.Tensor):
        out = from_host(item).requires_grad_(item.requires_grad)
        return torch.nn.Parameter(out, item.requires_grad) if isinstance(item, torch.nn.Parameter) else out
    if isinstance(item, torch.nn.Module):
        return item.to("xla")
    if isinstance(item, dict):
        for key, value in item.items():
            item[key] = moved(value)
    elif type(item) in (list, tuple):
        return type(item)(moved(x) for x in item)
    return item


def loading(load):
    """torch.load() that takes the device's names for the place of its tensors."""
    @functools.wraps(load)
    def loaded(f, map_location=None, *args, **kwargs):
        if named(map_location):
            return moved(load(f, "cpu", *args, **kwargs))
        return load(f, map_location, *args, **kwargs)
    return loaded


class Accelerator:
    """torch.accelerator, of PyTorch 2.6: scripts ask it for a device."""

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def current_accelerator(check_available=False):
        return torch.device("xla")

    @staticmethod
    def device_count():
        return 1

    @staticmethod
    def synchronize(device=None):
        _engine.engine().mark_step()


def ending_steps(init):
    """Optimizer.__init__ that has step() end a step, for scripts that know of no torch_xla."""
    @functools.wraps(init)
    def made(optimizer, *args, **kwargs):
        init(optimizer, *args, **kwargs)
        kind = type(optimizer)
        if "step" not in vars(kind) or getattr(kind.step, "ends_steps", False):
            return
        plain = kind.step

        @functools.wraps(plain)
        def step(self, *rest, **named_rest):
            out = plain(self, *rest, **named_rest)
            _engine.engine().stepped()
            return out
        step.ends_steps = True
        kind.step = step
    return made


def one_hot(plain):
    """PyTorch's composition asks a tensor's device, and reads values that the device does not read."""
    @functools.wraps(plain)
    def made(tensor, num_classes=-1):
        if not isinstance(tensor, DeviceTensor):
            return plain(tensor, num_classes)
        if tensor.dtype is not torch.int64:
            raise RuntimeError("one_hot is only applicable to index tensor.")
        count = int(tensor.max().item()) + 1 if num_classes == -1 else num_classes
        return (tensor.unsqueeze(-1) == torch.arange(count, device="xla")).to(torch.int64)
    return made


def repeated(plain):
    """Repeats that are one number, as PyTorch 2.1 composes them; 1.13 makes a tensor of the number and reads it."""
    @functools.wraps(plain)
    def made(tensor, repeats, dim=None, **size):
        if not isinstance(tensor, DeviceTensor) or not isinstance(repeats, int):
            return plain(tensor, repeats, dim, **size)
        tensor, dim = (tensor.flatten(), 0) if dim is None else (tensor, dim % tensor.dim())
        wide = tensor.unsqueeze(dim + 1).expand(*tensor.shape[:dim + 1], repeats, *tensor.shape[dim + 1:])
        return wide.clone().flatten(dim, dim + 1)
    return made


def placed(make):
    """A maker that PyTorch's modes do not see."""
    @functools.wraps(make)
    def made(*args, **kwargs):
        out = make(*args, **kwargs)
        return out if loads_data() else from_host(out)
    return made


def calm_collector():
    """Python's collector of circles looks at young objects every 700 that are made: a step records thousands that live
    until it is computed. All that is there already, modules above all, is not looked at again."""
    gc.freeze()
    gc.set_threshold(20_000, *gc.get_threshold()[1:])


def install(backend, everywhere=False, cuda=False):
    """From here on "xla" and "neuron" are simulated; with `everywhere` also tensors whose makers name no device, with
    `cuda` also "cuda"."""
    running = _engine.start(backend)
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    torch.nn.Module._apply = tied(torch.nn.Module._apply)
    torch.nn.Module.to = renamed(torch.nn.Module.to)
    torch.optim.Optimizer.__init__ = ending_steps(torch.optim.Optimizer.__init__)
    kinds = type(torch.nn.Parameter)
    kinds.__instancecheck__ = one_kind(kinds.__instancecheck__)
    torch.load = loading(torch.load)
    torch.multiprocessing.spawn = _xla.spawn  # its own processes would know nothing of the device
    torch.accelerator = Accelerator
    torch.nn.functional.one_hot = torch._C._nn.one_hot = one_hot(torch.nn.functional.one_hot)
    torch.repeat_interleave = torch.Tensor.repeat_interleave = repeated(torch.repeat_interleave)
    _amp.install()
    _dist.install()
    _ddp.install()
    _xla_modules.install()
    _nxd.install()
    _modes.record_everything()
    calm_collector()
    _modes.install(everywhere)
    DeviceTensor.plain_numpy = everywhere
    if everywhere:
        torch.from_numpy = placed(torch.from_numpy)
    if cuda:
        _cuda.install()
    return running
