"""The scripted modules of programs.py: ONNX Runtime gives libtorch's results on every run."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from programs import PROGRAMS, inputs


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value.numpy()]
    if isinstance(value, dict):
        return flat(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in flat(part)]
    return [np.asarray(value)]


def check(name, folder):
    torch.manual_seed(0)
    path, model = folder / f"{name}.pt", folder / f"{name}.onnx"
    torch.jit.script(PROGRAMS[name]().eval()).save(str(path))
    specs, runs = inputs(name)
    command = [os.environ["PT2ONNX_BINARY"], "export", path, "-o", model, "--quiet", "--no-verify"]
    for spec in specs:
        command += ["--input", spec]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    for run in runs:
        with torch.no_grad():
            expected = flat(torch.jit.load(str(path))(*[tensor.clone() for tensor in run]))  # anew: it may keep a state
        feeds = {wanted.name: tensor.numpy() for wanted, tensor in zip(session.get_inputs(), run)}
        actual = [part for output in session.run(None, feeds) for part in (output if isinstance(output, list) else [output])]
        assert [a.shape for a in actual] == [e.shape for e in expected], f"{[a.shape for a in actual]}"
        for a, e in zip(actual, expected):
            np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or PROGRAMS:
            try:
                check(name, Path(folder))
            except AssertionError as error:
                failed += 1
                print(f"{name}: FAILED {error}", flush=True)
    print(f"{len(PROGRAMS) - failed} of {len(PROGRAMS)} passed")
    return failed


sys.exit(main())
