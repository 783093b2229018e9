"""Which functions of NKI are there."""
from trnsim.nki import isa, language

_MISSING = {"nl.all_reduce": "over one program only: programs of a grid run one after the other",
            "nl.device_print": "prints nothing", "nisa.range_select": "NeuronCore-v3 and later",
            "nisa.builtin_custom_op": "nothing is published about library calls on GpSimdE",
            "nccl.*": "collectives inside of a kernel"}


def listing():
    """Each function of the language and the instruction set: there, or why not."""
    missing, out = dict(_MISSING), []
    for prefix, module in (("nl", language), ("nisa", isa)):
        for name, value in sorted(vars(module).items()):
            if name.startswith("_") or not callable(value) or isinstance(value, type) or name == "missing":
                continue
            reason = missing.pop(f"{prefix}.{name}", None)
            out.append(f"{prefix + '.' + name:34} {'no: ' + reason if reason else 'yes'}")
    out += [f"{name:34} no: {reason}" for name, reason in missing.items()]
    return "\n".join(out)
