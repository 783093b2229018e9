"""nki.isa.dma_transpose of rows that an index names (dma_gather_transpose). Source: its documentation, SDK 2.32."""
from trnsim.nki import _dtypes
from trnsim.nki import _emit as e
from trnsim.nki._isa import modes
from trnsim.nki._isa.moves import transpose_planes
from trnsim.nki._language import moves
from trnsim.nki._state import HBM, SBUF, error

_GROUP = 16     # rows come in groups of so many
_WIDEST = 128   # elements of the last axis


def gathered_transpose(dst, src, skip=False):
    """dst = src[indices].T. Indices run down the columns of their tile; a column's rows are gathered, then turned."""
    index = src.index
    _check(src, index)
    wanted, rows = src.shape[0], index.partitions
    for column in range(index.cols):
        first = column * rows
        count = min(rows, wanted - first)
        if count <= 0:
            break
        named = src._with_index(index._cut(1, column, 1), src.index_step, src.index_limit)._cut(0, 0, count)
        tile = e.temp([count, *src.shape[1:]], src.code)
        moves.transfer(tile, named, skip=skip)
        transpose_planes(dst._cut(dst.ndim - 1, first, count), tile)


def _check(src, index):
    """The documented limits of an indirect transpose."""
    rules = (
        (modes.get_nc_version().value >= 3, "an indirect transpose exists from NeuronCore-v3 on",
         "gather with dma_copy, then transpose"),
        (src.space == HBM and index.space == SBUF, "an indirect transpose reads HBM by indices in SBUF",
         "give a view of a tensor in HBM"),
        (_dtypes.size_of(src.code) == 2, f"an indirect transpose of {src.dtype}", "use a type of two bytes"),
        (index.code == _dtypes.UINT32 and index.ndim == 2, f"indices of {index.dtype} with {index.ndim} axes",
         "give uint32 indices with two axes"),
        (src.shape[-1] <= _WIDEST, f"the last axis has {src.shape[-1]} elements", f"give {_WIDEST} at most"),
        (src.ndim < 4 or 1 in src.shape[1:3], f"an indirect transpose of {tuple(src.shape)}",
         "axis 1 or 2 has size 1"),
        (src.shape[0] % _GROUP == 0 and index.partitions % _GROUP == 0,
         f"{src.shape[0]} rows by indices in {index.partitions} partitions", f"give multiples of {_GROUP}"),
        (index.cols == 1 or index.partitions == 128, f"indices of the shape {tuple(index.shape)}",
         "several columns need 128 partitions"),
        (index.size >= src.shape[0], f"{index.size} indices for {src.shape[0]} rows", "give one for each row"))
    for holds, what, fix in rules:
        if not holds:
            raise error(what, fix)
