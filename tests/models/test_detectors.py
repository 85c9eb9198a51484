"""torchvision's detectors, scripted and traced: ONNX Runtime gives libtorch's boxes for images of two sizes and for one
without anything on it. The reference here is torchvision's own kernels, not those that pt2onnx carries."""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from detectors import DETECTORS, OneImage, make


def saved(name, folder):
    """The files of a detector, and its images."""
    module, images = make(name)
    scripted, traced = folder / f"{name}_scripted.pt", folder / f"{name}_traced.pt"
    with torch.no_grad():
        torch.jit.script(module).save(str(scripted))
        torch.jit.trace(OneImage(module), images[0], check_trace=False).save(str(traced))
    return {scripted: ["--input", "images.0:float32[3,H,W]"], traced: ["--dynamic", "image:1=H,2=W"]}, images


def export(path, options):
    """Without verification, which would add noise of another size: there, ties between boxes are frequent."""
    model = path.with_suffix(".onnx")
    command = [os.environ["PT2ONNX_BINARY"], "export", path, "-o", model, "--no-verify", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])


def reference(path, image):
    module = torch.jit.load(str(path))
    with torch.no_grad():
        return list(module([image])[1][0].values()) if "scripted" in path.name else list(module(image))


def detections(session, path, image):
    expected = [tensor.numpy() for tensor in reference(path, image)]
    actual = session.run(None, {session.get_inputs()[0].name: image.numpy()})
    shapes = [a.shape for a in actual], [e.shape for e in expected]
    assert shapes[0] == shapes[1], f"shapes {shapes[0]}, libtorch {shapes[1]}"
    for a, e in zip(actual, expected):
        np.testing.assert_allclose(a, e, rtol=1e-3, atol=1e-4 * max(1.0, np.abs(e).max(initial=0)))
    return len(expected[0])


def check(name):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        files, images = saved(name, Path(folder))
        for path, options in files.items():
            try:
                session = export(path, options)
                found = [detections(session, path, image) for image in images]
                assert min(found[:2]) > 2 and found[2] == 0, f"{found} detections show little"
                print(f"{path.stem}: {found} detections as libtorch gives them", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"{path.stem}: FAILED {error}", flush=True)
    return failed


warnings.simplefilter("ignore")
sys.exit(sum(check(name) for name in sys.argv[1:] or DETECTORS))
