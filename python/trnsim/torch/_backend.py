"""Computes programs by the frontend's reference interpreter, of the compiled module; texts may be kept in a folder."""
import os

import torch

from trnsim.torch import _rules  # noqa: registers the rules
from trnsim.torch._engine import host_scalar
from trnsim.torch._lower import program_text
from trnsim.torch._values import DTYPES, element_of


def buffer_of(core, tensor):
    tensor = tensor.detach().contiguous()
    if tensor.dtype is torch.bfloat16:
        data = tensor.view(torch.int16).numpy()
    else:
        data = tensor.numpy()
    return core.Buffer(element_of(tensor.dtype), list(tensor.shape), data.tobytes())


def tensor_of(buffer):
    dtype = DTYPES[buffer.element]
    data = bytearray(buffer.bytes())
    if not data:
        return torch.empty(buffer.dims, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype).reshape(buffer.dims)


class Interpreted:
    """`folder`: where each program's text is written; none: nowhere."""
    words = "the reference interpreter of StableHLO"

    def __init__(self, folder=None):
        from trnsim import _core
        self.core, self.folder, self.scalars = _core, folder, {}

    def upload(self, tensor):
        return buffer_of(self.core, tensor)

    def download(self, buffer, meta):
        return tensor_of(buffer)

    def compile(self, graph, name):
        text = program_text(graph, name)
        self.keep(text, name)
        return self.core.Program(text, name + ".mlir")

    def keep(self, text, name):
        if self.folder:
            with open(os.path.join(self.folder, name + ".mlir"), "w", encoding="utf-8") as file:
                file.write(text)

    def values(self, leaves):
        return [self.scalar(v) if v.buffer is None else v.buffer for v in leaves]

    def scalar(self, value):
        return buffer_of(self.core, host_scalar(value))

    def run(self, program, leaves):
        return program.run(self.values(leaves))
