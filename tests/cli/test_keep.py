"""--keep-module and --keep-function: what is kept, under which name, and that ONNX Runtime still agrees with libtorch."""

import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Tuple

import onnx
import torch
from torch import nn

warnings.simplefilter("ignore")

BINARY = os.environ["PT2ONNX_BINARY"]


@torch.jit.script
def squash(x, low: float, high: float):
    return torch.exp(torch.clamp(x, low, high))


@torch.jit.script
def split_in_two(x) -> Tuple[torch.Tensor, torch.Tensor]:
    return x.exp(), x.view(x.size(0), -1) * 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        y = self.second(self.first(x))
        return self.head(squash(y.mean([2, 3]), -1.0, 1.0))


class Looping(nn.Module):
    """The call is in the body of a loop, and the callee has a branch that depends on data."""

    def __init__(self):
        super().__init__()
        self.step = Step()

    def forward(self, x, n: int):
        for _ in range(n):
            x = self.step(x)
        return x


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        if bool(x.sum() > 0):
            x = self.linear(x)
        else:
            x = x + 1
        return x


class InPlace(nn.Module):
    def forward(self, x):
        y = x.clone()
        z = write(y)
        a, b = split_in_two(z)
        return y, a, b


@torch.jit.script
def write(y):
    y[:, 0] = 0.5
    return y * 2


class SecondOnly(nn.Module):
    def forward(self, x):
        return split_in_two(x)[1]


class Untranslatable(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = Odd()

    def forward(self, x):
        return self.odd(x, 3) + 1


class Odd(nn.Module):
    def forward(self, x, k: int):
        return torch.linalg.eigvals(x).real * k


def pt2onnx(*arguments):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)


