"""neuronx_distributed.modules.lora: a configuration, and a model of which adapters alone are trained."""
import dataclasses
import json
import os
import re
import typing

import torch

from trnsim.torch import _xla
from trnsim.torch._nxd import checkpointing, lora_layers, state
from trnsim.torch._nxd.utils import get_logger

# Layers that get adapters where a configuration names none, by config.model_type (as in PEFT).
TARGETS = {
    **dict.fromkeys(("bart", "opt", "gpt_neo", "gptj", "llama", "mistral", "mixtral", "stablelm", "gemma"),
                    ["q_proj", "v_proj"]),
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra", "layoutlm"), ["query", "value"]),
    **dict.fromkeys(("bloom", "gpt_neox", "chatglm", "refinedwebmodel", "refinedweb", "falcon"), ["query_key_value"]),
    **dict.fromkeys(("t5", "mt5"), ["q", "v"]), **dict.fromkeys(("gpt2", "gpt_bigcode"), ["c_attn"]),
    "blip-2": ["q", "v", "q_proj", "v_proj"], "deberta-v2": ["query_proj", "value_proj"], "deberta": ["in_proj"],
    "mpt": ["Wqkv"], "btlm": ["c_proj", "c_attn"], "codegen": ["qkv_proj"], "phi": ["q_proj", "v_proj", "fc1", "fc2"]}
STORED = ("bias", "init_lora_weights", "lora_alpha", "lora_dropout", "lora_rank", "use_rslora", "target_modules",
          "modules_to_save", "save_lora_base", "merge_lora", "save_lora_config_adapter")


@dataclasses.dataclass
class LoraConfig:
    """target_modules: names, ends of names behind a dot, or a regular expression of whole names."""
    enable_lora: bool = False
    lora_rank: int = 16
    target_modules: typing.Optional[typing.List[str]] = None
    lora_alpha: int = 8
    lora_dropout: float = 0.0
    bias: str = "none"
    use_rslora: bool = False
    init_lora_weights: str = "default"
    modules_to_save: typing.Optional[typing.List[str]] = None
    lora_verbose: bool = False
    load_lora_from_ckpt: bool = False
    lora_load_tag: typing.Optional[str] = None
    lora_save_dir: typing.Optional[str] = "lora_adapter"
    merge_lora: bool = False
    save_lora_base: bool = False
    save_lora_config_adapter: bool = True

    def __post_init__(self):
        if isinstance(self.target_modules, list):
            self.target_modules = set(self.target_modules)

    @staticmethod
    def get_selected_fields():
        return list(STORED)

    def selected_fields_to_save(self):
        return {name: getattr(self, name) for name in STORED}


