#!/usr/bin/env python3
"""Whole-process time and peak memory of an export, pt2onnx beside PyTorch's own exporter, as ratios of one run.

    bench/export.py [MODEL.pt] [--repeat 3]      default: a traced ResNet-50, made by tests/models/make.py

Both read the same TorchScript file and write an ONNX file at opset 20; nothing is verified. The processes take turns, so
that what else the machine does meets both alike.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

TORCH = """
import sys, warnings, torch
warnings.simplefilter("ignore")
module = torch.jit.load(sys.argv[1])
shape = [int(n) for n in sys.argv[3].split(",")]
torch.onnx.export(module, (torch.randn(shape),), sys.argv[2], opset_version=20, dynamo=False)
"""


def measure(command):
    """Seconds and peak resident MiB of one process."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command[:3])} failed:\n{errors.decode()}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("model", nargs="?", default=f"{ROOT}/build/models/resnet50.pt")
    options.add_argument("--shape", default="1,3,64,64", help="of the one input, for PyTorch's exporter")
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--pt2onnx", default=f"{ROOT}/build/release/bin/pt2onnx")
    args = options.parse_args()
    if not os.path.exists(args.model):
        name = os.path.basename(args.model).removesuffix(".pt")
        make = f"{ROOT}/tests/models/make.py"
        subprocess.run([sys.executable, make, os.path.dirname(args.model), name], check=True)

    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out.onnx"
        commands = {
            "pt2onnx": [args.pt2onnx, "export", args.model, "-o", out, "--opset", "20", "--no-verify"],
            "torch.onnx.export": [sys.executable, "-c", TORCH, args.model, out, args.shape],
        }
        runs = {name: [] for name in commands}
        for _ in range(args.repeat):
            for name, command in commands.items():
                runs[name].append(measure(command))

    middle = {name: [statistics.median(column) for column in zip(*values)] for name, values in runs.items()}
    for name, (seconds, mib) in middle.items():
        print(f"{name:<20}{seconds:7.2f} s {mib:8.0f} MiB")
    ours, theirs = middle.values()
    print(f"{'ratio':<20}{theirs[0] / ours[0]:7.1f}   {theirs[1] / ours[1]:8.1f}")


if __name__ == "__main__":
    main()
