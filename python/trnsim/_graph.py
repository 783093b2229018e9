"""Programs of other frameworks (StableHLO's text; HLO as text or proto) on simulated cores."""
import os

from trnsim import _core
from trnsim._errors import Error

# Elements of StableHLO by NumPy's type; those that NumPy does not have are float32 on the outside.
_TYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16",
          "ui32": "uint32", "ui64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}


def _bf16_bits(array):
    import numpy
    bits = numpy.ascontiguousarray(array, "float32").view("uint32").astype("uint64")
    rounded = ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype("uint16")
    return numpy.where(numpy.isnan(array), numpy.uint16(0x7fc0), rounded)


def _buffer(given, element, dims, name):
    import numpy  # an optional package
    array = numpy.asarray(given)
    if list(array.shape) != list(dims):
        raise _refusal(name, f"has the shape {list(array.shape)}, but the program takes {list(dims)}")
    if element != "bf16" and element not in _TYPES:
        raise _refusal(name, f"is {element}, which NumPy does not have")
    if array.dtype.kind not in "biuf" or numpy.ma.is_masked(given):
        raise _refusal(name, f"is {array.dtype}{', masked in part' if numpy.ma.is_masked(given) else ''}, but the "
                             f"program takes {element}")
    with numpy.errstate(invalid="ignore"):  # told below
        data = array.astype(_TYPES.get(element, "float32"))
    if data.dtype.kind != "f" and not (data == array).all():  # floats are rounded, other numbers are there or not
        raise _refusal(name, f"holds numbers that {element} does not have")
    if element == "bf16":
        data = _bf16_bits(data)
    return _core.Buffer(element, list(dims), numpy.ascontiguousarray(data).tobytes())


def _refusal(where, problem):
    return Error(where, problem, "give an array of the parameter's type and shape")


def _array(buffer):
    import numpy
    data = buffer.bytes()
    if buffer.element == "bf16":
        bits = numpy.frombuffer(data, "uint16").astype("uint32") << 16
        return bits.view("float32").reshape(buffer.dims)
    if buffer.element not in _TYPES:
        raise _refusal("result", f"is {buffer.element}, which NumPy does not have")
    return numpy.frombuffer(data, _TYPES[buffer.element]).reshape(buffer.dims)


class Graph:
    """A program, compiled once for simulated cores: `graph(*arrays)` computes its results, `graph.seconds` is
    the device's time for one run. bf16 tensors are float32 arrays in Python."""

    def __init__(self, program, *, machine="trn1.2xlarge", numerics="fp32"):
        for name, value in {"program": program, "machine": machine, "numerics": numerics}.items():
            if not isinstance(value, (str, os.PathLike)):
                raise TypeError(f"{name}: a text or a path, not {type(value).__name__}")
        path = isinstance(program, os.PathLike) or "\n" not in program
        text, file = ("", os.fspath(program)) if path else (program, "program.mlir")
        self._program = _core.DeviceProgram(text, file, os.fspath(machine), str(numerics))
        self.inputs, self.outputs = self._program.inputs, self._program.outputs

    def __call__(self, *arrays):
        """The results as a list of arrays. For a program on several cores, pass one list of arrays per core,
        and get one list per core."""
        if self.ranks == 1:
            return [_array(b) for b in self._program.run(self._buffers(arrays))]
        return [[_array(b) for b in core] for core in
                self._program.run_together([self._buffers(core) for core in arrays])]

    def _buffers(self, arrays):
        if len(arrays) != len(self.inputs):
            raise _refusal("inputs", f"{len(arrays)} of {len(self.inputs)} are given")
        return [_buffer(a, element, dims, f"input {i}")
                for i, (a, (element, dims)) in enumerate(zip(arrays, self.inputs))]

    @property
    def seconds(self):
        return self._program.seconds

    @property
    def flops(self):
        """Work of dot products and convolutions on one core."""
        return self._program.flops

    @property
    def ranks(self):
        return self._program.ranks

    @property
    def hbm_bytes(self):
        return self._program.hbm_bytes

    @property
    def timed_only(self):
        """Parts that are timed but not computed; if empty, calls compute the whole program."""
        return self._program.timed_only


def run_graph(program, *arrays, machine="trn1.2xlarge", numerics="fp32"):
    """Returns the results of a program and the device's time in seconds: `Graph` for a single run. program:
    StableHLO text, or the path of a file that `trnsim run` accepts."""
    graph = Graph(program, machine=machine, numerics=numerics)
    return graph(*arrays), graph.seconds
