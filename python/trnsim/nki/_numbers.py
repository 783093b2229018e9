"""Numbers that a kernel gives: which are whole, and which an element of a type holds."""
import numpy as np

from trnsim.nki import _dtypes
from trnsim.nki._dtypes import is_integer
from trnsim.nki._state import error


def whole(x):
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def signed(x):
    """The 32 bits of a number as the signed one that has them."""
    x = int(x) & 0xFFFFFFFF
    return x - (1 << 32) if x >= 1 << 31 else x


def fits(value, kind):
    """Errors: a number that the type has not: a fraction, or one out of its range."""
    if not is_integer(kind):
        return
    named, value = _dtypes.dtype_of(kind), float(value)
    if not value.is_integer():
        raise error(f"{value} is not a whole number, but the tile is {named}", "give a number of its type")
    if not np.iinfo(named).min <= value <= np.iinfo(named).max:
        raise error(f"{value:.15g} is not a number of type {named}", "give one that the type can hold")


def held(value, kind):
    """The number that an element of the type holds: one with the bits of a negative number, if the type has no sign."""
    if is_integer(kind) and whole(value) and value < 0:
        least, most = np.iinfo(_dtypes.dtype_of(kind)).min, np.iinfo(_dtypes.dtype_of(kind)).max
        if least == 0 and value >= -(most // 2) - 1:
            return int(value) + most + 1
    fits(value, kind)
    return value
