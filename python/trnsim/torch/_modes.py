"""A script's makers and moves that name the device, and a mode for operators without a tensor of ours among their
arguments. "neuron" and "xla" are names of the same device; PyTorch's C++ side is told "meta", which it can allocate."""
import functools
import os
import sys
import threading
import types

import torch
import torch.utils.data
from torch.utils._python_dispatch import TorchDispatchMode

from trnsim import _core
from trnsim.torch import _lazy, _record, _tensor, _values, _views
from trnsim.torch._device import PLAIN
from trnsim.torch._engine import engine
from trnsim.torch._record import dispatch
from trnsim.torch._tensor import NO_DATA, DeviceTensor, from_host
from trnsim.torch._values import ALLOCATED, HOOKS, Unsupported

NAMES = ("xla", "neuron")
DEFAULT = [False, False]  # whether tensors are on the device whose makers name none: now, and in the beginning
# The values of these are there when they are made.
HOSTED = ("tensor", "as_tensor", "asarray", "scalar_tensor")
PLACED = HOSTED + ("zeros", "ones", "full", "empty", "rand", "randn", "randint", "arange", "linspace", "eye",
                   "randperm")
MAKERS = PLACED + ("empty_strided", "range", "logspace", "zeros_like", "ones_like", "full_like", "empty_like",
                   "rand_like", "randn_like", "randint_like", "tril_indices", "triu_indices", "hann_window",
                   "hamming_window", "blackman_window", "bartlett_window", "normal")
METHODS = ("to", "new_zeros", "new_ones", "new_full", "new_empty", "new_tensor", "new_empty_strided")


def named(device):
    """Whether a value names the simulated device: a number does where "cuda" does."""
    if type(device) is str:
        return device.split(":")[0] in NAMES
    if type(device) is int:
        return "cuda" in NAMES
    return isinstance(device, PLAIN) and device.type in NAMES


def without_data(place):
    """Whether a script asks for PyTorch's own tensors without data, by name or by a tensor of that place. A mode of
    functions calls makers and moves again, with the object that these modules have put in the device's place."""
    if place is ALLOCATED:
        return False
    if type(place) is str:
        return place.split(":")[0] == "meta"
    return isinstance(place, PLAIN) and place.type == "meta" or plain_meta(place)


def plain_meta(item):
    return isinstance(item, torch.Tensor) and item.is_meta


def made_without(call, args, kwargs):
    """A tensor without data, which no mode sees: one whose place is called "meta" is the device's to it."""
    guard = torch._C._DisableTorchDispatch()
    try:
        first = args[0] if args else None
        if isinstance(first, DeviceTensor):
            first = torch.empty_strided(first.shape, first.stride(), dtype=first.dtype, device="meta")
            args = (first, *args[1:])
        return call(*args, **kwargs)
    finally:
        del guard


def there(tensor):
    """The argument for the name of the device. Errors: PyTorch's, for a tensor without data."""
    if tensor.is_meta:
        raise NotImplementedError(NO_DATA)
    return ALLOCATED


OWN, LOADERS = os.path.dirname(__file__) + os.sep, os.path.join("torch", "utils", "data") + os.sep


def loads_data():
    """Whether a data loader asks, or one of these modules: their numbers stay on the host."""
    name = sys._getframe(2).f_code.co_filename
    return LOADERS in name or name.startswith(OWN) or torch.utils.data.get_worker_info() is not None


def plain(data):
    """A script's nested lists with numbers in the place of tensors of the device."""
    if isinstance(data, DeviceTensor):
        host = data.detach().cpu()
        return host.item() if host.dim() == 0 else host.tolist()
    return type(data)(plain(x) for x in data) if type(data) in (list, tuple) else data


def holds_ours(data):
    return type(data) in (list, tuple) and any(isinstance(x, DeviceTensor) or holds_ours(x) for x in data[:64])


