"""nki.isa: names of engines, commands and modes."""
import enum

import numpy as np

from trnsim.nki import _emit as e
from trnsim.nki._state import error, state


class engine(enum.Enum):
    tensor, vector, scalar, gpsimd, sync, unknown, dma = 0, 1, 2, 3, 4, -1, -2


tensor_engine, vector_engine, scalar_engine = engine.tensor, engine.vector, engine.scalar
gpsimd_engine, sync_engine, unknown_engine = engine.gpsimd, engine.sync, engine.unknown


class reduce_cmd(enum.Enum):
    idle, reset, reduce, reset_reduce, load_reduce = 0, 1, 2, 3, 4


class dge_mode(enum.Enum):
    none, swdge, hwdge, unknown = 0, 1, 2, 3


class oob_mode(enum.Enum):
    error, skip = 0, 1


class nc_version(enum.IntEnum):
    gen2, gen3, gen4 = 2, 3, 4


class constants:
    engine = engine


def get_nc_version():
    """The generation of the machine that the command simulates."""
    return nc_version(state.machine().generation)


def fp32_min():
    """The lowest finite number."""
    return float(np.finfo(np.float32).min)


def engine_code(which):
    """The machine's number of an engine; ANY: the compiler chooses."""
    if which is engine.dma:
        raise error("DMA computes nothing", "name an engine that the instruction runs on, or leave it out")
    return which._value_ if isinstance(which, engine) else e.ANY


REGISTERS = {"idle": 1, "reset": 2, "reduce": 3, "reset_reduce": 4, "load_reduce": 5}  # isa::Registers
