"""nki of SDK 2.27 and later (`import nki`): instructions write to `dst`, which comes first; the same tracer."""
from trnsim.nki import typing  # noqa: F401
from trnsim.nki._jit import baremetal, benchmark, profile  # noqa: F401
from trnsim.nki._newer import collectives, compiler, experimental, isa, language, tensor  # noqa: F401
from trnsim.nki._newer.kernels import Kernel, jit, simulate  # noqa: F401

__version__ = "0.6.0+trnsim"  # NKI of SDK 2.32
dtype = language.DType  # of annotations
