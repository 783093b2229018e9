"""Puts the simulated device in place of torch_xla and of accelerators: modes, modules, names."""
import functools
import gc
import warnings
import weakref

import torch

from trnsim.torch import _amp, _cuda, _ddp, _device, _dist, _dynamo, _engine, _modes, _newer, _newer_arguments, \
    _newer_names, _record, _scripted, _sync_norm, _xla, _xla_modules
from trnsim.torch._modes import loads_data, named
from trnsim.torch._nxd import modules as _nxd
from trnsim.torch._tensor import DeviceTensor, from_host

OPTIMIZERS, STALE = weakref.WeakSet(), weakref.WeakSet()  # STALE: whose parameters have moved away from them


def tied(apply):
    """Module._apply, of a move between host and device, which makes new parameters: tied ones are tied afterwards,
    those of optimizers are the new ones, and what a script has noted at one is kept."""
    depth = [0]

    def applied(module, function, *rest):
        if depth[0]:
            return apply(module, function, *rest)
        groups = {}
        for inner in module.modules():
            for name, parameter in inner._parameters.items():
                if parameter is not None:
                    groups.setdefault(id(parameter), (parameter, []))[1].append((inner, name))
        depth[0] += 1
        try:
            out = apply(module, function, *rest)
        finally:
            depth[0] -= 1
        new = {key: places[0][0]._parameters[places[0][1]] for key, (_, places) in groups.items()}
        for key, (before, places) in groups.items():
            for name in vars(before).keys() - vars(new[key]).keys():
                setattr(new[key], name, vars(before)[name])
            if new[key] is not before and before._backward_hooks:
                hooked(before, new[key], places[0])
            for inner, name in places[1:]:
                inner._parameters[name] = new[key]
        followed({key: parameter for key, parameter in new.items() if parameter is not groups[key][0]})
        return out
    return applied


def hooked(before, new, place):
    """Hooks of a parameter's gradient stay where a move keeps the objects. torch_xla's new parameters have none."""
    if not _engine.engine().knows_torch_xla:
        new._backward_hooks = before._backward_hooks
        return
    warnings.warn(f"the hooks of {type(place[0]).__name__}.{place[1]} are not called: torch_xla makes new parameters "
                  "where a model moves; call register_hook() after model.to(device)")


def followed(new):
    """Optimizers that were made before their parameters moved have them as they are now, as where a move keeps the
    objects. torch_xla's does not: its optimizers would update tensors that nothing reads."""
    for optimizer in list(OPTIMIZERS) if new else ():
        for group in optimizer.param_groups:
            if not any(id(p) in new for p in group["params"]):
                continue
            if _engine.engine().knows_torch_xla:
                STALE.add(optimizer)
                break
            state = optimizer.state
            for p in group["params"]:
                if id(p) in new and p in state:
                    state[new[id(p)]] = state.pop(p)
            group["params"] = [new.get(id(p), p) for p in group["params"]]


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
        OPTIMIZERS.add(optimizer)
        kind = type(optimizer)
        if "step" not in vars(kind) or getattr(kind.step, "ends_steps", False):
            return
        plain = kind.step

        @functools.wraps(plain)
        def step(self, *rest, **named_rest):
            if self in STALE:
                raise _engine.Refused(_engine.script_line(), "the optimizer was made before the model moved to the "
                                      "device, which in torch_xla makes new parameters: nothing would be trained; "
                                      "make the optimizer after model.to(device)")
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


def kron(plain):
    """out= of PyTorch's composition is written by way of a view that is none on the device."""
    @functools.wraps(plain)
    def made(first, other, *, out=None):
        if not isinstance(out, DeviceTensor):
            return plain(first, other) if out is None else plain(first, other, out=out)
        return torch.mul(plain(first.detach(), other.detach()), 1, out=out)
    return made


def placed(make):
    """A maker that PyTorch's modes do not see."""
    @functools.wraps(make)
    def made(*args, **kwargs):
        out = make(*args, **kwargs)
        return out if loads_data() else from_host(out)
    return made


def set_default_device(device):
    """PyTorch 2's: where makers that name no device put their tensors."""
    if device is not None and str(device).split(":")[0] not in ("cpu", "cuda", *_modes.NAMES):
        raise _engine.Refused(_engine.script_line(), f"torch.set_default_device({str(device)!r}) is not supported: "
                              "name \"xla\", \"neuron\" or \"cpu\"")
    _modes.DEFAULT[0] = _modes.DEFAULT[1] if device is None else named(device)


def get_default_device():
    return torch.device("xla" if _modes.DEFAULT[0] else "cpu")


def retyping(change):
    """torch.set_default_dtype(): from then on the same calls, such as torch.ones(3), have results of another type. A
    type of torch.cuda is also a default place."""
    @functools.wraps(change)
    def changed(kind):
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}" if isinstance(kind, type) else ""
        if name.startswith("torch.cuda."):
            set_default_device("cuda")
            kind = name.replace(".cuda", "")
        elif name:
            set_default_device(None)
        change(kind)
        for operator, calls in _record.OPERATORS:
            operator.calls = calls.setdefault(torch.get_default_dtype(), {})
    return changed


def calm_collector():
    """Python's collector of circles looks at young objects every 700 that are made: a step records thousands that live
    until it is computed. All that is there already, modules above all, is not looked at again."""
    gc.freeze()
    gc.set_threshold(20_000, *gc.get_threshold()[1:])


def install(backend, everywhere=False, cuda=False):
    """From here on "xla" and "neuron" are simulated; with `everywhere` also tensors whose makers name no device, with
    `cuda` also "cuda"."""
    running = _engine.start(backend)
    _device.install()
    torch.nn.Module._apply = tied(torch.nn.Module._apply)
    torch.nn.Module.to = renamed(torch.nn.Module.to)
    torch.optim.Optimizer.__init__ = ending_steps(torch.optim.Optimizer.__init__)
    kinds = type(torch.nn.Parameter)
    kinds.__instancecheck__ = one_kind(kinds.__instancecheck__)
    torch.load = loading(torch.load)
    torch.multiprocessing.spawn = _xla.spawn  # its own processes would know nothing of the device
    torch.accelerator = Accelerator
    torch.set_default_device, torch.get_default_device = set_default_device, get_default_device
    torch.set_default_dtype = retyping(torch.set_default_dtype)
    torch.set_default_tensor_type = retyping(torch.set_default_tensor_type)
    torch.nn.functional.one_hot = torch._C._nn.one_hot = one_hot(torch.nn.functional.one_hot)
    torch.repeat_interleave = torch.Tensor.repeat_interleave = repeated(torch.repeat_interleave)
    torch.kron = kron(torch.kron)
    _newer.install()
    _newer_names.install()
    _newer_arguments.install()
    _dynamo.install()
    _amp.install()
    _dist.install()
    _ddp.install()
    _sync_norm.install()
    _scripted.install()
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
