"""Inference with a picture model of torchvision on Inf2, as in the vendor's own measurements: traced once, called
repeatedly. `trnsim torch --timed --instance_type inf2.xlarge examples/torch/infer.py --model resnet18 --batch 8`"""
import argparse
import os

import torch
import torch_neuronx
import torchvision
from unet import UNet

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="resnet18", help="unet, or a name in torchvision.models")
parser.add_argument("--batch", type=int, default=1)
parser.add_argument("--size", type=int, default=224, help="rows and columns of a picture")
parser.add_argument("--calls", type=int, default=10)
given = parser.parse_args()

os.environ.setdefault("NEURON_CC_FLAGS", "--auto-cast=matmult")  # fp32, matmuls in bf16
torch.manual_seed(0)
net = (UNet() if given.model == "unet" else getattr(torchvision.models, given.model)()).eval()
pictures = torch.randn(given.batch, 3, given.size, given.size)
model = torch_neuronx.trace(net, pictures)
for _ in range(given.calls):
    model(pictures)
