"""nki.isa of the newer dialect: engines, commands, modes."""
import enum

from trnsim.nki._isa.modes import dge_mode, engine, nc_version, oob_mode, reduce_cmd  # noqa: F401


class matmul_perf_mode(enum.Enum):
    none, double_row = "none", "double_row"


class dma_engine(enum.Enum):
    dma, gpsimd_dma = 1, 2


class NkiValidationError(Exception):
    """The documentation's name for a breach of a hardware limit; here such breaches are trnsim.Error."""
