"""nki.language of the newer dialect: tensors, loops, the programs of a grid."""
import contextlib
import copy
import math

import numpy as np

from trnsim.nki import _dtypes, compiler
from trnsim.nki import _emit as e
from trnsim.nki._language import indices, moves, tensors
from trnsim.nki._language.types import Buffer, hbm, private_hbm, psum, sbuf, shared_hbm
from trnsim.nki._newer.registers import Body, VirtualRegister, in_any_order, loop
from trnsim.nki._newer.types import tile_size
from trnsim.nki._state import HBM, PSUM, SBUF, current, error, state

_BANK = 2048  # bytes of a PSUM bank in each partition


class NKIObject:
    """The base of a kernel's own classes. One without an __init__ of its own gets that of a data class: its annotated
    members in their order, None where nothing else is given. Objects are equal when their members are."""

    def __init__(self, *values, **members):
        fields = _fields(type(self))
        if len(values) > len(fields) or set(members) - set(fields) or set(members) & set(list(fields)[:len(values)]):
            raise TypeError(f"{type(self).__name__}() takes {', '.join(fields) or 'nothing'}")
        self.__dict__.update({name: copy.copy(default) for name, default in fields.items()})
        self.__dict__.update(zip(fields, values))
        self.__dict__.update(members)
        self.__post_init__()

    def __post_init__(self):
        pass

    def __eq__(self, other):
        if type(self) is not type(other) or self.__dict__.keys() != other.__dict__.keys():
            return False
        pairs = [(value, other.__dict__[name]) for name, value in self.__dict__.items()]
        return all(a is b or (not e.is_tile(a) and a == b) for a, b in pairs)

    __hash__ = object.__hash__


def _fields(kind):
    """The annotated members of a class, those of its bases first, with their defaults."""
    out = {}
    for base in reversed(kind.__mro__):
        for name in base.__dict__.get("__annotations__", {}):
            out[name] = getattr(kind, name, None)
    return out


def ndarray(shape, dtype, buffer=sbuf, name="", address=None):
    """A tensor whose first axis is that of the partitions; `address`: (partition, byte) on the chip."""
    name = name or ""
    if isinstance(buffer, str):
        buffer = _named(buffer)
    sizes, axis = tensors.sized(shape)
    if axis != 0 and buffer.space != HBM:
        raise error("the partitions are not the first axis", "fold the axes before them, or make a list of tensors")
    if address is not None:
        buffer = _placed(buffer, address, sizes, _dtypes.size_of(_dtypes.code(dtype)))
    if buffer.space != HBM and len(sizes) == 1:
        sizes.append(1)
    return tensors.made(sizes, axis, dtype, buffer, name)


def _named(text):
    """The buffer of that name: SDK 2.27 and 2.28 take texts."""
    if text not in _NAMED:
        raise error(f"there is no buffer {text!r}", "use one of nl." + ", nl.".join(_NAMED))
    return _NAMED[text]


_NAMED = {"sbuf": sbuf, "psum": psum, "hbm": hbm, "private_hbm": private_hbm, "shared_hbm": shared_hbm}


def _placed(buffer, address, sizes, itemsize):
    if buffer.space == HBM:
        raise error("a tensor in HBM has no address of its own", "leave the address out")
    part, byte = (int(a) for a in address)
    if buffer.space == PSUM and byte % _BANK:
        raise error(f"byte {byte} is not the start of a PSUM bank", f"use a multiple of {_BANK}")
    compiler.check_partitions(part, sizes[0])
    end = byte + math.prod(sizes[1:]) * itemsize
    memory, most = ("SBUF", tile_size.sbuf_fmax_bytes) if buffer.space == SBUF else ("PSUM", 8 * _BANK)
    if byte < 0 or end > most:
        raise error(f"bytes {byte} to {end} of a partition exceed {memory}, which has {most} for kernels",
                    "place it lower, or use smaller tiles")
    return Buffer(buffer.name, buffer.space, place=lambda *_: (part, byte))


def _filled(shape, value, dtype, buffer, name):
    out = ndarray(shape, dtype, buffer, name)
    if out.space == HBM:
        moves.store(out, value)
    else:
        e.fill(e.VECTOR if out.space == PSUM else e.ANY, e.tile(out), value)
    return out


