"""`check` and `inspect` read no weights that the answer does not need, and true ones where it does."""

import json
import os
import pathlib
import subprocess
import tempfile

import torch

BINARY = os.environ["PT2ONNX_BINARY"]
MIB = 1 << 20
checks = 0


def run(*arguments):
    """Exit code, stdout, and the most memory that the process had, in bytes."""
    process = subprocess.Popen([BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), out, usage.ru_maxrss * 1024


def passed(what):
    global checks
    checks += 1
    print("ok:", what)


class Wide(torch.nn.Module):
    """400 MB of weights in one matrix, which becomes one Gemm."""

    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.utils.skip_init(torch.nn.Linear, size, size)
        torch.nn.init.constant_(self.linear.weight, 0.5)

    def forward(self, x):
        return self.linear(x)


class Deciding(torch.nn.Module):
    """The sum of a weight decides whether an operator that has no mapping is reached."""

    def __init__(self, value):
        super().__init__()
        self.w = torch.nn.Parameter(torch.full((4096,), value))

    def forward(self, x):
        if bool(self.w.sum() > 0):
            return torch._dirichlet_grad(x, x, x)
        return x + self.w


class Shared(torch.nn.Module):
    """Tensors over one storage, one of them at an offset; what they hold decides."""

    def __init__(self):
        super().__init__()
        base = torch.arange(8192.0)
        self.register_buffer("a", base)
        self.register_buffer("b", base[4096:])

    def forward(self, x):
        if int(self.b[1]) == 4097:
            return x[:1] + self.a[4096], self.b[1:3]
        return torch._dirichlet_grad(x, x, x), x


class Quantized(torch.nn.Module):
    """Its packed weights are made while the file is loaded."""

    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.linear = torch.nn.Linear(128, 128)
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(self.linear(self.quant(x)))


def quantized():
    net = Quantized().eval()
    net.qconfig = torch.ao.quantization.get_default_qconfig("onednn")
    torch.ao.quantization.prepare(net, inplace=True)
    net(torch.randn(4, 128))
    torch.ao.quantization.convert(net, inplace=True)
    return net


with tempfile.TemporaryDirectory() as folder:
    big, small = f"{folder}/big.pt", f"{folder}/small.pt"
    with torch.no_grad():
        torch.jit.trace(Wide(10240), torch.zeros(1, 10240)).save(big)
        torch.jit.trace(Wide(32), torch.zeros(1, 32)).save(small)
    assert pathlib.Path(big).stat().st_size > 400 * MIB
    for command in ("check", "inspect"):
        (code, _, usual), (big_code, _, peak) = run(command, small), run(command, big)
        assert code == big_code == 0
        assert peak < usual + 64 * MIB, (command, peak / MIB, usual / MIB)
        passed(f"{command} of 400 MB of weights takes {(peak - usual) / MIB:.0f} MB more than of none")

    content = pathlib.Path(big).read_bytes()
    at = content.index(b"\x00\x00\x00\x3f" * 1024)  # 0.5
    with open(big, "r+b") as file:
        file.seek(at + 100 * MIB)
        file.write(b"\xff")
    assert run("check", big)[0] == 0
    code, out, _ = run("export", big, "--no-verify", "-o", f"{folder}/big.onnx", "--format", "json")
    assert code == 4 and "checksum" in json.loads(out)["error"], (code, out)
    passed("a weight that is damaged is for export to find")

    with open(big, "r+b") as file:
        file.seek(content.rindex(b"PK\x03\x04", 0, at))  # its header
        file.write(b"XX")
    code, out, _ = run("check", big, "--format", "json")
    assert code == 4 and "damaged" in json.loads(out)["files"][0]["error"], (code, out)
    passed("an archive that is damaged beside its weights is no model")

    for value, wanted in ((-1.0, 0), (1.0, 3)):
        torch.jit.script(Deciding(value)).save(small)
        assert run("check", small, "--input", "[4096]")[0] == wanted
    passed("weights that decide are the true ones")

    torch.jit.script(Shared()).save(small)
    for arguments in (["check", small], ["export", small, "-o", f"{folder}/shared.onnx"]):
        assert run(*arguments, "--input", "[4]")[0] == 0, arguments
    passed("tensors over one storage")

    torch.jit.script(quantized()).save(small)
    for arguments in (["check", small], ["export", small, "-o", f"{folder}/quantized.onnx"]):
        assert run(*arguments, "--input", "[4,128]")[0] == 0, arguments
    passed("packed weights of a quantized module")

print(f"{checks} passed, 0 failed")