def moved(make, args, kwargs):
    """Made on the host, and copied."""
    grad = kwargs.pop("requires_grad", False)
    out = from_host(make(*args, **dict(kwargs, device="cpu")))
    return out.requires_grad_() if grad else out


def crosses(args, kwargs):
    """Whether a tensor of one place is to be made like one of the other."""
    device = kwargs.get("device")
    return device is not None and args and isinstance(args[0], torch.Tensor) and (
        named(device) != isinstance(args[0], DeviceTensor))


def across(make, args, kwargs):
    """By the host, of a tensor there; copied where the device is named."""
    if not isinstance(args[0], DeviceTensor):
        return moved(make, args, kwargs)
    return make(torch.empty(args[0].shape, dtype=args[0].dtype, device="cpu"), *args[1:], **kwargs)


def maker(make, hosted, placed):
    """A maker that knows the device's names; `placed`: where none is named, it is at the default place."""
    likes, filled = make.__name__.endswith("_like"), make.__name__ == "full"

    @functools.wraps(make)
    def made(*args, **kwargs):
        device = kwargs.get("device")
        if device is not None and without_data(device):
            return made_without(make, args, kwargs)
        if likes and crosses(args, kwargs):
            return across(make, args, kwargs)
        if args and holds_ours(args[0]):
            args = (plain(args[0]), *args[1:])
        if filled and kwargs.get("dtype") is None and kwargs.get("out") is None:
            if type(args[1] if len(args) > 1 else kwargs.get("fill_value")) is bool:
                kwargs["dtype"] = torch.bool  # PyTorch 1.13 makes 1 of True where a mode is around
        if named(device) if device is not None else placed and DEFAULT[0] and not loads_data():
            if hosted:
                return moved(make, args, kwargs)
            kwargs["device"] = ALLOCATED
        return make(*args, **kwargs)
    return made


def method(call):
    takes_sizes = call.__name__ != "to"  # first, so that a number is none of a device

    @functools.wraps(call)
    def called(tensor, *args, **kwargs):
        if kwargs and without_data(kwargs.get("device")) or not takes_sizes and args and without_data(args[0]):
            return made_without(call, (tensor, *args), kwargs)
        if takes_sizes and kwargs and crosses((tensor,), kwargs):
            return across(call, (tensor, *args), kwargs)
        if args and named(args[0]) and not (takes_sizes and type(args[0]) is int):
            if _lazy.waits(tensor):
                return tensor
            args = (there(tensor), *args[1:])
        elif kwargs and named(kwargs.get("device")):
            if _lazy.waits(tensor):
                return tensor
            kwargs["device"] = there(tensor)
        return call(tensor, *args, **kwargs)
    return called


def undispatched(call):
    """torch.Tensor(...) and as_subclass(), which PyTorch 1.13 refuses where a mode is around: they are the host's."""
    @functools.wraps(call)
    def called(first, *args, **kwargs):
        if isinstance(first, DeviceTensor) or any(isinstance(x, DeviceTensor) for x in args):
            raise TypeError("torch.Tensor() and as_subclass() make host tensors, but were given one of the "
                            "device: use .clone() or torch.as_tensor()")
        args = tuple([plain(x) if holds_ours(x) else x for x in args])
        guard = torch._C._DisableTorchDispatch()
        try:
            return call(first, *args, **kwargs)
        finally:
            del guard
    return called


def legacy(new, everywhere):
    made = undispatched(new)

    def of_class(kind, *args, **kwargs):
        if everywhere and len(args) == 1 and isinstance(args[0], DeviceTensor):
            return args[0].detach()
        out = made(kind, *args, **kwargs)
        return from_host(out) if everywhere and kind is torch.Tensor and not loads_data() else out
    return of_class


def shallow(alike):
    """Whether a module's tensor may take over another's memory where it is: not from another place, which PyTorch's
    C++ side does not see between the device and "meta"."""
    @functools.wraps(alike)
    def checked(tensor, other):
        return isinstance(tensor, DeviceTensor) == isinstance(other, DeviceTensor) and alike(tensor, other)
    return checked


