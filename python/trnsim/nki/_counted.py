"""Indices as tiles of their values, and comparisons of indices as tiles of 1 and 0."""
import functools

import numpy as np

from trnsim import _core
from trnsim.nki._emit import binary
from trnsim.nki._isa.moves import iota
from trnsim.nki._language.indices import arange
from trnsim.nki._masks import mask_of

KINDS = (_core.Affine, _core.TileIndex)


def counted(index, parts=None):
    """The tile of an index's values; one of one partition gets `parts`. One without axes is a number, and stays."""
    if isinstance(index, _core.TileIndex):
        return binary("add", index.tile, counted(index.affine, index.tile.partitions))
    if not getattr(index, "shape", ()):
        return index
    wide = parts and index.shape[0] == 1
    every = arange(parts)[(slice(None), *[None] * (len(index.shape) - 1))] if wide else 0
    return iota(every * 0 + index, np.int32)


def truth(mask, parts):
    """The tile of 1 and 0 of a comparison; one of numbers alone, which has no axes, stays."""
    every = [binary("ge", counted(part, parts), 0, np.uint8)
             for part in mask_of(mask).inequalities() if getattr(part, "shape", ())]
    return functools.reduce(lambda a, b: binary("mul", a, b, np.uint8), every) if every else mask
