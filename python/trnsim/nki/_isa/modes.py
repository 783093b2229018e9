"""nki.isa: names of engines, commands and modes."""
import enum

from trnsim.nki import _emit as e


class engine(enum.Enum):
    tensor, vector, scalar, gpsimd, sync, unknown = 0, 1, 2, 3, 4, -1


tensor_engine, vector_engine, scalar_engine = engine.tensor, engine.vector, engine.scalar
gpsimd_engine, sync_engine, unknown_engine = engine.gpsimd, engine.sync, engine.unknown


class reduce_cmd(enum.Enum):
    idle, reset, reset_reduce, reduce = 0, 1, 2, 3


class dge_mode(enum.Enum):
    none, swdge, hwdge, unknown = 0, 1, 2, 3


class oob_mode(enum.Enum):
    error, skip = 0, 1


class nc_version(enum.IntEnum):
    gen2, gen3 = 2, 3


class constants:
    engine = engine


def get_nc_version():
    return nc_version.gen2


def engine_code(which):
    """The machine's number of an engine; ANY: the compiler chooses."""
    return which.value if isinstance(which, engine) else e.ANY


REGISTERS = {"idle": 1, "reset": 2, "reduce": 3, "reset_reduce": 4, "load_reduce": 5}  # isa::Registers
