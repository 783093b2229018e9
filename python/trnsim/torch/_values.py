"""Records: a Value is a tensor that a Node computes later, or that the device has already; a Call is an
operator with everything that is known before values are: shapes, strides, types and constants."""
import itertools
import weakref

import torch

from trnsim import _core

ELEMENTS = {torch.float64: "f64", torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16",
            torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "ui8",
            torch.bool: "i1"}
DTYPES = {element: dtype for dtype, element in ELEMENTS.items()}


class Held:
    """References to objects as long as others hold them: none that goes is told, those that are left are sought."""

    __slots__ = ("references", "most")

    def __init__(self):
        self.references, self.most = [], 4096

    def add(self, item):
        references = self.references
        references.append(weakref.ref(item))
        if len(references) > self.most:
            self.trim()

    def trim(self):
        self.most = 2 * len(list(self)) + 4096

    def __iter__(self):
        """Those that are still there, in the order of their making."""
        return iter(self.left())

    def left(self):
        return _core._left_of(self.references)


LIVE = Held()  # storages of tensors that the script holds
ALLOCATED = torch.device("meta")  # as PyTorch's C++ side is told
KEYS = {}  # numbers of all metas: those of equal ones are the same
HOOKS = {}  # functions of modules that come later, by name


class Unsupported(RuntimeError):
    """An operator, a type or a use that is not supported."""


def element_of(dtype):
    if dtype not in ELEMENTS:
        raise Unsupported(f"{dtype} is not on the device: use one of {', '.join(str(d) for d in ELEMENTS)}")
    return ELEMENTS[dtype]


class Meta:
    """Shape, strides and type of a tensor, and where it begins in its memory: autograd writes slices by these. `form`:
    the same as PyTorch's maker of wrappers takes it."""
    __slots__ = ("shape", "stride", "dtype", "offset", "key", "numel", "form")

    def __init__(self, shape, stride, dtype, offset=0):
        self.shape, self.stride, self.dtype, self.offset = tuple(shape), tuple(stride), dtype, offset
        self.key = KEYS.setdefault((self.shape, self.stride, dtype, offset), len(KEYS))
        self.numel = 1
        for size in self.shape:
            self.numel *= size
        self.form = {"dtype": dtype, "device": ALLOCATED}
        if self.stride != strides_of(self.shape):
            self.form["strides"] = self.stride
        if offset:
            self.form["storage_offset"] = offset

    def tensor(self):
        if not self.offset:
            return torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="meta")
        reach = 1 + self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.stride) if n > 0)
        return torch.empty(reach, dtype=self.dtype, device="meta").as_strided(self.shape, self.stride, self.offset)


def meta_of(tensor):
    return Meta(tensor.shape, tensor.stride(), tensor.dtype, tensor.storage_offset())


def strides_of(shape):
    """Strides of elements that follow each other without gaps."""
    stride, step = [], 1
    for size in reversed(shape):
        stride.append(step)
        step *= max(size, 1)
    return tuple(reversed(stride))


def contiguous(shape, dtype):
    return Meta(shape, strides_of(shape), dtype)


class Value:
    """`buffer` once it is on the device; until then the result `index` of `node`. `host`: a number of the script that
    becomes a parameter of the program, so that another number needs no other program."""
    __slots__ = ("node", "index", "buffer", "host", "meta", "__weakref__")

    def __init__(self, meta, node=None, index=0, buffer=None, host=None):
        self.meta, self.node, self.index, self.buffer, self.host = meta, node, index, buffer, host

    @property
    def pending(self):
        return self.node is not None


class Storage:
    """`home`: the value that it had when a graph was computed last, whose memory its next value may take."""
    __slots__ = ("value", "home", "version", "meta", "__weakref__")

    def __init__(self, value, meta):
        self.value, self.version, self.meta = value, 0, meta
        self.home = value if value.node is None else None
        LIVE.add(self)


class Node:
    """One call of an operator, on values. `graph` and `place`: the graph that found it last, and where it is there."""
    __slots__ = ("call", "inputs", "sequence", "graph", "place")
    count = itertools.count()

    def __init__(self, call, inputs, number=count.__next__):
        self.call, self.inputs, self.sequence, self.graph = call, inputs, number(), None

    def value(self, index):
        """A result. The node does not keep it: both go when nothing reads them, without a search for circles."""
        return Value(self.call.outs[index], self, index)


class Slot:
    """The place of a tensor among a call's arguments."""
    __slots__ = ("index",)

    def __init__(self, index):
        self.index = index


class Call:
    """`args` and `kwargs` have Slots where tensors are; `outs` are Metas, `single` says that there is one result and no
    tuple around it; `steps` are those of a view."""
    __slots__ = ("func", "args", "kwargs", "ins", "outs", "single", "id", "kind", "steps")
    count = itertools.count()

    def __init__(self, func, args, kwargs, ins):
        self.func, self.args, self.kwargs, self.ins = func, args, kwargs, ins
        self.outs, self.single, self.id, self.kind, self.steps = [], True, next(Call.count), None, None

    @property
    def name(self):
        return str(self.func)


def filled(template, tensors):
    """Arguments with tensors where their slots were."""
    if isinstance(template, Slot):
        return tensors[template.index]
    if isinstance(template, (list, tuple)):
        return type(template)(filled(item, tensors) for item in template)
    if isinstance(template, dict):
        return {key: filled(item, tensors) for key, item in template.items()}
    return template
