"""Names of the SDK's own modules that published kernels use: in annotations, and for the kinds of tensors."""
from trnsim import _core

TileIndex = _core.Affine
local_tile = _core.View
