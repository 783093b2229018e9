"""nki.isa: registers of the sequencers, and the loops that they bound."""
import ast
import functools
import itertools
import linecache
import math
import sys

import numpy as np

from trnsim import _core
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki._language.indices import numbers_of
from trnsim.nki._language.tensors import hbm_tensor
from trnsim.nki._language.types import hbm
from trnsim.nki._state import HBM, error, state
from trnsim.nki.typing import TensorType

_UNKNOWN = object()


class VirtualRegister:
    """A number of a sequencer. Its value is known while the kernel is traced, or the run alone knows it."""

    def __init__(self, value=0, frozen=False, tile=None):
        self.value, self.frozen, self.tile, self.body = value, frozen, tile, None

    @property
    def known(self):
        return self.value is not _UNKNOWN

    def number(self):
        """Its value. One that only the run knows is that of the run with this call's arguments: the kernel is computed
        as far as it has been traced, and the trace goes on for these arguments."""
        if not self.known:
            self.value = value_now(self.tile)
        return self.value

    def __index__(self):
        return int(self.number())

    __int__ = __index__

    def __bool__(self):
        """A condition. That of a while loop is asked once more behind its body."""
        head = _while_of(sys._getframe(1))
        if head is not None:
            if self.body is not None and self.body.head != head:
                self.body.ends()  # `break` ended that loop, which was not seen there
                self.body.leave()
                self.body = None
            if self.body is None:
                self.body = Body(head)
            else:
                self.body.ends()
            if self.number() == 0:
                self.body.leave()
                self.body = None
        return self.number() != 0

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


def _while_of(frame):
    """The head of the while loop whose condition a function is at: (file, line, column); None: it is at none. Every
    condition of a source that cannot be read is one of a while loop."""
    file = frame.f_code.co_filename
    line, last, column, last_column = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    begin, end = (line or frame.f_lineno, column or 0), (last or frame.f_lineno, last_column or 0)
    heads = _heads("".join(linecache.getlines(file)))
    if heads is None:
        return file, *begin
    return next(((file, *head) for head, test, behind in heads
                 if begin == head or test <= begin and end <= behind), None)


@functools.lru_cache(64)
def _heads(source):
    """(line, column) of each while loop, where its condition begins, and where that ends. None: no source of Python."""
    try:
        nodes = ast.walk(ast.parse(source)) if source else None
    except (SyntaxError, ValueError):
        return None
    return nodes and [((n.lineno, n.col_offset), (n.test.lineno, n.test.col_offset),
                       (n.test.end_lineno, n.test.end_col_offset)) for n in nodes if isinstance(n, ast.While)]


def register_alloc(x=None):
    """A register with the number `x`, or with nothing yet."""
    if isinstance(x, VirtualRegister):
        return VirtualRegister(x.value, tile=x.tile)
    return VirtualRegister(0 if x is None else int(x))


def register_move(dst, src):
    """dst = src, a register or a number."""
    _writable(dst)
    dst.value = src.value if isinstance(src, VirtualRegister) else int(src)
    dst.tile = src.tile if isinstance(src, VirtualRegister) else None


def register_load(dst, src):
    """dst = the one number that a tensor holds. What constants make is known while the kernel is traced."""
    _writable(dst)
    if not e.is_tile(src) or src.size != 1:
        raise error("a register is loaded from one number", "give a tensor of the shape (1, 1)")
    value = known_value(src)
    dst.value, dst.tile = value, src
    if value is None:  # the tile may have another number when the register is read
        dst.value, dst.tile = _UNKNOWN, e.temp([1, 1], src.code)
        if src.space == HBM:
            e.put("dma_copy", e.SYNC, dst.tile, src._reshape([1, 1]))
        else:
            e.current().copy(dst.tile, e.tile(src)._reshape([1, 1]))


def register_store(dst, src):
    """The number of a register, written to a tensor of one element."""
    if not e.is_tile(dst) or dst.size != 1:
        raise error("a register is stored to one number", "give a tensor of the shape (1, 1)")
    to = e.temp([1, 1], dst.code) if dst.space == HBM else dst
    if src.known:
        e.fill(e.VECTOR, to, src.value)
    else:
        e.current().copy(to, src.tile)
    if to is not dst:
        e.put("dma_copy", e.SYNC, dst._reshape([1, 1]), to)
    remember(dst, src.value if src.known else None)


def value_now(tile):
    """The one number that a tile on the chip holds where the trace is now, with the arguments of this call."""
    if state.peeked is None or state.peeked.code != tile.code:
        state.peeked = hbm_tensor([1, 1], _dtypes.dtype_of(tile.code), hbm, "register", None)
    return values_now(tile, state.peeked)[0].item()


