"""nki.language: tensors and what fills them."""
import functools
import sys

import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki._dtypes import code
from trnsim.nki._emit import binary, is_tile, put, temp, tile
from trnsim.nki._language.indices import ParDim
from trnsim.nki._language.types import hbm, sbuf
from trnsim.nki._state import HBM, PSUM, current, error, state


def ndarray(shape, dtype, *, buffer=None, name="", fill=None, lazy_initialization=False):
    """A tensor of the kernel; axes in front of nl.par_dim count its blocks."""
    where = sbuf if buffer is None else buffer
    _placed_alike(where)
    return made(*sized(shape), dtype, where, name, fill)


def _placed_alike(buffer):
    """The SDK's allocator places all tensors on the chip that a kernel declares, or none. Errors: for a mixture."""
    current()
    if buffer.space == HBM or state.direct:
        return
    own = buffer.place is not None
    if state.allocation is None:
        state.allocation = own, _core._line()
    if own != state.allocation[0]:
        mine, other = "places", "leaves to the compiler"
        mine, other = (mine, other) if own else (other, mine)
        raise error(f"a tensor that the kernel {mine}, beside one that it {other} ({state.allocation[1]})",
                    "give all tensors of SBUF and PSUM buffers of ncc.sbuf and ncc.psum (alloc, mod_alloc), or none")


def made(sizes, axis, dtype, buffer, name, fill=None):
    """A tensor of these sizes, with that axis for the partitions."""
    current()
    if buffer.space == HBM:
        return hbm_tensor(sizes, dtype, buffer, name, fill)
    places = [] if state.direct or buffer.place is None else _placed(buffer, sizes, axis, dtype)
    if fill is None and buffer.space == PSUM:
        fill = 0.0
    return current().tensor(buffer.space, code(dtype), sizes, partition_axis=axis,
                            fill=None if fill is None else float(fill), name=name, places=places)


def sized(shape):
    """The sizes of a tensor, and which axis is that of the partitions. Errors: sizes that no tensor has."""
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    sizes, axis = _sized(sizes, tuple(map(type, sizes)))
    return list(sizes), axis


@functools.lru_cache(1024)
def _sized(sizes, kinds):
    """`kinds`: their types, by which the sizes of a cache differ from equal ones."""
    if not sizes or any(k is bool or not issubclass(k, (int, np.integer)) or s < 0 for s, k in zip(sizes, kinds)):
        raise error(f"a tensor of the shape {sizes}", "give whole numbers, none below 0")
    marked = [d for d, kind in enumerate(kinds) if issubclass(kind, ParDim)]
    if len(marked) > 1:
        raise error(f"{len(marked)} axes of a tensor are marked with nl.par_dim", "mark that of the partitions")
    return tuple(map(int, sizes)), marked[0] if marked else 0


def _placed(buffer, sizes, axis, dtype):
    """The places of a tensor's blocks. The SDK's tracer of this dialect runs the body of a loop once: a tensor that a
    loop declares lies where its first iteration puts it, whatever later ones count up."""
    if not state.loops:
        return _places(buffer, sizes, axis, dtype)
    where, frame = [tuple(state.loops)], sys._getframe(1)
    while frame is not None:
        where.append((id(frame.f_code), frame.f_lasti))
        frame = frame.f_back
    key = tuple(where)
    if key not in state.placed:
        state.placed[key] = _places(buffer, sizes, axis, dtype)
    return state.placed[key]


def _places(buffer, sizes, axis, dtype):
    size = _dtypes.size_of(code(dtype))
    for s in sizes[axis + 1:]:
        size *= s
    blocks = sizes[:axis]
    out = [buffer.place(tuple(i), sizes[axis], size) for i in np.ndindex(*blocks)] if blocks else \
        [buffer.place((), sizes[axis], size)]
    return [(int(p), int(b)) for p, b in out]


def hbm_tensor(sizes, dtype, buffer, name, fill, array=None):
    number = code(dtype)
    if buffer.shared and array is None:
        if state.next_shared < len(state.shared):
            state.next_shared += 1
            known = state.shared[state.next_shared - 1]
            if (tuple(known.shape), known.code) != (tuple(sizes), number):
                raise error(f"a program declares {tuple(sizes)} of {_dtypes.dtype_of(number)} in shared HBM, where "
                            f"another one of the grid declares {tuple(known.shape)} of {known.dtype}",
                            "declare the same tensors in the same order in every program")
            return known
        state.next_shared += 1
    view = current().tensor(HBM, number, sizes, name=name or f"tensor{len(state.tensors)}")
    state.tensors.append((view, name, number, tuple(sizes)))
    if fill:
        array = np.full(sizes, fill).astype(_dtypes.dtype_of(number))
    if array is not None:
        state.constants.append((view.reg, array))
    if buffer.shared and len(state.shared) < state.next_shared and array is None:
        state.shared.append(view)
    return view


def zeros(shape, dtype, *, buffer=None, name="", lazy_initialization=False):
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=0.0)


def ones(shape, dtype, *, buffer=None, name="", lazy_initialization=False):
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=1.0)


def full(shape, fill_value, dtype, *, buffer=None, name="", lazy_initialization=False):
    held = e.held(fill_value, code(dtype))
    return ndarray(shape, dtype, buffer=buffer, name=name, fill=float(held))


def zeros_like(a, dtype=None, *, buffer=None, name="", lazy_initialization=False):
    return zeros(a.shape, dtype or a.dtype, buffer=buffer, name=name)


def empty_like(a, dtype=None, *, buffer=None, name="", lazy_initialization=False):
    return ndarray(a.shape, dtype or a.dtype, buffer=buffer, name=name)


def shared_constant(constant, dtype=None):
    """A constant in HBM."""
    array = np.asarray(constant)
    if dtype is not None:
        array = array.astype(_dtypes.dtype_of(code(dtype)))
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    if array.dtype == np.int64:
        array = array.astype(np.int32)
    return hbm_tensor(list(array.shape), array.dtype, hbm, "constant", None, np.ascontiguousarray(array))


def shared_identity_matrix(n, dtype=np.uint8):
    return shared_constant(np.identity(n).astype(_dtypes.dtype_of(code(dtype))))


def drawn():
    """The number of the next random numbers."""
    state.rng = getattr(state, "rng", 0) + 1
    return state.rng


def rand(shape, dtype=np.float32):
    """Numbers from 0 to 1: random bits, scaled."""
    bits = temp([int(s) for s in shape], _dtypes.UINT32)
    put("rng", e.VECTOR, bits, rng=drawn())
    upper = binary("shr", bits, 8, np.uint32)
    return binary("mul", upper, 2.0 ** -24, dtype)


def random_seed(seed, *, mask=None):
    """From here on `rand` draws the numbers that belong to this seed."""
    if is_tile(seed):
        number = tile(seed)
    else:
        number = temp([1, 1], _dtypes.UINT32)
        put("memset", e.VECTOR, number, ints=[e.signed(seed), 0, 0, 0])
    put("set_rng_seed", e.VECTOR, None, number)