def install(everywhere):
    """Wraps makers and moves in their places; compiled scripts find their operators by identity."""
    DEFAULT[:] = [everywhere, everywhere]
    torch.Tensor.__new__ = legacy(torch.Tensor.__new__, everywhere)
    torch.Tensor.as_subclass = undispatched(torch.Tensor.as_subclass)
    for name in MAKERS:
        plain = getattr(torch, name)
        wrapped = maker(plain, name in HOSTED, name in PLACED)
        setattr(torch, name, wrapped)
        compiled_alike(plain, wrapped)
    for name in METHODS:
        setattr(torch.Tensor, name, method(getattr(torch.Tensor, name)))
    _lazy.install(torch.Tensor.to)
    torch._has_compatible_shallow_copy_type = shallow(torch._has_compatible_shallow_copy_type)


def compiled_alike(plain, wrapped):
    """Tells torch.jit that both are the same operator. A private table: without it such scripts are not compiled."""
    try:
        from torch.jit._builtins import _get_builtin_table
    except ImportError:
        return
    table = _get_builtin_table()
    if id(plain) in table:
        table[id(wrapped)] = table[id(plain)]


stacked_modes = getattr(torch._C, "_len_torch_dispatch_stack", None)


TRUTHS = {id(truth): torch.tensor(truth) for truth in (False, True)}


class Numbered:
    """An operator of tensors, or of a tensor and a number, that takes both. PyTorch hands a mode the numbers that it
    has made tensors of; 1.13 takes them back from it for some operators alone, and a truth as an integer."""

    def __init__(self, packet, plain):
        self.packet, self.plain = packet, plain

    def __call__(self, first, other, **kwargs):
        first, other = TRUTHS.get(id(first), first), TRUTHS.get(id(other), other)
        if not isinstance(other, torch.Tensor):
            return self.packet._scalar(first, other, **kwargs)
        if not isinstance(first, torch.Tensor):
            return self.packet.Scalar_Tensor(first, other, **kwargs)
        return self.packet._tensor(first, other, **kwargs)

    def __hash__(self):
        return hash(self.plain)  # tables have the operator by it


class Indexed:
    """Indexing, whose places may have 32 bits, as in PyTorch 2."""

    def __init__(self, plain):
        self.plain = plain

    def __call__(self, first, places, *args, **kwargs):
        wide = [p.long() if p is not None and p.dtype is torch.int32 else p for p in places]
        return self.plain(first, wide, *args, **kwargs)

    def __hash__(self):
        return hash(self.plain)


def take_numbers():
    """Arguments that PyTorch 2 takes."""
    if not torch.__version__.startswith("1."):
        return
    for overload in (torch.ops.aten.index.Tensor, torch.ops.aten.index_put.default, torch.ops.aten.index_put_.default):
        overload._op = Indexed(overload._op)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_and_", "bitwise_or_", "bitwise_xor_"):
        packet = getattr(torch.ops.aten, name)
        packet._scalar, packet._tensor = packet.Scalar._op, packet.Tensor._op
        for overload in (packet.Scalar, packet.Tensor):
            overload._op = Numbered(packet, overload._op)


DETACH = torch.ops.aten.detach.default
TENSOR_TYPE = torch._C.TensorType.get()
WIDEST = {float: torch.float64, int: torch.int64, bool: torch.bool}  # types of numbers as tensors


@functools.lru_cache(None)
def of_one_tensor(func):
    """Whether the first argument of an operator is its only tensor. PyTorch hands over a number that was one operand of
    an operator, and that a hook of saved tensors is given, as Python's number, which such operators do not take."""
    return [i for i, a in enumerate(func._schema.arguments) if TENSOR_TYPE.isSubtypeOf(a.type)] == [0]


