"""torch_xla.stablehlo: a model's graph as a text, as files, and as a program to call. torch.export, where PyTorch has
none: of the module itself, whose graph is recorded where it is asked for."""
import dataclasses
import json
import os
import sys
import types
import typing

import numpy
import torch

from trnsim.torch import _recorded, _traced
from trnsim.torch._engine import Graph, Refused, engine, script_line
from trnsim.torch._recorded import mapped
from trnsim.torch._tensor import DeviceTensor, from_host
from trnsim.torch._values import Value, contiguous

METHOD = "forward"


class ExportedProgram:
    """A module and the examples that it is exported with."""

    def __init__(self, module, args, kwargs):
        self._module, self.example_inputs = module, (tuple(args), dict(kwargs or {}))

    def module(self):
        return self._module

    @property
    def state_dict(self):
        return self._module.state_dict()

    def __getattr__(self, name):
        if name in ("graph", "graph_module", "graph_signature", "run_decompositions"):
            raise Refused(script_line(), f"{name} of an exported program: PyTorch {torch.__version__} has no graphs of "
                                         "torch.export; torch_xla.stablehlo's get_stablehlo_text() shows the operators")
        raise AttributeError(name)


def export(mod, args, kwargs=None, *, dynamic_shapes=None, **_):
    """torch.export.export() with the shapes of the examples."""
    if dynamic_shapes is not None:
        raise Refused(script_line(), "torch.export.export(): dynamic_shapes are not supported: export the module once "
                                     "for each shape")
    return ExportedProgram(mod, args, kwargs)


@dataclasses.dataclass
class StableHLOExportOptions:
    include_human_readable_text: bool = True
    override_tracing_arguments: typing.Any = None
    override_tracing_kwargs: typing.Any = None
    save_weights: bool = True
    inline_all_constant: bool = True
    export_weights: bool = True
    custom_ops_allowed_in_graph: set = dataclasses.field(default_factory=set)
    export_node_metadata: bool = False


class StableHLOGraphModule:
    """A program of one function, which takes and gives tensors of the device. Its weights are parameters of it."""

    def __init__(self, program, training=False):
        self._model = _traced.TracedModel(program).train(training)

    def evaluate(self, method_name, args):
        self.check(method_name)
        out = self._model(*args)
        return mapped(lambda t: t if isinstance(t, DeviceTensor) else from_host(t), out)

    def __call__(self, *args):
        return self.evaluate(METHOD, args)

    @staticmethod
    def check(method_name):
        if method_name not in (None, METHOD):
            raise KeyError(f"a program of torch_xla.stablehlo has the function {METHOD!r} alone, not {method_name!r}")

    def get_stablehlo_text(self, method_name=None):
        self.check(method_name)
        program = self._model._program
        with engine().ahead():
            values = program.replay([Value(contiguous(*shape)) for shape in program.shapes], [])
        pending = list({id(v): v for v in values if v.pending}.values())
        return engine().backend.text(Graph(pending), METHOD)

    def get_stablehlo_bytecode(self, method_name=None):
        raise Refused(script_line(), "get_stablehlo_bytecode(): MLIR's bytecode is not written here: take "
                                     "get_stablehlo_text(), which compilers read as well")

    def save(self, directory_path):
        """The text, its shapes, the weights by name, and the record that load() reads."""
        below = os.path.join(directory_path, "functions")
        os.makedirs(below, exist_ok=True)
        os.makedirs(os.path.join(directory_path, "data"), exist_ok=True)
        program = self._model._program
        signature = {"name": METHOD, "input_signature": [
            {"shape": list(shape), "dtype": str(dtype).split(".")[1]} for shape, dtype in program.shapes]}
        for name, data in ((METHOD + ".mlir", self.get_stablehlo_text().encode()),
                           (METHOD + ".meta", json.dumps(signature).encode()),
                           (METHOD + ".trnsim", self._model.save_to_buffer())):
            _traced.replace(os.path.join(below, name), data)
        for name, place in program.names.items():
            value = program.held[place]
            tensor = engine().backend.download(value.buffer, value.meta)
            numbers = (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy()
            numpy.save(os.path.join(directory_path, "data", name + ".npy"), numbers)

    @staticmethod
    def load(directory_path):
        found = torch.load(os.path.join(directory_path, "functions", METHOD + ".trnsim"))
        return StableHLOGraphModule(_recorded.loaded(found), found.get("training", False))


def exported_program_to_stablehlo(exported_model, options=None):
    options = options or StableHLOExportOptions()
    args, kwargs = exported_model.example_inputs
    args = options.override_tracing_arguments or args
    if kwargs or options.override_tracing_kwargs:
        raise Refused(script_line(), "exported_program_to_stablehlo(): arguments with names are not supported: export "
                                     "a module whose forward() takes them by their places")
    module = exported_model.module()
    program = _recorded.record(module, tuple(args), {})
    program.inlines = False
    return StableHLOGraphModule(program, getattr(module, "training", False))


def save_as_stablehlo(exported_model, stablehlo_dir, options=None):
    exported_program_to_stablehlo(exported_model, options).save(stablehlo_dir)


def save_torch_model_as_stablehlo(torchmodel, args, path, options=None):
    save_as_stablehlo(ExportedProgram(torchmodel, args if isinstance(args, tuple) else (args,), None), path, options)


def tables():
    """{module below torch_xla: its names}."""
    return {"stablehlo": {one.__name__: one for one in (
        StableHLOExportOptions, StableHLOGraphModule, exported_program_to_stablehlo, save_as_stablehlo,
        save_torch_model_as_stablehlo)}}


def install():
    if not hasattr(torch, "export"):
        torch.export = sys.modules["torch.export"] = types.ModuleType("torch.export")
        torch.export.export, torch.export.ExportedProgram = export, ExportedProgram
