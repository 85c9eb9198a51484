#!/usr/bin/env python3
"""How the time of an export grows with the graph: one of 100,000 operators against one of 10,000, as a ratio.

    bench/linear.py [--repeat 3]

The graphs are traced chains of element-wise operators. What libtorch takes to load the file (`pt2onnx inspect`) is
measured beside it: it is most of both.
"""

import argparse
import os
import statistics
import sys
import tempfile

import torch
from export import ROOT, measure


class Chain(torch.nn.Module):
    def __init__(self, length):
        super().__init__()
        self.length = length

    def forward(self, x):
        for i in range(self.length // 2):
            x = torch.relu(x) + (i % 97 + 0.5)
        return x


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--pt2onnx", default=f"{ROOT}/build/release/bin/pt2onnx")
    args = options.parse_args()
    lengths = (10_000, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        for length in lengths:
            traced = torch.jit.trace(Chain(length), torch.randn(2, 3), check_trace=False)
            traced.save(os.path.join(folder, f"{length}.pt"))
        seconds = {}
        for what, rest in (("export", ["-o", f"{folder}/out.onnx", "--no-verify"]), ("inspect", [])):
            for length in lengths:
                command = [args.pt2onnx, what, f"{folder}/{length}.pt", *rest]
                seconds[what, length] = statistics.median(measure(command)[0] for _ in range(args.repeat))
            small, large = (seconds[what, length] for length in lengths)
            print(f"{what:8} {small:6.2f} s for 10,000, {large:6.2f} s for 100,000: {large / small:.1f} times")


if __name__ == "__main__":
    sys.exit(main())
