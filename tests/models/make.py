"""Writes models of the zoo as TorchScript files: make.py OUTDIR [NAME...]. A file that is there already is kept."""

import os
import sys
import warnings

import torch
from torch import nn

from zoo_all import ZOO


def liven(module):
    """Weights and statistics that let something through: many networks start with a head of zeros, or so small that
    whatever comes out is zero, and then any two models agree."""
    for part in module.modules():
        if isinstance(part, (nn.modules.conv._ConvNd, nn.Linear)) and part.weight.dim() > 1:
            nn.init.kaiming_normal_(part.weight)
            if part.bias is not None:
                nn.init.normal_(part.bias, std=0.1)
        if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
            nn.init.normal_(part.running_mean, std=0.1)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
            nn.init.uniform_(part.weight, 0.3, 0.8)
            nn.init.normal_(part.bias, std=0.1)


def first_tensor(value):
    if isinstance(value, torch.Tensor):
        return value
    return first_tensor(next(iter(value.values() if isinstance(value, dict) else value)))


def make(name, path):
    warnings.simplefilter("ignore")
    torch.manual_seed(sum(map(ord, name)))
    module, inputs = ZOO[name].build()
    module.eval()
    liven(module)
    with torch.no_grad():
        size = first_tensor(module(*inputs)).abs().max().item()
        assert 1e-3 < size < 1e4, f"{name}: nothing, or too much, comes out ({size})"
        if ZOO[name].how == "script":
            saved = torch.jit.script(module)
        else:
            saved = torch.jit.trace(module, inputs, check_trace=False, strict=False)
    torch.jit.save(saved, path + ".part")
    os.replace(path + ".part", path)


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(ZOO)
    os.makedirs(out, exist_ok=True)
    for name in names:
        path = f"{out}/{name}.pt"
        if not os.path.exists(path):
            make(name, path)


if __name__ == "__main__":
    main()
