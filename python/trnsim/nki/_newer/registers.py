"""nki.isa: registers of the sequencers, and the loops that they bound."""
from trnsim.nki import _emit as e
from trnsim.nki import _dtypes
from trnsim.nki._state import HBM, error, state

_UNKNOWN = object()


class VirtualRegister:
    """A number of a sequencer. Its value is known while the kernel is traced, or the run alone knows it."""

    def __init__(self, value=0, frozen=False, tile=None):
        self.value, self.frozen, self.tile = value, frozen, tile

    @property
    def known(self):
        return self.value is not _UNKNOWN

    def number(self, what="a register"):
        """Its value. Errors: where the run alone knows it."""
        if not self.known:
            raise error(f"{what} has a value that only the run knows",
                        "loop by shapes and Python numbers, or give the register a constant")
        return self.value

    def __index__(self):
        return int(self.number("a register in Python's arithmetic"))

    __int__ = __index__

    def __bool__(self):
        return self.number("a condition") != 0

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


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
    dst.value = _UNKNOWN if value is None else value
    dst.tile = src


def register_store(dst, src):
    """The number of a register, written to a tensor of one element."""
    if not e.is_tile(dst) or dst.size != 1:
        raise error("a register is stored to one number", "give a tensor of the shape (1, 1)")
    if not src.known:
        return e.current().copy(dst, src.tile)
    e.put("memset", e.VECTOR, dst, imm=e.number(src.value))
    return remember(dst, src.value)


def _writable(register):
    if not isinstance(register, VirtualRegister):
        raise error("the destination is no register", "make one with nisa.register_alloc")
    if register.frozen:
        raise error("a loop's own register is written", "keep other state in a register of its own, or in SBUF")


def remember(view, value):
    """A tile of one element holds this number from here on; None: the run alone knows it."""
    if value is None:
        state.known.pop(view.place, None)
    else:
        state.known[view.place] = value


def known_value(view):
    """The number that a tensor of one element holds, where constants or an argument made it; else None."""
    if view.space == HBM:
        for reg, array, _ in state.arrays:
            if reg == view.reg and array.size > view.offset and view.reg not in state.written:
                number = array.reshape(-1)[view.offset]
                return number.item() if hasattr(number, "item") else number
        return None
    return state.known.get(view.place)


def loop(start, stop, step):
    """The values of a loop, each a register that its body cannot write."""
    begin, end = (b.number("a loop's bound") if isinstance(b, VirtualRegister) else int(b) for b in (start, stop))
    if isinstance(step, VirtualRegister) or int(step) <= 0:
        raise error("a dynamic loop counts up by a number that is known", "give a positive step")
    return range(int(begin), int(end), int(step))


def offset_tile(x):
    """A dynamic offset as a tile of one int32."""
    if isinstance(x, VirtualRegister):
        if x.tile is not None and not x.known:
            return offset_tile(x.tile)
        number = e.temp([1, 1], _dtypes.INT32)
        e.put("memset", e.VECTOR, number, imm=e.number(x.value))
        return number
    if x.size != 1:
        raise error("a dynamic offset is one number", "give a tensor of the shape (1, 1)")
    x = e.tile(x._reshape([1, 1]))
    if x.code == _dtypes.INT32:
        return x
    out = e.temp([1, 1], _dtypes.INT32)
    e.current().copy(out, x)
    return out