class LoraModel(torch.nn.Module):
    """A model whose adapters alone are trained. Its state_dict() is that of the adapters, with `save_lora_base` that of
    all weights, with `merge_lora` too that of the model without adapters that computes the same."""

    def __init__(self, module, config):
        super().__init__()
        self.module, self.lora_config, self.stored = module, config, None
        self.is_lora_enabled = self.is_lora_merged = False
        if config.load_lora_from_ckpt:
            self.find_checkpoint()
        else:
            self.inject_adapter()

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, labels=None, output_attentions=None,
                output_hidden_states=None, return_dict=None, task_ids=None, **kwargs):
        """The arguments of transformers' models, all of which the model has to take."""
        self.unmerge_lora()
        return self.module(input_ids=input_ids, attention_mask=attention_mask, inputs_embeds=inputs_embeds,
                           labels=labels, output_attentions=output_attentions,
                           output_hidden_states=output_hidden_states, return_dict=return_dict, **kwargs)

    def wanted(self):
        targets = self.lora_config.target_modules
        if targets is None:
            kind = str(getattr(getattr(self.module, "config", None), "model_type", "unknown")).lower()
            if kind not in TARGETS:
                raise ValueError(f"LoraConfig: name target_modules; a model of the type {kind!r} has no defaults")
            targets = self.lora_config.target_modules = TARGETS[kind]
        if isinstance(targets, str):
            return lambda name: re.fullmatch(targets, name)
        return lambda name: name in targets or any(name.endswith("." + target) for target in targets)

    def inject_adapter(self):
        if self.is_lora_enabled:
            return
        is_target, found = self.wanted(), False
        for name in [name for name, _ in self.module.named_modules() if is_target(name)]:
            found, (parent, _, own) = True, name.rpartition(".")
            layer = lora_layers.adapted(self.module.get_submodule(name), name, self.lora_config)
            setattr(self.module.get_submodule(parent), own, layer)
        if not found:
            raise ValueError(f"LoraConfig: no module of the model matches target_modules="
                             f"{self.lora_config.target_modules}")
        self.freeze()
        self.is_lora_enabled = True
        self.print_model_info()

    def freeze(self):
        bias = self.lora_config.bias
        if bias not in ("none", "all", "lora_only"):
            raise NotImplementedError(f"LoraConfig: bias is \"none\", \"all\" or \"lora_only\", not {bias!r}")
        for name, parameter in self.module.named_parameters():
            parameter.requires_grad = "lora_" in name or self.is_saved(name) or bias == "all" and "bias" in name
        for layer in self.adapted() if bias == "lora_only" else ():
            own = getattr(layer.base_layer, "bias", None)
            if own is not None:
                own.requires_grad = True

    def is_saved(self, name):
        return any(part in name for part in self.lora_config.modules_to_save or ())

    def adapted(self):
        return [module for module in self.module.modules() if isinstance(module, lora_layers.LoraLayer)]

    def merge_lora(self):
        for layer in self.adapted():
            layer.merge()
        self.is_lora_merged = True

    def unmerge_lora(self):
        for layer in self.adapted() if self.is_lora_merged else ():
            layer.unmerge()
        self.is_lora_merged = False

    def get_base_model(self):
        return self.module

    def module_state_dict(self):
        return self.module.state_dict()

    def state_dict(self, *args, **kwargs):
        config = self.lora_config
        if config.save_lora_base and config.merge_lora:
            was = self.is_lora_merged
            self.merge_lora()
            found = {name.replace(".base_layer", ""): value.clone() for name, value in
                     self.module.state_dict().items() if "lora_" not in name}
            if not was:
                self.unmerge_lora()
        else:
            bias = {"none": (), "all": ("bias",), "lora_only": (".base_layer.bias",)}[config.bias]
            found = {name: value for name, value in self.module.state_dict().items() if config.save_lora_base or
                     "lora_" in name or self.is_saved(name) or any(part in name for part in bias)}
        if config.save_lora_config_adapter:
            found["lora_config"] = config.selected_fields_to_save()
        else:
            self.save_config()
        return found

    def save_config(self, save_dir=None):
        if not state.is_global_rank_zero():
            return
        fields = {name: sorted(value) if isinstance(value, set) else value
                  for name, value in self.lora_config.selected_fields_to_save().items()}
        os.makedirs(save_dir or self.lora_config.lora_save_dir, exist_ok=True)
        with open(self.config_file(save_dir), "w", encoding="utf-8") as out:
            json.dump(fields, out, indent=2, sort_keys=True)

    def config_file(self, save_dir=None):
        return os.path.join(save_dir or self.lora_config.lora_save_dir, "adapter_config.json")

    def adapter_file(self, save_dir=None, tag=None):
        root = save_dir or self.lora_config.lora_save_dir
        if not state.model_parallel_is_initialized():
            return os.path.join(root, tag or "", "adapter_model.pt")
        tag = tag or (checkpointing.tags(root) or [""])[-1]
        return checkpointing.file(root, str(tag), "model")

    def find_checkpoint(self):
        """Its weights follow with load_state_dict(), behind those of the model."""
        path = self.adapter_file(None, self.lora_config.lora_load_tag)
        if not os.path.isfile(path):
            raise FileNotFoundError(f"LoraConfig: load_lora_from_ckpt: there is not a file {path}")
        self.stored = torch.load(path, map_location="cpu")
        fields = self.stored.pop("lora_config", None)
        if fields is None:
            with open(self.config_file(), encoding="utf-8") as text:
                fields = json.load(text)
        self.lora_config = dataclasses.replace(self.lora_config, **fields)

    def load_state_dict(self, state_dict=None, strict=True, assign=False):
        config, result = self.lora_config, None
        if state_dict is not None and not (config.save_lora_base and self.stored):
            given = {name: value for name, value in state_dict.items() if name != "lora_config"}
            for name in self.module.state_dict() if self.is_lora_enabled else ():
                plain = name.replace(".base_layer", "")
                if plain in given:
                    given[name] = given[plain]
            result = self.module.load_state_dict(given, strict=False)
        return self.load_lora_adapter() if config.load_lora_from_ckpt else result

    def load_lora_adapter(self):
        if not (self.lora_config.save_lora_base and self.lora_config.merge_lora):
            self.inject_adapter()
        return self.module.load_state_dict(self.stored, strict=False)

    def save_lora(self, save_dir=None, adapter_tag=None):
        self.for_one_core("save")
        checkpointing.write(_xla.to_host(self.state_dict()), self.adapter_file(save_dir, adapter_tag))

    def load_lora(self, save_dir=None, adapter_tag=None, ckpt_path=None, adapter_only=True):
        self.for_one_core("load")
        if not adapter_only and not self.lora_config.save_lora_base:
            path = ckpt_path or self.adapter_file(save_dir, adapter_tag)
            self.module.load_state_dict(torch.load(path, map_location="cpu"), strict=False)
        return self.load_lora_adapter()

    @staticmethod
    def for_one_core(verb):
        if state.model_parallel_is_initialized():
            raise RuntimeError(f"LoraModel.{verb}_lora() is for models without model parallelism: use "
                               f"neuronx_distributed.{verb}_checkpoint()")

    def named_parameters(self, *args, **kwargs):
        return self.module.named_parameters(*args, **kwargs)

    def get_nb_trainable_parameters(self):
        sizes = [(parameter.numel(), parameter.requires_grad) for parameter in self.module.parameters()]
        return sum(size for size, trained in sizes if trained), sum(size for size, _ in sizes)

    def print_trainable_parameters(self):
        trained, whole = self.get_nb_trainable_parameters()
        get_logger().info(f"trainable params: {trained:,d} || all params: {whole:,d} || trainable%: "
                          f"{100 * trained / whole}")

    def print_model_info(self):
        if self.lora_config.lora_verbose:
            get_logger().info("LoRA model: %s", self.module)
            get_logger().info("LoRA configuration: %s", self.lora_config)
            self.print_trainable_parameters()

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)


def get_lora_model(model, lora_config):
    """A model with adapters; one of initialize_parallel_model() gets them inside."""
    if lora_config is None or not lora_config.enable_lora:
        return model
    if hasattr(model, "nxd_config"):
        model.module = LoraModel(model.module, lora_config)
        return model
    return LoraModel(model, lora_config)


def tables():
    whole = dict(LoraConfig=LoraConfig, LoraModel=LoraModel, get_lora_model=get_lora_model)
    return {"modules.lora": whole, "modules.lora.config": dict(LoraConfig=LoraConfig),
            "modules.lora.model": dict(LoraModel=LoraModel), **lora_layers.tables()}
