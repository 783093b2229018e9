"""The newer dialect's instructions on the functions of the older one: `dst` takes the place of a new tile."""
import enum

from trnsim import _core
from trnsim.nki import _emit as e
from trnsim.nki import _places
from trnsim.nki._state import HBM, error, state


class dependency(enum.Enum):
    runtime, schedule = "runtime", "schedule"


class NkiInstruction:
    """The handle of an instruction. Instructions wait for those whose results they read, and for no others."""

    def depends_on(self, *producers, kind=None):
        if kind is not None and not isinstance(kind, dependency):
            raise error(f"a dependency is of kind {kind}", "give a member of nisa.dependency")
        for producer in producers:
            if not isinstance(producer, NkiInstruction):
                raise error("an instruction depends on something that is not an instruction",
                            "give what nki.isa returned")
        return self


DONE = NkiInstruction()
NO_QUOTIENT = "neuronx-cc has no divide: multiply by nisa.reciprocal"


def destination(dst, on_chip=True, keeps=True):
    """The tile that an instruction writes. `keeps`: it may leave some of it as it is. Errors: of the older dialect's
    calls, which give none."""
    if not e.is_tile(dst):
        raise error(f"dst is {type(dst).__name__}, not a tensor",
                    "give the destination first; a script of the older dialect imports neuronxcc.nki")
    if on_chip and dst.space == HBM:
        raise error("dst is in HBM", "write to a tile in SBUF or PSUM, then copy it with nisa.dma_copy")
    if not on_chip:
        return dst
    return _places.lent(dst, keeps) if _places.moved(dst) else e.tile(dst, "dst")


def into(dst, call, *args, **settings):
    """Runs a function of the older dialect, which writes its result to `dst`."""
    state.into = destination(dst, keeps=False)
    try:
        getattr(call, "__wrapped__", call)(*args, **settings)  # the newer name has looked at the arguments
        if state.into is not None:
            raise AssertionError(f"{call.__name__} wrote no destination")
    finally:
        state.into = None
    return DONE


def doubted(text):
    """Warns of a line of the kernel, once."""
    doubt = (_core._line(), text)
    if doubt not in state.doubts:
        state.doubts.append(doubt)


def later(function, chip="NeuronCore-v4"):
    """An instruction that this chip does not have."""
    raise error(f"nisa.{function} is of {chip} and later", "use what NeuronCore-v2 and v3 have (trnsim nki --list)")
