"""nki.isa of the newer dialect: engines, commands, modes."""
import enum

from trnsim._errors import NkiValidationError  # noqa: F401
from trnsim.nki._isa.modes import dge_mode, engine, nc_version, oob_mode, reduce_cmd  # noqa: F401


class matmul_perf_mode(enum.Enum):
    none, double_row = "none", "double_row"


class dma_engine(enum.Enum):
    dma, gpsimd_dma = 1, 2
