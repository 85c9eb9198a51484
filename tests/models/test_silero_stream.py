"""silero_vad.jit exported with --state and fed a recording chunk by chunk gives libtorch's probabilities."""

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch

ROOT = Path(__file__).parents[2]
MODEL = ROOT / ".deps/models/silero_vad.jit"
SECONDS = 6


def recording(rate):
    """Bursts of a buzz with formants between silences and noise: something that the detector takes for speech at times."""
    t = np.arange(SECONDS * rate) / rate
    pitch = 120 + 20 * np.sin(2 * math.pi * 0.7 * t)
    phase = 2 * math.pi * np.cumsum(pitch) / rate
    buzz = sum(np.sin(k * phase) * math.exp(-(((k * 120 - f) / 300) ** 2)) for k in range(1, 25) for f in (500, 1500, 2400))
    envelope = (np.sin(2 * math.pi * 0.5 * t) > 0) * (0.6 + 0.4 * np.sin(2 * math.pi * 4 * t))
    noise = np.random.default_rng(0).normal(size=t.size) * 0.01
    return (0.2 * buzz * envelope + noise).astype(np.float32)


def differences(rate, chunk, folder):
    onnx_path = Path(folder) / f"vad_{rate}.onnx"
    command = [os.environ["PT2ONNX_BINARY"], "export", MODEL, "-o", onnx_path, "--state", "--quiet"]
    subprocess.run([*command, "--input", f"x:float32[1,{chunk}]", "--input", f"sr:int={rate}"], check=True)
    module = torch.jit.load(str(MODEL))
    session = onnxruntime.InferenceSession(str(onnx_path), providers=["CPUExecutionProvider"])
    state = {i.name: np.zeros(i.shape, np.float32) for i in session.get_inputs() if i.name != "x"}
    signal, worst, speech = recording(rate), 0.0, []
    for start in range(0, signal.size - chunk + 1, chunk):
        x = signal[None, start : start + chunk]
        with torch.no_grad():
            expected = module(torch.from_numpy(x), rate).numpy()
        probability, *after = session.run(None, {"x": x, **state})
        state = dict(zip(state, after))
        worst = max(worst, float(np.abs(probability - expected).max()))
        speech.append(float(expected[0, 0]))
    return worst, speech


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for rate, chunk in ((16000, 512), (8000, 256)):
            worst, speech = differences(rate, chunk, folder)
            print(f"{rate} Hz: {len(speech)} chunks, probabilities {min(speech):.3f} to {max(speech):.3f}, max abs {worst:.3g}")
            failed |= worst > 1e-4 or max(speech) - min(speech) < 0.05  # a flat line would prove nothing
    return failed


sys.exit(main())