class Operators(TorchDispatchMode):
    """Records operators that make tensors on the device, and those whose arguments are there."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if args and type(args[0]) in WIDEST and of_one_tensor(func):
            args = (torch.scalar_tensor(args[0], dtype=WIDEST[type(args[0])]), *args[1:])
        if kwargs:
            device = kwargs.get("device")
            if device is not None and device.type == "meta" and not (args and plain_meta(args[0])):
                return dispatch(func, args, kwargs)
        else:
            kwargs = {}
        for kind in types:
            if kind is DeviceTensor:
                return dispatch(func, args, kwargs)
        out = func(*args, **kwargs)
        if func is DETACH and not isinstance(out, torch.Tensor):  # a number that a saved-tensor hook gave back
            return torch.scalar_tensor(out, dtype=WIDEST[type(out)])
        return out


class Direct:
    """Operators() as PyTorch 1.13's C++ side calls it, without a stack of modes around each call. A mode of the script
    above it on the stack is still the first to be asked. Operators that were recorded before with such arguments need
    none of Python: the compiled recorder asks in_python() about all others."""

    def __init__(self, mode, stacked):
        self.mode, self.stacked = mode, stacked
        self.active = True  # as PyTorch has it: not while an operator of ours is being recorded
        tables = {**vars(_values), **vars(_views), **vars(_tensor), **vars(_record)}
        self.__torch_dispatch__ = _core._recorder(types.SimpleNamespace(
            **tables, in_python=self.in_python, stacked_modes=stacked_modes, detach=DETACH,
            inference=torch.is_inference_mode_enabled))

    def in_python(self, func, types, args=(), kwargs=None):
        self.active = False
        try:
            if stacked_modes() > 1:
                return self.stacked.__torch_dispatch__(func, types, args, kwargs)
            return self.mode.__torch_dispatch__(func, types, args, kwargs)
        except (Unsupported, NotImplementedError) as error:
            raise engine().explained(error, func) from None
        finally:
            self.active = True


class Recording:
    """Operators() for a while, where Direct is there."""

    def __init__(self, direct):
        self.direct = direct

    def __enter__(self):
        self.before, self.direct.active = self.direct.active, True
        torch._C._set_torch_dispatch_mode(self.direct)

    def __exit__(self, *error):
        self.direct.active = self.before
        torch._C._set_torch_dispatch_mode(self.direct if self.before else None)


FALLBACK = []  # lives as long as the process: its end would undo what it has registered


def reach_operators_of_others():
    """Operators of other libraries that have nothing for autograd reach the mode: PyTorch 1.13 lets them pass for every
    device but "meta", which its C++ side takes ours for. Later ones do so themselves."""
    if not FALLBACK and torch.__version__.startswith("1."):
        FALLBACK.append(torch._C._dispatch_library("IMPL", "_", "AutogradMeta"))
        FALLBACK[0].fallback_fallthrough()


def record_everything():
    """From here on operators are recorded. Private names of PyTorch 1.13; others use the public mode."""
    reach_operators_of_others()
    take_numbers()
    mode = Operators()
    try:
        from torch.utils._python_dispatch import _TorchDispatchStackMode
        direct = Direct(mode, _TorchDispatchStackMode())
        HOOKS["operators"] = lambda: Recording(direct)

        def enter():
            torch._C._push_on_torch_dispatch_stack(mode)
            torch._C._set_torch_dispatch_mode(direct)

        def leave():
            torch._C._set_torch_dispatch_mode(None)
            torch._C._pop_torch_dispatch_stack()
        enter()
    except (ImportError, AttributeError):
        enter, leave = mode.__enter__, lambda: mode.__exit__(None, None, None)
        enter()
    in_each_thread(enter, leave)


def in_each_thread(enter, leave):
    """Modes are a thread's own: threads that the script starts enter it as they begin, and leave it. Objects that a
    thread still has behind its last line are dropped when the interpreter may have ended, and that is an abort."""
    begin = threading.Thread._bootstrap_inner

    def begun(self):
        enter()
        try:
            begin(self)
        finally:
            leave()
    threading.Thread._bootstrap_inner = begun


HOOKS.update(operators=Operators)
