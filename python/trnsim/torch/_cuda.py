"""`--cuda`: a script's "cuda" is the simulated device. Questions about it have an answer; streams, pinned memory and
other things of a GPU do nothing."""
import contextlib
import time
import types

import torch

from trnsim.torch import _amp, _modes
from trnsim.torch._engine import engine
from trnsim.torch._tensor import DeviceTensor
from trnsim.torch._xla import memory_info
from trnsim.torch._xla_modules import Nothing, pass_on

PLACE = torch.device("cuda", 0)


class Event:
    """torch.cuda.Event: the host's clock, behind what is pending."""

    def __init__(self, *_, **__):
        self.at = None

    def record(self, stream=None):
        engine().mark_step("torch.cuda.Event")
        self.at = time.perf_counter()

    def elapsed_time(self, end):
        return 1e3 * (end.at - self.at)

    def synchronize(self):
        engine().mark_step("torch.cuda.synchronize")

    wait = query = lambda self, *_: True


class Stream(Nothing):
    """There is one."""
    device, cuda_stream = PLACE, 0

    def synchronize(self):
        engine().mark_step("torch.cuda.synchronize")

    def wait_stream(self, *_):
        return None

    wait_event = record_event = wait_stream


def properties(device=None):
    return types.SimpleNamespace(name="Trainium", total_memory=memory_info()["bytes_limit"], multi_processor_count=1,
                                 major=8, minor=0)


def used(device=None):
    return memory_info()["bytes_used"]


def free(device=None):
    info = memory_info()
    return info["bytes_limit"] - info["bytes_used"], info["bytes_limit"]


def devices():
    """As many as spawn() starts cores where --cores says so; a process of them has one."""
    return max(engine().ranks, engine().cores, 1)


def seeded(seed):
    torch.default_generator.manual_seed(int(seed))  # the device's numbers are of this generator


def moved(item, device=None, *_, **__):
    """Tensor.cuda() and Module.cuda()."""
    return item.to("xla")


def generator(kind):
    """torch.Generator, whose numbers are the CPU's in any case."""
    class Generator(kind):
        def __new__(cls, device="cpu"):
            return kind.__new__(cls, "cpu" if _modes.named(device) else device)

        def __init__(self, device="cpu"):
            super().__init__()
    return Generator


class OldClass(type):
    """torch.cuda.FloatTensor and its kind: makers of tensors, and questions about their types."""

    def __call__(cls, *args):
        return getattr(torch, cls.__name__)(*args).to("xla")

    def __instancecheck__(cls, item):
        return isinstance(item, DeviceTensor) and item.dtype is cls.dtype


OLD = ("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "LongTensor", "IntTensor", "ShortTensor",
       "CharTensor", "ByteTensor", "BoolTensor")


def one_module(module, *inputs, **named):
    """DataParallel's forward pass: there is one device."""
    return module.module(*inputs, **named)


ANSWERS = dict(
    is_available=True, current_device=0, is_initialized=True, get_device_name="Trainium",
    get_device_capability=(8, 0), is_bf16_supported=True, memory_summary="", utilization=0, get_arch_list=[],
    set_device=None, empty_cache=None, init=None, reset_peak_memory_stats=None, reset_max_memory_allocated=None,
    reset_max_memory_cached=None, ipc_collect=None)
USED = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
        "max_memory_cached")


def install():
    _modes.NAMES += ("cuda",)
    DeviceTensor.place = PLACE
    DeviceTensor.is_cuda = property(pass_on(True))
    cuda = torch.cuda
    for name, value in ANSWERS.items():
        setattr(cuda, name, pass_on(value))
    for name in USED:
        setattr(cuda, name, used)
    cuda.mem_get_info, cuda.device_count = free, devices
    cuda.get_device_properties, cuda.Event, cuda.Stream = properties, Event, Stream
    cuda.synchronize = lambda device=None: engine().mark_step("torch.cuda.synchronize")
    cuda.current_stream = cuda.default_stream = lambda device=None: Stream()
    cuda.stream = lambda stream=None: contextlib.nullcontext(stream)
    cuda.device = lambda device=None: contextlib.nullcontext(device)
    cuda.manual_seed = cuda.manual_seed_all = seeded
    cuda.get_rng_state = lambda device=None: torch.get_rng_state()
    cuda.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
    cuda.get_rng_state_all, cuda.set_rng_state_all = lambda: [torch.get_rng_state()], pass_on(None)
    cuda.amp.autocast = _amp.CudaAutocast
    torch.Tensor.cuda = torch.nn.Module.cuda = moved
    torch.Tensor.pin_memory, torch.Tensor.is_pinned = lambda tensor, *_: tensor, pass_on(False)
    torch.Generator = generator(torch.Generator)
    for name in OLD:
        known = {"__module__": "torch.cuda", "dtype": getattr(torch, name)(0).dtype}
        setattr(cuda, name, OldClass(name, (), known))
    DeviceTensor.get_device, DeviceTensor.record_stream = pass_on(0), pass_on(None)
    torch.nn.DataParallel.forward = one_module