class Keep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def export(self, module, *arguments, code=0):
        path = self.folder / f"{self.id()}.pt"
        torch.jit.script(module.eval()).save(path)
        out = path.with_suffix(".onnx")
        run = pt2onnx("export", path, "-o", out, *arguments)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run, onnx.load(out) if code == 0 else None

    def kept(self, model):
        return [(n.domain, n.op_type) for n in model.graph.node if n.domain]

    def test_a_module_becomes_a_function_that_onnx_runtime_runs(self):
        run, model = self.export(Net(), "--input", "x:float32[N,3,H,W]", "--keep-module", "first")
        self.assertIn("verify   ok", run.stdout)
        self.assertEqual(self.kept(model), [("local", "first")])
        (function,) = model.functions
        self.assertEqual([n.op_type for n in function.node], ["Conv", "BatchNormalization", "Relu", "Add"])
        self.assertEqual(function.input[0], "x")
        self.assertEqual(len(function.output), 1)
        self.assertEqual(len(model.graph.node[0].input), 7, "the tensor and six parameters")

    def test_a_class_keeps_all_its_instances_and_equal_bodies_are_one_function(self):
        run, model = self.export(Net(), "--input", "x:float32[N,3,8,8]", "--keep-module", "Block=mine::Block")
        self.assertIn("verify   ok", run.stdout)
        self.assertEqual(self.kept(model), [("mine", "Block")] * 2)
        self.assertEqual([f.name for f in model.functions], ["Block"])

    def test_a_function(self):
        run, model = self.export(Net(), "--input", "x:float32[N,3,8,8]", "--keep-function", "squash=custom_domain::customOp2")
        self.assertIn("verify   ok", run.stdout)
        self.assertEqual(self.kept(model), [("custom_domain", "customOp2")])
        self.assertEqual([n.op_type for n in model.functions[0].node if n.op_type != "Constant"], ["Clip", "Exp"])

    def test_traced_modules_too(self):
        torch.manual_seed(0)
        path = self.folder / "traced.pt"
        torch.jit.trace(Net().eval(), torch.randn(2, 3, 8, 8)).save(path)
        run = pt2onnx("export", path, "--keep-module", "second")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("verify   ok", run.stdout)
        self.assertEqual(self.kept(onnx.load(path.with_suffix(".onnx"))), [("local", "second")])

    def test_inside_a_loop_with_a_branch_inside(self):
        run, model = self.export(Looping(), "--input", "x:float32[N,4]", "--input", "n:int64[]", "--keep-module", "step")
        self.assertIn("verify   ok", run.stdout)
        (loop,) = [n for n in model.graph.node if n.op_type == "Loop"]
        body = next(a.g for a in loop.attribute if a.name == "body")
        self.assertEqual([n.op_type for n in body.node if n.domain], ["step"])
        self.assertIn("If", [n.op_type for n in model.functions[0].node])

    def test_writes_to_arguments_several_results_and_sizes(self):
        run, model = self.export(InPlace(), "--input", "x:float32[N,4,2]", "--keep-function", "write", "--keep-function", "split_in_two")
        self.assertIn("verify   ok", run.stdout)
        self.assertEqual(self.kept(model), [("local", "write"), ("local", "split_in_two")])
        self.assertEqual([len(f.input) for f in model.functions], [1, 1])
        self.assertEqual([len(f.output) for f in model.functions], [2, 2])

    def test_every_opset(self):
        for opset in (9, 13, 18, 23):
            run, model = self.export(Net(), "--input", "x:float32[N,3,8,8]", "--keep-module", "Block", "--opset", opset)
            self.assertIn("verify   ok", run.stdout)

    def test_bare(self):
        run, model = self.export(
            Net(), "--input", "x:float32[N,3,8,8]", "--keep-module", "first=mine::First", "--keep-function", "squash=mine::Squash", "--keep-bare"
        )
        self.assertIn("verify   skipped: the model has nodes of the domain `mine`", run.stdout)
        self.assertEqual(self.kept(model), [("mine", "First"), ("mine", "Squash")])
        self.assertEqual(len(model.functions), 0)
        squash_node = model.graph.node[-2]
        self.assertEqual({a.name: round(a.f or a.i) for a in squash_node.attribute}, {"low": -1, "high": 1})
        self.assertEqual(len(squash_node.input), 1)

    def test_outputs_of_bare_nodes_keep_their_places(self):
        run, model = self.export(SecondOnly(), "--input", "x:float32[N,4]", "--keep-function", "split_in_two", "--keep-bare")
        (node,) = model.graph.node
        self.assertEqual(list(node.output), ["", "output"])
        run, model = self.export(SecondOnly(), "--input", "x:float32[N,4]", "--keep-function", "split_in_two")
        self.assertIn("verify   ok", run.stdout)

    def test_check(self):
        path = self.folder / "check.pt"
        torch.jit.script(Net().eval()).save(path)
        run = pt2onnx("check", path, "--input", "x:float32[N,3,8,8]", "--keep-module", "first", "--opset", "9-11")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_bare_although_the_body_cannot_be_translated(self):
        run, model = self.export(Untranslatable(), "--input", "x:float32[4,4]", "--keep-module", "odd=mine::Odd", "--keep-bare")
        self.assertEqual([(n.domain, n.op_type) for n in model.graph.node], [("mine", "Odd"), ("", "Add")])
        self.assertEqual([(a.name, a.i) for a in model.graph.node[0].attribute], [("k", 3)])
        self.assertIn("although its body cannot be translated", run.stderr)
        run, _ = self.export(Untranslatable(), "--input", "x:float32[4,4]", "--keep-module", "odd", code=3)

    def test_wrong_names(self):
        for arguments, words in [
            (("--keep-module", "frist"), "--keep-module frist: the program has no such submodule or class; near: first"),
            (("--keep-module", "zzz"), "it has first, first.conv"),
            (("--keep-function", "sqash"), "--keep-function sqash: the program has no such function; near: squash"),
            (("--keep-function", "forward"), "the program has no such function"),
            (("--keep-module", "first=Op"), "write NAME=domain::Op"),
            (("--keep-module", "=a::b"), "write NAME"),
            (("--keep-bare",), "--keep-bare"),
        ]:
            run, _ = self.export(Net(), "--input", "x:float32[N,3,8,8]", *arguments, code=2)
            self.assertIn(words, run.stderr)

    def test_what_nothing_calls_is_said(self):
        run, model = self.export(Net(), "--input", "x:float32[N,3,8,8]", "--keep-module", "first", "--keep-module", "first.conv")
        self.assertIn("--keep-module first.conv: nothing calls it", run.stderr)
        self.assertEqual(self.kept(model), [("local", "first")])


if __name__ == "__main__":
    sys.exit(unittest.main())