def zeros(shape, dtype, buffer=sbuf, name=""):
    return _filled(shape, 0, dtype, buffer, name)


def ones(shape, dtype, buffer=sbuf, name=""):
    return _filled(shape, 1, dtype, buffer, name)


def full(shape, fill_value, dtype, buffer=sbuf, name=""):
    return _filled(shape, fill_value, dtype, buffer, name)


def zeros_like(x, dtype=None, buffer=None, name=""):
    return zeros(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def empty_like(x, dtype=None, buffer=None, name=""):
    return ndarray(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def rand(shape, dtype, buffer=sbuf, name=""):
    made = tensors.rand(shape, dtype)
    if buffer.space == SBUF:
        return made
    out = ndarray(shape, dtype, buffer, name)
    current().copy(out, made)
    return out


def random_seed(seed):
    tensors.random_seed(seed)


def shared_constant(constant):
    """A constant in HBM: an array, or the name of a .npy file."""
    if isinstance(constant, str):
        try:
            constant = np.load(constant, allow_pickle=False)
        except (OSError, ValueError) as problem:
            raise error(f"{constant} cannot be read: {problem}", "name a .npy file") from None
    return tensors.shared_constant(constant)


def shared_identity_matrix(n, dtype=np.uint8, dst=None):
    """The identity matrix in SBUF."""
    made = moves.load(tensors.shared_identity_matrix(n, dtype))
    if dst is None:
        return made
    current().copy(dst, made)
    return dst


def load(src, dtype=None):
    return moves.load(src, dtype=dtype)


def store(dst, value):
    moves.store(dst, value)


def load_transpose2d(src, dtype=None):
    return moves.load_transpose2d(src, dtype=dtype)


def device_print(print_prefix, tensor):
    """Prints the prefix and what the tensor holds here, once the kernel has been computed (trnsim.nki._prints)."""
    from trnsim.nki import _prints
    _prints.noted(print_prefix, tensor)


@contextlib.contextmanager
def no_reorder():
    """A kernel with such a block keeps its order, outside of the block as well."""
    before, state.ordered = state.ordered, True
    state.keeps_order = True
    try:
        yield
    finally:
        state.ordered = before


def is_hbm(buffer):
    return buffer.space == HBM


def is_psum(buffer):
    return buffer.space == PSUM


def is_sbuf(buffer):
    return buffer.space == SBUF


def is_on_chip(buffer):
    return buffer.space in (SBUF, PSUM)


# ---- loops and programs
def _range(start, stop, step):
    for bound in (start, stop, step):
        if isinstance(bound, VirtualRegister) or e.is_tile(bound):
            raise error("the bound of a loop is known only at run time", "use nl.fori_loop, or a number")
    return range(*indices.numbers_of([start] if stop is None else [start, stop, step]))


def affine_range(start, stop=None, step=1):
    return _range(start, stop, step)


def sequential_range(start, stop=None, step=1):
    return _range(start, stop, step)


def static_range(start, stop=None, step=1):
    return _range(start, stop, step)


def dynamic_range(start, stop=None, step=1):
    begin, end = (0, start) if stop is None else (start, stop)
    return (VirtualRegister(i, frozen=True) for i in loop(begin, end, step))


def fori_loop(lower, upper, body_fun, step=1):
    for i in loop(lower, upper, step):
        if body_fun(VirtualRegister(i, frozen=True)) is not None:
            raise error("the body of nl.fori_loop returns something", "keep it in SBUF or HBM")


def while_loop(init, body_fun):
    in_any_order()
    register, body = init, Body()
    while register.number() != 0:
        register = body_fun(VirtualRegister(register.value, tile=register.tile))
        body.ends()
        if not isinstance(register, VirtualRegister):
            raise error("the body of nl.while_loop returns no register", "return the next condition")
    body.leave()


def program_id(axis=0):
    """An axis that the launch has not got is one program, as num_programs() counts it."""
    return indices.program_id(axis) if axis < indices.program_ndim() else 0


def num_programs(axes=0):
    if isinstance(axes, int) and axes >= indices.program_ndim():
        return 1
    return indices.num_programs(axes)


def program_ndim():
    return indices.program_ndim()


def ds(start, size):
    if isinstance(start, VirtualRegister):
        start = start.number()
    return indices.ds(start, size)
