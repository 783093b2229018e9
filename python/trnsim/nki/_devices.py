"""Names of the device in PyTorch. Around kernels its tensors stay on the host, whatever device a script names."""
import importlib.abc
import sys
import types

from trnsim._device_class import take_place

NAMES = ("neuron", "xla")


def hosted(place):
    """The host in the place of the device."""
    return "cpu" if isinstance(place, str) and place.split(":")[0] in NAMES else place


def _made(plain, *args, **kwargs):
    given = [*args, *kwargs.values()]
    return plain("cpu") if any(hosted(x) is not x for x in given) else plain(*args, **kwargs)


def _compiler(plain):
    """torch.compile: the host runs a model that is compiled for the device as it is."""
    def compile(model=None, **options):
        if model is None:
            return lambda given: compile(given, **options)
        return model if plain is None or hosted(options.get("backend")) == "cpu" else plain(model, **options)
    return compile


def _named(torch):
    """From here on PyTorch knows the names."""
    class autocast(torch.autocast):
        def __init__(self, device_type, *args, **kwargs):
            super().__init__(hosted(device_type), *args, **kwargs)

    class Hosted(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*map(hosted, args), **{key: hosted(value) for key, value in (kwargs or {}).items()})

    take_place(torch, _made)
    torch.autocast, torch.compile = autocast, _compiler(getattr(torch, "compile", None))
    torch.neuron = types.SimpleNamespace(
        is_available=lambda: True, device_count=lambda: 1, current_device=lambda: 0, set_device=lambda device: None,
        synchronize=lambda device=None: None)
    torch.serialization.register_package(
        0, lambda storage: None, lambda storage, place: storage if hosted(place) is not place else None)
    Hosted().__enter__()


class _Watch(importlib.abc.MetaPathFinder):
    """Finds torch as the other finders do, and gives it the names once it is there."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        others = [f for f in sys.meta_path if f is not self and hasattr(f, "find_spec")]
        found = next(filter(None, (f.find_spec(name, path, target) for f in others)), None)
        if found is not None and found.loader is not None:
            load = found.loader.exec_module

            def exec_module(module):
                load(module)
                _named(module)
            found.loader.exec_module = exec_module
        return found


def install():
    if "torch" not in sys.modules:
        sys.meta_path.insert(0, _Watch())
