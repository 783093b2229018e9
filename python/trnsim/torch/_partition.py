"""torch_neuronx.analyze(), and models whose operators are divided between the device and the host."""
import io
import os
import warnings

import torch

from trnsim.torch import _lower, _traced
from trnsim.torch._engine import Graph, Refused, engine, script_line
from trnsim.torch._environment import settled
from trnsim.torch._newer import VERSION, only
from trnsim.torch._recorded import shapes_of
from trnsim.torch._steps import Part, Steps, operator, part_of, refs_of, replaced
from trnsim.torch._tensor import DeviceTensor, new_tensor
from trnsim.torch._values import HOOKS, Unsupported, Value, contiguous

PARTS = "trnsim.parts"  # in a file that DividedModel.save() wrote
ANALYZES = ("compiler_workdir", "additional_ignored_ops", "max_workers")


class PartitionerConfig:
    """How trace() divides a model whose operators the device does not all have, by the options of DEFAULTS."""
    DEFAULTS = dict(trace_kwargs=None, model_support_percentage_threshold=0.5, min_subgraph_size=-1,
                    max_subgraph_count=-1, ops_to_partition=None, analyze_parameters=None)

    def __init__(self, *args, **options):
        unknown = [name for name in options if name not in self.DEFAULTS]
        if args or unknown:
            warnings.warn(f"PartitionerConfig(): {', '.join(unknown) or 'an argument without a name'} has no effect")
        for name, default in self.DEFAULTS.items():
            setattr(self, name, options.get(name, default))
        only(self.analyze_parameters or {}, ANALYZES, "PartitionerConfig: analyze_parameters: analyze")


def stand_in(item):
    """A tensor of the device without numbers, which no operator can read."""
    if isinstance(item, torch.Tensor):
        return new_tensor(Value(contiguous(item.shape, item.dtype)))
    return type(item)(stand_in(x) for x in item) if type(item) in (list, tuple) else item


def refusal(step, values):
    """(where, why) the device does not compute an operator, or None. It is recorded and lowered alone."""
    running = engine()
    traced = running.traced
    _lower.FOLLOWED.append(None)  # so that nothing is left to the host
    try:
        with torch.no_grad(), running.ahead(), HOOKS["operators"]():
            args, kwargs = step.arguments([stand_in(value) for value in values])
            out = operator(step.kind.split("::")[1], step.overload)(*args, **kwargs)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        pending = [v for v in (HOOKS["current"](t) for t in out if isinstance(t, DeviceTensor)) if v.pending]
        if not pending:
            return None
        text = running.backend.text(Graph(pending), "operator")
    except (Unsupported, NotImplementedError, Refused, RuntimeError) as error:
        why = str(error).splitlines()[0]
        return "Lowering to HLO", "it reads values of its operands" if why.endswith("reads a value") else why
    finally:
        _lower.FOLLOWED.pop()
        running.untraced += running.traced - traced
    backend = running.backend
    why = backend.core.Program(text, "operator.mlir", backend.instance_type, 1, settled().numerics).refused
    return ("neuronx-cc", why) if why else None


def examples_of(example_inputs):
    return example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)


def refusals(found, ignored=()):
    """For each step that is not to be left out of the account: (step, why the device refuses it, or None)."""
    known, out = {}, []
    for step in found.steps:
        if step.kind in ignored:
            continue
        args, kwargs = step.arguments(found.values)
        key = repr((step.kind, step.overload, form_of(args), sorted((k, str(form_of(v))) for k, v in kwargs.items())))
        if key not in known:
            known[key] = refusal(step, found.values)
        out.append((step, known[key]))
    return out


def form_of(item):
    if isinstance(item, torch.Tensor):
        return tuple(item.shape), item.dtype
    return [form_of(x) for x in item] if isinstance(item, (list, tuple)) else item


def share(answers):
    return 100.0 * sum(why is None for _, why in answers) / max(len(answers), 1)


def counted(answers):
    count = {}
    for step, why in answers:
        if why is None:
            count[step.kind] = count.get(step.kind, 0) + 1
    return count


def called(step):
    """The lines of the script, and of the modules that it uses, from the operator outwards."""
    return step.place.partition("\n" + os.path.dirname(torch.jit.__file__))[0]


def analyze(func, example_inputs, compiler_workdir=None, *, additional_ignored_ops=(), **options):
    """A dictionary of the operators that the device computes, and of those that it does not. Directories and workers
    are the compiler's, which does not run here."""
    only(options, ("max_workers", "is_hf_transformers", "cleanup"), "analyze")
    answers = refusals(Steps(func, examples_of(example_inputs)), set(additional_ignored_ops))
    return {"torch_neuronx_version": VERSION, "neuronx_cc_version": VERSION,
            "support_percentage": f"{share(answers):.2f}%", "supported_operators": counted(answers),
            "unsupported_operators": [{"kind": step.kind, "failureAt": why[0], "call": called(step), "opGraph": why[1]}
                                      for step, why in answers if why is not None]}


