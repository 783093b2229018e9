"""Masks: comparisons of indices, each a range of one axis, and the parts of tiles that they leave."""
import dis
import sys

import numpy as np

from trnsim import _core
from trnsim.nki._state import error

_pending = []  # masks of the left sides of `and`


def _mask_bool(self):
    """`a and b` asks a for its truth and gives b, which then means both. `or`, `not` and `if` ask too."""
    if not _of_and(sys._getframe(1)):
        raise error("a mask is used as a Python condition, with `if`, `or` or `not`",
                    "join comparisons with &, one range for each axis, and use separate instructions for the rest")
    _pending.append(self)
    return True


def _of_and(frame):
    """Whether Python asks for a truth that it then drops: `and`, and chained comparisons."""
    code, place = frame.f_code.co_code, frame.f_lasti
    name = dis.opname[code[place]]
    copied = place >= 2 and dis.opname[code[place - 2]] == "COPY"
    return name == "JUMP_IF_FALSE_OR_POP" or (copied and name in ("POP_JUMP_IF_FALSE", "TO_BOOL"))


_core.Mask.__bool__ = _mask_bool


_joined = [None, None]  # a mask, and what became of it


def taken(mask):
    """The mask with what `and` left behind. These are of the same expression: they come right before it."""
    if not _pending:
        return _joined[1] if mask is _joined[0] else mask
    _joined[0] = mask
    while _pending:
        mask = _pending.pop() & mask
    _joined[1] = mask
    return mask


def mask_of(mask):
    """The mask of a call: None for all, a `_core.Mask` otherwise."""
    if mask is None or mask is True:
        return None
    if mask is False:
        return _core.Mask.never()
    if isinstance(mask, _core.Mask):
        return taken(mask)
    if isinstance(mask, (bool, np.bool_)):
        return None if mask else _core.Mask.never()
    raise error("a mask is not a comparison of indices", "compare nl.arange or nl.mgrid with numbers")


def parts(mask, whole=()):
    """The masks of an instruction's rectangles; `whole`: axes that are reduced, of which none may be in two."""
    return (None,) if mask is None else mask.rectangles(list(whole))


def left(view, mask):
    """The (begin, size) of each axis that a mask leaves."""
    mask = mask_of(mask)
    return [(0, n) for n in view.shape] if mask is None else view._left(mask)


def cut(view, ranges):
    """The part of a view: a (begin, size) for each of its axes."""
    for axis, (begin, size) in enumerate(ranges):
        if begin + size > view.shape[axis]:
            raise error(f"elements {begin} to {begin + size - 1} of an axis of {view.shape[axis]}",
                        "give tiles of one shape")
        if size != view.shape[axis]:
            view = view._cut(axis, begin, size)
    return view


def kept(data, mask, *by_rows):
    """The part of a tile that a mask leaves, and these partitions of tiles that have one row for each; None stays."""
    ranges = left(data, mask)
    return cut(data, ranges), *(None if t is None else cut(t, ranges[:1]) for t in by_rows)


def searched(name, data, mask, out, *by_rows):
    """As kept, for an instruction that needs elements to look at. Errors: none in partitions that get a result."""
    part, to, *others = kept(data, mask, out, *by_rows)
    if part.empty() and not to.empty():
        raise error(f"{name} over no elements", "give a tile that has some in each partition")
    return part, to, *others
