"""The names under which kernels import NKI."""
import importlib
import importlib.abc
import importlib.machinery
import sys
import types


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """`neuronxcc.nki.X` and `nki.X` are `trnsim.nki.X`."""

    def _target(self, name):
        for prefix in ("neuronxcc.nki", "nki"):
            if name == prefix or name.startswith(prefix + "."):
                return "trnsim.nki" + name[len(prefix):]
        return None

    def find_spec(self, name, path=None, target=None):
        if name in ("neuronxcc", "torch_neuronx") or self._target(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        if spec.name == "neuronxcc":
            module = types.ModuleType("neuronxcc")
            module.__path__ = []
            module.__version__ = "2.21 (trnsim)"
            return module
        if spec.name == "torch_neuronx":
            from trnsim.nki import _jit
            module = types.ModuleType("torch_neuronx")
            module.__path__ = []
            module.nki_jit = _jit.jit
            return module
        return _Alias(spec.name, importlib.import_module(self._target(spec.name)))

    def exec_module(self, module):
        if isinstance(module, _Alias):
            sys.modules[module.__spec__.name] = module.__dict__["_target"]


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
