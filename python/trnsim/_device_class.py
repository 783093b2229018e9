"""A class in the place of torch.device, for names that PyTorch's own class does not know."""
import copyreg


def take_place(torch, make):
    """From here on torch.device makes devices of PyTorch's by make(plain, *args, **kwargs), and answers for their
    class. `plain`: PyTorch's own."""
    plain = torch.device

    class Device(type):
        def __call__(cls, *args, **kwargs):
            return make(plain, *args, **kwargs)

        def __instancecheck__(cls, instance):
            return isinstance(instance, plain)

        def __subclasscheck__(cls, other):
            return other is cls or issubclass(other, plain)

        def __eq__(cls, other):
            return other is cls or other is plain

        def __hash__(cls):
            return hash(plain)

    torch.device = Device("device", (), {"__doc__": plain.__doc__, "__module__": "torch"})
    copyreg.pickle(plain, lambda place: (torch.device, (str(place),)))  # by its name, which is now this class's