def values_now(tile, to=None):
    """All numbers of a tile, by way of the tensor `to` in HBM, a new one by default."""
    if any(isinstance(given, TensorType) for _, _, given in state.arrays):
        raise error("the kernel branches on a value known only at run time, but its arguments have no values",
                    "call the kernel with arrays")
    if to is None:
        to = hbm_tensor(list(tile.shape), _dtypes.dtype_of(tile.code), hbm, "peeked", None)
    taken = {reg for reg, _, _ in state.arrays} | {reg for reg, _ in state.constants}
    tensors = [(name or f"tensor{i}", math.prod(shape) * _dtypes.size_of(number), i in taken)
               for i, (_, name, number, shape) in enumerate(state.tensors)]
    arrays = {reg: np.ascontiguousarray(a).reshape(-1).view(np.uint8)
              for reg, a in [(r, a) for r, a, _ in state.arrays] + list(state.constants)}
    found = _core.value_now(e.current(), (to, tile), tensors, state.machine(state.cores), arrays)
    return np.frombuffer(found, _dtypes.dtype_of(tile.code))


def _writable(register):
    if not isinstance(register, VirtualRegister):
        raise error("the destination is not a register", "make one with nisa.register_alloc")
    if register.frozen:
        raise error("the register of a loop is written", "keep other state in a register of its own, or in SBUF")


def remember(view, value):
    """A tile of one element holds this number until something is written to it or over it. The run alone knows it if
    value is None, or if the type of the tile does not hold the number: then the chip rounds it."""
    if value is not None and _held(value, _dtypes.dtype_of(view.code)):
        state.known[view.place, view.code] = value, view.times_written


def _held(value, dtype):
    """Whether a number is one of this type."""
    with np.errstate(all="ignore"):
        return float(np.asarray(value).astype(dtype)) == value


def known_value(view):
    """The number that a tensor of one element holds, where constants or an argument made it; else None."""
    if view.by_values:
        return None
    if view.space == HBM:
        for reg, array, _ in state.arrays:
            if reg == view.reg and array.size > view.offset and not view.written:
                number = array.reshape(-1)[view.offset]
                return number.item() if hasattr(number, "item") else number
        return None
    value, writes = state.known.get((view.place, view.code), (None, 0))
    return value if writes == view.times_written else None


def loop(start, stop, step):
    """The values of a loop, each a register that its body cannot write."""
    in_any_order()
    begin, end = (b.number() if isinstance(b, VirtualRegister) else b for b in (start, stop))
    if isinstance(step, VirtualRegister) or step <= 0:
        raise error("a dynamic loop counts up by a number that is known", "give a positive step")
    return _iterated(range(*numbers_of([begin, end, step])))


def _iterated(numbers):
    body = Body()
    try:
        for i in numbers:
            yield i
            body.ends()
    except GeneratorExit:  # `break` or `return` in an iteration, which ends there
        body.ends()
        raise
    finally:
        body.leave()


class Body:
    """The body of a loop that the sequencers count: they run the same instructions again, or go on behind the loop,
    when all engines have come to its end. Source: AWS Neuron SDK, NKI dynamic loops."""

    def __init__(self, head=None):
        self.head, self.trace = head, state.trace
        self.number = self.trace.begin_body() if self.trace is not None else 0

    def _open(self):
        """Whether the kernel is still traced: an error in a body leaves its loop later."""
        return self.trace is not None and self.trace is state.trace

    def ends(self):
        """An iteration ends."""
        if self._open():
            self.trace.next_in_body(self.number)
            state.iterations += 1

    def leave(self):
        if self._open():
            self.trace.end_body(self.number)


def in_any_order():
    """Errors: in a block of nl.no_reorder, which holds no loops of the sequencers."""
    if state.ordered:
        raise error("a loop counted by registers inside a block of nl.no_reorder",
                    "use nl.sequential_range, or close the "
                    "block")


def offset_tile(x):
    """A dynamic offset as a tile of one int32."""
    if isinstance(x, VirtualRegister):
        if x.tile is not None and not x.known:
            return offset_tile(x.tile)
        number = e.temp([1, 1], _dtypes.INT32)
        e.fill(e.VECTOR, number, x.value)
        return number
    if x.size != 1:
        raise error("a dynamic offset is one number", "give a tensor of the shape (1, 1)")
    x = e.tile(x._reshape([1, 1]))
    if x.code == _dtypes.INT32:
        return x
    out = e.temp([1, 1], _dtypes.INT32)
    e.current().copy(out, x)
    return out
