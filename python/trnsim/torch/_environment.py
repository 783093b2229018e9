"""Environment variables of the Neuron SDK and of torch_xla: those that have a meaning here are obeyed, when the device
is used for the first time, as a script may set them at its head; all others that are set are told in the report, and
values that cannot be obeyed are errors."""
import contextlib
import itertools
import os
import re
import shlex

import torch

from trnsim.torch._values import ELEMENTS, Unsupported

PREFIXES = ("NEURON_", "XLA_", "PJRT_", "TORCH_NEURONX_", "PT_XLA_")
TYPES = {"XLA_USE_BF16": ("bf16", "bf16"), "XLA_DOWNCAST_BF16": ("bf16", "f32"), "XLA_USE_FP16": ("f16", "f16"),
         "XLA_DOWNCAST_FP16": ("f16", "f32"), "XLA_USE_F16": ("f16", "f16")}  # of float and of double
OBEYED = {"NEURON_RT_NUM_CORES", "NEURON_RT_VISIBLE_CORES", "NEURON_RT_STOCHASTIC_ROUNDING_EN",
          "NEURON_RT_STOCHASTIC_ROUNDING_SEED", *TYPES}
SAME = {"XLA_USE_32BIT_LONG": "integers always have 32 bits", "PJRT_DEVICE": "",
        "XLA_DISABLE_FUNCTIONALIZATION": "views are always made functional"}
CASTS = {"bf16": {"matmult": "fp32+bf16-matmul", "all": "fp32"}, "fp16": {"matmult": "fp32+fp16-matmul", "all": "fp32"},
         "tf32": {"matmult": "tf32"}, "fp8_e4m3": {"matmult": "fp32+fp8_e4m3-matmul"}}
ELEMENT = {"bf16": "bf16", "fp16": "f16"}  # that --auto-cast=all makes of fp32 inside of a program


def truth(name):
    """Errors: ValueError for any other word."""
    value = os.environ.get(name, "0").strip().lower()
    if value in ("", "0", "false", "off", "no"):
        return False
    if value in ("1", "true", "on", "yes"):
        return True
    raise ValueError(f"{name}={value}: give 0 or 1")


def whole(name, default):
    value = os.environ.get(name) or str(default)
    if not value.isdigit():
        raise ValueError(f"{name}={value}: give a whole number")
    return int(value)


def visible_cores(text):
    """The number of cores in a list: "0-3,8" has 5."""
    cores = set()
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if ends is None or int(ends[2] or ends[1]) < int(ends[1]):
            raise ValueError(f"NEURON_RT_VISIBLE_CORES={text}: give cores as in 0-3 or 0,2")
        cores.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return len(cores)


def cores():
    """How many spawn() starts: as the runtime reads them; 2 where nothing names them."""
    visible = os.environ.get("NEURON_RT_VISIBLE_CORES")
    return visible_cores(visible) if visible else whole("NEURON_RT_NUM_CORES", 2)


def flags_of(text):
    """[(name, value or "")] of the compiler's flags: --name=value, --name value, -O1."""
    out, words = [], shlex.split(text)
    for word in words:
        name, _, value = word.partition("=")
        if word.startswith("-"):
            out.append([name, value])
        elif out and not out[-1][1]:
            out[-1][1] = word
        else:
            raise ValueError(f"NEURON_CC_FLAGS: {word!r} does not belong to a flag")
    return out


class Environment:
    """The variables' wishes. `flags`: a traced model's own, which follow those of the environment."""

    def __init__(self, flags=""):
        self.numerics, self.inside, self.obeyed, self.unused = "fp32", None, [], []
        chosen = [name for name in TYPES if truth(name)]
        if len(chosen) > 1:
            raise ValueError(f"{chosen[0]} and {chosen[1]} contradict one another: set one")
        self.floats = TYPES[chosen[0]] if chosen else None
        self.obeyed += [f"{name}=1" for name in chosen]
        stochastic = truth("NEURON_RT_STOCHASTIC_ROUNDING_EN") or \
            bool(chosen and "BF16" in chosen[0] and "NEURON_RT_STOCHASTIC_ROUNDING_EN" not in os.environ)
        self.seed = whole("NEURON_RT_STOCHASTIC_ROUNDING_SEED", 0)
        self.compiler(f"{os.environ.get('NEURON_CC_FLAGS', '')} {flags}")
        if stochastic:
            self.numerics += "+sr"
            self.obeyed.append(f"stochastic rounding, seed {self.seed}")
        self.rest()

    def compiler(self, text):
        """--auto-cast is obeyed; the others change how neuronx-cc searches, which has no model here."""
        asked = {"--auto-cast": "none", "--auto-cast-type": "bf16"}
        for name, value in flags_of(text):
            if name in asked:
                asked[name] = value
                self.obeyed.append(f"{name}={value}")
            else:
                self.unused.append(f"{name}={value}" if value else name)
        cast, kind = asked.values()
        self.cast = f"--auto-cast={cast} --auto-cast-type={kind}" if cast != "none" else "--auto-cast=none"
        if cast not in ("none", "matmult", "all") or kind not in CASTS:
            raise ValueError(f"NEURON_CC_FLAGS: --auto-cast={cast} --auto-cast-type={kind}: give none, matmult or all, "
                             f"and one of {', '.join(CASTS)}")
        if cast == "none":
            return
        if cast not in CASTS[kind]:
            raise ValueError(f"NEURON_CC_FLAGS: --auto-cast={cast} with {kind} is not supported: use matmult, or bf16")
        self.numerics = CASTS[kind][cast]
        self.inside = ELEMENT[kind] if cast == "all" else None

    def rest(self):
        for name in sorted(os.environ):
            if name.startswith(PREFIXES) and name not in OBEYED and name not in SAME and name != "NEURON_CC_FLAGS":
                self.unused.append(f"{name}={os.environ[name]}")


FOUND = []
MODELS = {"": None}  # of flags that traced models have of their own
COMPILING = []  # the flags of the model that is being computed


def settled():
    """The variables as they were when the device was used first, with the flags of the model that is being computed.
    Errors: Unsupported."""
    if not FOUND:
        try:
            FOUND.append(Environment())
        except ValueError as error:
            raise Unsupported(f"environment: {error}") from None
        if FOUND[0].floats:
            ELEMENTS[torch.float32], ELEMENTS[torch.float64] = FOUND[0].floats
    return COMPILING and MODELS[COMPILING[-1]] or FOUND[0]


def flags_of_model(given):
    """The text of a model's compiler_args, which are a text or a list. Errors: Unsupported."""
    text = given if isinstance(given, str) else shlex.join(given or [])
    if text not in MODELS:
        try:
            MODELS[text] = Environment(text)
        except ValueError as error:
            raise Unsupported(f"compiler_args: {error}") from None
    return text


@contextlib.contextmanager
def compiled_with(flags):
    """Around what a traced model computes: its flags are those of its program alone, as they are in its NEFF."""
    COMPILING.append(flags_of_model(flags))
    try:
        yield
    finally:
        COMPILING.pop()


def told():
    """For the report."""
    if not FOUND:
        return {"environment": [], "unused": [], "numerics": "fp32"}
    first, models = FOUND[0], [found for found in MODELS.values() if found]
    own = [" ".join(x for x in found.obeyed if x not in first.obeyed) for found in models]
    obeyed = first.obeyed + [f"{words} (a traced model)" for words in dict.fromkeys(own) if words]
    unused = list(dict.fromkeys(itertools.chain(*[found.unused for found in (first, *models)])))
    return {"environment": obeyed, "unused": unused, "numerics": first.numerics.removesuffix("+sr")}
