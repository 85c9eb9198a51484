"""Writes models of the zoo as TorchScript files: make.py OUTDIR [NAME...]. A file that is there already is kept."""

import os
import sys
import warnings

import torch

from zoo import ZOO


def make(name, path):
    warnings.simplefilter("ignore")
    torch.manual_seed(sum(map(ord, name)))
    module, inputs = ZOO[name].build()
    module.eval()
    with torch.no_grad():
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
