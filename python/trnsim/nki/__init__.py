"""NKI on the simulated machine: `import trnsim.nki` makes `import neuronxcc.nki` and `import nki` find this package."""
import os as _os

import numpy as _numpy

from trnsim import _core

for _file in (__file__, _numpy.__file__):  # a kernel's lines are those of neither
    _core._package(_os.path.dirname(_os.path.abspath(_file)))
_core._package("<__array_function__")  # NumPy's own dispatch
from trnsim.nki import compiler, isa, language, typing  # noqa: E402,F401
from trnsim.nki import _operators, _views  # noqa: E402,F401  (of tensors)
from trnsim.nki import nccl  # noqa: E402,F401
from trnsim.nki._jit import (baremetal, benchmark, jit, profile, simulate_kernel, sync_thread, trace)  # noqa: E402,F401
from trnsim.nki import _newer  # noqa: E402,F401
from trnsim.nki._rank import rank, tune  # noqa: E402,F401
from trnsim.nki._shim import install as _install  # noqa: E402

tensor = _core.View
_install()
