"""Exports models of the zoo with the pt2onnx binary and demands what a user would: exit code 0, a model that passes
the checker, and ONNX Runtime's results equal to libtorch's on the example inputs and on other sizes of dynamic dims."""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PT2ONNX = os.environ["PT2ONNX_BINARY"]
MODELS = os.path.join(ROOT, "build", "models")
sys.path.insert(0, HERE)


def export(path, output, *options):
    """The JSON document of one export; an AssertionError with the tool's own words if anything is not as it should."""
    command = [PT2ONNX, "export", path, "-o", output, "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    document = json.loads(done.stdout)
    assert document["stages"] == {stage: "ok" for stage in ("load", "translate", "check", "verify")}, done.stdout
    assert document["verify"]["passed"]
    return document


def variants(entry):
    """Options of each export of one model."""
    given = [option for spec in entry.inputs for option in ("--input", spec)]
    for opset in entry.opsets:
        yield [*given, "--opset", str(opset)]
    if entry.dynamic:
        yield [*given, "--dynamic", entry.dynamic]


def run(names):
    from zoo import ZOO

    subprocess.run([sys.executable, f"{HERE}/make.py", MODELS, *names], check=True)
    passed = failed = 0
    for name in names:
        for options in variants(ZOO[name]):
            start = time.monotonic()
            try:
                document = export(f"{MODELS}/{name}.pt", f"{MODELS}/{name}.onnx", *options)
                passed += 1
                what = f"{document['nodes']} nodes"
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                what = f"FAILED {error}"
            print(f"{name} {' '.join(options)}: {what} ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