def divided(answers, config):
    """Runs of steps for the device and for the host: [(whether it is the device's, steps)]. Errors: ValueError, as
    torch_neuronx's, for more or smaller ones than the script wants."""
    runs = []
    for step, why in answers:
        here = why is None and step.kind not in (config.ops_to_partition or ())
        if not runs or runs[-1][0] is not here:
            runs.append((here, []))
        runs[-1][1].append(step)
    if config.max_subgraph_count != -1 and len(runs) > config.max_subgraph_count:
        raise ValueError(f"The partitioner has found {len(runs)} subgraphs which exceeds the specified max subgraph "
                         f"count of {config.max_subgraph_count}.")
    for here, steps in runs if config.min_subgraph_size != -1 else ():
        if len(steps) < config.min_subgraph_size:
            raise ValueError(f"Partitioner created a {'NEURON' if here else 'CPU'} subgraph with {len(steps)} "
                             "operators, which is less than the specified min subgraph size of "
                             f"{config.min_subgraph_size}")
    return runs


class DividedModel(torch.nn.Module):
    """`models`: of each part, traced for the device or a Part on the host; `plan`: the numbers that each takes and
    gives; `form`: of the results."""

    def __init__(self, models, plan, inputs, form, shapes):
        super().__init__()
        self.models, self.plan, self.inputs, self.form = torch.nn.ModuleList(models), plan, inputs, form
        self._shapes = shapes

    def forward(self, *inputs):
        if shapes_of(inputs) != self._shapes:
            raise Refused(script_line(), f"the model was traced for inputs {self._shapes} and gets "
                                         f"{shapes_of(inputs)}: trace it for these, or pad them")
        known = dict(zip(self.inputs, inputs))
        for model, (takes, gives) in zip(self.models, self.plan):
            given = [known[number] for number in takes]
            if isinstance(model, Part):
                given = [engine().download(t) for t in given]
                for step in model.steps:
                    engine().counters[step.kind] += 1
            with torch.no_grad():
                known.update(zip(gives, model(*given)))
        return replaced(self.form, lambda ref: known[ref.number])

    def save_to_buffer(self, _extra_files=None):
        memory = io.BytesIO()
        torch.save({PARTS: [m.described() if isinstance(m, Part) else m.save_to_buffer() for m in self.models],
                    "plan": self.plan, "inputs": self.inputs, "form": self.form, "shapes": self._shapes}, memory)
        return memory.getvalue()

    def save(self, f, _extra_files=None):
        _traced.keep(self.save_to_buffer(), f)


def read(found):
    models = [part_of(m) if isinstance(m, dict) else _traced.read(torch.load(io.BytesIO(m))) for m in found[PARTS]]
    return DividedModel(models, found["plan"], found["inputs"], found["form"], found["shapes"])


_traced.READERS[PARTS] = read


def parts(found, runs):
    """A Part of each run, with all that later ones or the results read of it. Errors: Refused, for a step that writes
    to a value of another part."""
    made_in = {number: place for place, (_, steps) in enumerate(runs) for step in steps for number in step.outs}
    out, reads = [], [{n for step in steps for n in refs_of(step.given)} for _, steps in runs]
    for place, (_, steps) in enumerate(runs):
        mine = {number for step in steps for number in step.outs}
        takes = sorted(n for n in reads[place] if n not in mine and n not in found.weights)
        later = set().union(*reads[place + 1:], refs_of(found.out))
        for step in steps:
            check_writes(step, made_in, place)
        weights = {n: found.weights[n] for n in sorted(reads[place]) if n in found.weights}
        out.append(Part(steps, weights, takes, sorted(mine & later)))
    return out


def check_writes(step, made_in, place):
    for argument, item in zip(operator(step.kind.split("::")[1], step.overload)._schema.arguments, step.given):
        written = argument.alias_info is not None and argument.alias_info.is_write
        if written and any(made_in.get(number, -1) != place for number in refs_of(item)):
            raise Refused(script_line(), f"trace(): {step.kind} writes to a value of another part of the model: write "
                                         "y = f(x) in its place, or leave out partitioner_config")


def partition(func, example_inputs, config, options):
    """The model that trace() with a partitioner_config makes: all of it on the device where that has all operators."""
    if not isinstance(config, PartitionerConfig):
        raise TypeError("trace(): partitioner_config takes a torch_neuronx.PartitionerConfig()")
    examples = examples_of(example_inputs)
    found = Steps(func, examples)
    answers = refusals(found, set((config.analyze_parameters or {}).get("additional_ignored_ops", ())))
    supported = share(answers)
    if supported >= 100 and not config.ops_to_partition:
        return None
    if supported < 100 * config.model_support_percentage_threshold:
        raise ValueError(f"Model support percentage of {supported:.2f}% below threshold of "
                         f"{100 * config.model_support_percentage_threshold:.2f}%")
    all_steps = {id(step): why for step, why in answers}
    runs = divided([(step, all_steps.get(id(step))) for step in found.steps], config)
    models, plan = [], []
    for (here, _), part in zip(runs, parts(found, runs)):
        given = tuple(found.values[number] for number in part.takes)
        models.append(_traced.trace(part, given, **{**options, **(config.trace_kwargs or {})}) if here else part)
        plan.append((part.takes, part.gives))
    return DividedModel(models, plan, found.inputs, found.out, shapes_of(examples))


def names():
    return dict(analyze=analyze, PartitionerConfig=PartitionerConfig)


HOOKS.update(partition=partition)
