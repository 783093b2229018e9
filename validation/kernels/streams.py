"""Copies of a tensor through SBUF by both cores of a logical one, untouched and doubled by VectorE, in tiles of 1024
elements a partition: for rows of published tables that measure what a stack of HBM moves while it is read and written
(TileBench, matrix_copy and mul2)."""
import nki
import nki.isa as nisa
import nki.language as nl

PARTITIONS, ELEMENTS, CORES = 128, 1024, 2


def _tiles(elements):
    """The first element and the elements a partition of each tile of this core's share."""
    share = elements // nl.num_programs()
    first = nl.program_id(0) * share
    for start in range(first, first + share, PARTITIONS * ELEMENTS):
        yield start, min(PARTITIONS * ELEMENTS, first + share - start) // PARTITIONS


def _place(tensor, start, columns):
    return tensor.ap(pattern=[[columns, PARTITIONS], [1, columns]], offset=start)


def _stream(factor=None):
    @nki.jit
    def stream(a):
        out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        for start, columns in _tiles(a.shape[0]):
            tile = nl.ndarray((PARTITIONS, columns), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=_place(a, start, columns))
            if factor:
                nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
            nisa.dma_copy(dst=_place(out, start, columns), src=tile)
        return out
    return stream[CORES]


copied, doubled = _stream(), _stream(2.0)
