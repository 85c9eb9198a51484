# labels: slow
"""A dynamic batch leaves no trace in ResNet-50: one node per layer, and no Shape, Gather or Unsqueeze."""

import collections
import subprocess
import sys

import onnx
from export_zoo import HERE, MODELS, export

subprocess.run([sys.executable, f"{HERE}/make.py", MODELS, "resnet50"], check=True)
for options in ([], ["--dynamic", "batch"]):
    export(f"{MODELS}/resnet50.pt", f"{MODELS}/resnet50.onnx", *options)
    counts = collections.Counter(node.op_type for node in onnx.load(f"{MODELS}/resnet50.onnx").graph.node)
    assert counts == {"Conv": 53, "BatchNormalization": 53, "Relu": 49, "Add": 16, "MaxPool": 1,
                      "GlobalAveragePool": 1, "Reshape": 1, "Gemm": 1}, counts  # fmt: skip
print("2 passed, 0 failed")
