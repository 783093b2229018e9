"""Modules of the machine's software by name: found by Python's import where a script asks for them, made of tables."""
import importlib
import importlib.abc
import importlib.machinery
import sys
import types


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `root` and the modules below it. `tables()`: {module below root: its names}, made when the first is asked
    for; `begin()`: called as each is imported."""

    def __init__(self, root, tables, begin):
        self.root, self.tables, self.begin, self.names = root, tables, begin, None

    def find_spec(self, fullname, path=None, target=None):
        root, _, below = fullname.partition(".")
        if root == self.root and self.known(below):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def known(self, below):
        if self.names is None:
            self.names = self.tables()
        return any(name == below or name.startswith(below + ".") for name in self.names) or below == ""

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        self.begin()
        below = module.__name__.partition(".")[2]
        for name, value in self.names.get(below, {}).items():
            setattr(module, name, value)
        inside = {name[len(below):].strip(".").split(".")[0] for name in self.names
                  if name and (below == "" or name.startswith(below + "."))}
        for name in sorted(inside):  # torch_xla.core.xla_model is there behind `import torch_xla`, as in the real one
            setattr(module, name, importlib.import_module(f"{module.__name__}.{name}"))


def find(root, tables, begin):
    sys.meta_path.insert(0, Finder(root, tables, begin))
