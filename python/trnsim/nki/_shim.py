"""The names under which kernels import NKI: `neuronxcc.nki` is the dialect of SDK 2.26, `nki` the later one."""
import importlib
import importlib.abc
import importlib.machinery
import logging
import sys
import types

from trnsim import _core
from trnsim._errors import Error
from trnsim.nki import _host


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """`neuronxcc.nki.X` is `trnsim.nki.X`, and `nki.X` is `trnsim.nki._newer.X`."""

    def _target(self, name):
        for prefix, package in (("neuronxcc.nki", "trnsim.nki"), ("nki", "trnsim.nki._newer")):
            if name == prefix or name.startswith(prefix + "."):
                return _MOVED.get(name, package + name[len(prefix):])
        return _MOVED.get(name)

    def find_spec(self, name, path=None, target=None):
        if name == "neuronxcc" or self._target(name) or _host.known(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        if spec.name == "neuronxcc":
            module = types.ModuleType("neuronxcc")
            module.__path__ = []
            module.__version__ = "2.21.0+trnsim"  # the compiler of SDK 2.26, in the form of PEP 440
            vars(logging).setdefault("OFF", logging.CRITICAL + 10)  # harnesses of published kernels name it
            return module
        if _host.known(spec.name):
            return _host.module(spec.name)
        try:
            return _Alias(spec.name, importlib.import_module(self._target(spec.name)))
        except ModuleNotFoundError as problem:
            if not (problem.name or "").startswith("trnsim."):
                raise
            raise _Absent(spec.name) from None

    def exec_module(self, module):
        if isinstance(module, _Alias):
            target = module.__dict__["_target"]
            target.__dict__.setdefault("__path__", [])  # modules below it are found here, in whatever order they come
            sys.modules[module.__spec__.name] = target


class _Absent(Error, ModuleNotFoundError):
    """A module of the SDK that is not here; ImportError for scripts that try it."""

    def __init__(self, name):
        if name.startswith(("neuronxcc.nki.kernels", "neuronxcc.nki._private_kernels")):
            what = "these are the SDK's own kernels"
            fix = "put a kernel of that name beside the script; nki-samples has their sources (nki_samples/reference)"
        else:
            what, fix = "there is no such module", "trnsim nki --list names all functions of both dialects"
        super().__init__(_core._line(), f"import {name}: {what}", fix)


# Modules of the SDK that kernels import names from, and the module here that has these names.
_MOVED = {"neuronxcc.nki.isa.constants": "trnsim.nki._isa.modes",
          "neuronxcc.nki.language.constants": "trnsim.nki._language.types",
          "neuronxcc.nki.compile": "trnsim.nki._inside",
          "nki.typing": "trnsim.nki.typing",
          "nki.dtype": "trnsim.nki._newer.language",
          "nki.isa.constants": "trnsim.nki._newer.modes",
          "nki.language.constants": "trnsim.nki._newer.types",
          "neuronxcc.starfish": "trnsim.nki._harness",
          "neuronxcc.starfish.support": "trnsim.nki._harness",
          "neuronxcc.starfish.support.dtype": "trnsim.nki._harness",
          "neuronxcc.starfish.support.util": "trnsim.nki._harness",
          "neuronxcc.nki._private": "trnsim.nki._private",
          "neuronxcc.nki._private.private_api": "trnsim.nki._private",
          "neuronxcc.nki.compiler.backends": "trnsim.nki._inside",
          "neuronxcc.nki.compiler.backends.neuron": "trnsim.nki._inside",
          "neuronxcc.nki.compiler.backends.neuron.dimensions": "trnsim.nki._inside",
          "neuronxcc.nki.compiler.backends.neuron.metaclasses": "trnsim.nki._inside",
          "neuronxcc.nki.compiler.backends.neuron.tensor": "trnsim.nki._inside",
          "neuronxcc.nki.compiler.backends.neuron.tensors": "trnsim.nki._inside",
          "neuronxcc.nki.compiler.backends.neuron.indexing": "trnsim.nki._inside"}


class _Alias(types.ModuleType):
    """Stands in while a module is imported; then the module itself takes its place."""

    def __init__(self, name, target):
        super().__init__(name)
        self.__dict__["_target"] = target
        self.__dict__["__path__"] = []

    def __getattr__(self, name):
        return getattr(self.__dict__["_target"], name)


def install():
    """Puts the finder in front of others: a real NKI on this machine stays unused."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
