"""torch_xla.utils.utils, and functions of torch_xla.core.xla_model that show a script its own tensors and graphs."""
import os
import shutil
import sys
import tempfile
import time

import torch

from trnsim.torch._dynamo import pending
from trnsim.torch._engine import Graph, engine
from trnsim.torch._tensor import DeviceTensor
from trnsim.torch._values import HOOKS


class Cleaner:
    def __init__(self, func):
        self.func = func

    def __del__(self):
        self.func()


class TmpFolder:
    """A folder that goes with its last reference."""

    def __init__(self):
        self.name = tempfile.mkdtemp()
        self.cleaner = Cleaner(lambda: shutil.rmtree(self.name))


class Generator:
    """Batches, so many: an iterator, and iter() begins a new one."""

    def __iter__(self):
        return type(self)(*self.given)

    def __len__(self):
        return self.count

    def __next__(self):
        if self.emitted >= self.count:
            raise StopIteration
        self.emitted += 1
        return self.batch()

    def next(self):
        return next(self)


class SampleGenerator(Generator):
    """The same data for some steps."""

    def __init__(self, data, sample_count):
        self.given, self.count, self.emitted = (data, sample_count), sample_count, 0

    def batch(self):
        return self.given[0]


class FnDataGenerator(Generator):
    """(data, func(data)) of data that `gen_tensor` makes of a batch's size and `dims`."""

    def __init__(self, func, batch_size, gen_tensor, dims=None, count=1):
        self.given, self.count, self.emitted = (func, batch_size, gen_tensor, dims, count), count, 0

    def batch(self):
        func, size, make, dims, _ = self.given
        data = make(size, *(list(dims) if dims else [1]))
        return data, func(data)


def as_list(t):
    return t if isinstance(t, (tuple, list)) else [t]


def getenv_as(name, type, defval=None):  # noqa: A002
    value = os.environ.get(name)
    return defval if value is None else type(int(value)) if type is bool else type(value)


def inner(value):
    """Objects in containers, and in attributes of other objects."""
    if isinstance(value, dict):
        return [one for pair in value.items() for one in pair]
    if isinstance(value, (list, tuple, set)):
        return list(value)
    return list(vars(value).values()) if hasattr(value, "__dict__") else []


def for_each_instance(value, select_fn, fn, seen=None):
    """fn(object) of each that select_fn() chooses, none of which is entered; an object that holds itself once."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if select_fn(value):
        fn(value)
        return
    for one in inner(value):
        for_each_instance(one, select_fn, fn, seen)


def shape(inputs):
    """Sizes of lists in lists. Errors: AssertionError for lists of different sizes side by side."""
    if not isinstance(inputs, (list, tuple)):
        return []
    below = [shape(one) for one in inputs]
    assert all(one == below[0] for one in below), f"lists of different sizes: {below}"
    return [len(inputs)] + (below[0] if below else [])


def flatten_nested_tuple(inputs):
    if not isinstance(inputs, (list, tuple)):
        return (inputs,)
    return tuple(flat for one in inputs for flat in flatten_nested_tuple(one))


def list_copy_append(ilist, item):
    return [*ilist, item]


def null_print(*_, **__):
    return None


def eprint(*args, **kwargs):
    print(*args, file=sys.stderr, **kwargs)


def get_print_fn(debug=None):
    debug = int(os.environ.get("DEBUG", "0")) if debug is None else debug
    return eprint if debug else null_print


def timed(fn, msg="", printfn=eprint):
    """fn(), whose time of the host is told: as operators of the device are recorded, that of recording them."""
    with TimedScope(msg, printfn):
        return fn()


class TimedScope:
    def __init__(self, msg="", printfn=eprint):
        self.msg, self.tell, self.error = msg, printfn or get_print_fn(), None

    def __enter__(self):
        self.begin = time.time()
        return self

    def __exit__(self, kind, *_):
        if self.error is None and kind is None:
            self.tell(f"{self.msg}{1000.0 * (time.time() - self.begin):.3f}ms")

    def set_error(self, error):
        self.error = error


def check_view_sharing(obj):
    """Errors: RuntimeError where two of the tensors in `obj` are views of the same memory."""
    known = {}

    def memory(tensor):
        return id(tensor._base_storage) if isinstance(tensor, DeviceTensor) else tensor.storage().data_ptr()

    def told(tensor):
        return f"{id(tensor)} ({tensor.dtype}{list(tensor.shape)})"

    def check(tensor):
        if not tensor.numel():
            return
        other = known.setdefault((isinstance(tensor, DeviceTensor), memory(tensor)), tensor)
        if other is not tensor:
            raise RuntimeError(f"Tensor ID {told(tensor)} is sharing a view with tensor ID {told(other)}")
    for_each_instance(obj, lambda x: type(x) in (torch.Tensor, DeviceTensor), check)


def names():
    found = (Cleaner, TmpFolder, SampleGenerator, FnDataGenerator, TimedScope, as_list, getenv_as, for_each_instance,
             shape, flatten_nested_tuple, list_copy_append, null_print, eprint, get_print_fn, timed)
    return {one.__name__: one for one in found}


def get_stablehlo(tensors=None):
    """The graph of the tensors' pending values, or of all that is pending, as a text: it is not run."""
    if isinstance(tensors, torch.Tensor):
        raise TypeError("get_stablehlo() takes a list of tensors")
    values = pending() if tensors is None else [HOOKS["current"](t) for t in tensors if isinstance(t, DeviceTensor)]
    wanted = [value for value in {id(v): v for v in values}.values() if value.pending]
    return engine().backend.text(Graph(wanted), "graph") if wanted else ""
