"""On a terminal text has colours and fits its width; elsewhere, and with NO_COLOR, it is plain."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios

import torch

BINARY = os.environ["PT2ONNX_BINARY"]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(columns, *arguments, **environment):
    """What the command prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = subprocess.Popen([BINARY, *arguments], stdout=theirs, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                               env={**kept, "TERM": "xterm", **environment})  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not piece:
            break
        text += piece
    process.wait()
    return text.decode().replace("\r\n", "\n")


def without_code(line):
    return re.sub(r"`[^`]*`", "`", COLOUR.sub("", line))


class Broken(torch.nn.Module):
    def forward(self, x):
        return torch._dirichlet_grad(x, x, x)


with tempfile.TemporaryDirectory() as folder:
    file = f"{folder}/broken.pt"
    torch.jit.script(Broken()).save(file)
    check = ("check", file, "--input", "[3]")

    narrow, wide = on_terminal(60, *check), on_terminal(4000, *check)
    assert "\x1b[1;31merror[case-2]\x1b[0m" in narrow, narrow
    assert narrow.count("\n") > wide.count("\n"), (narrow, wide)
    for line in narrow.splitlines():
        assert len(without_code(line)) <= 60, line
    assert COLOUR.sub("", narrow).split() == COLOUR.sub("", wide).split(), "the same words"

    assert not COLOUR.search(on_terminal(60, *check, NO_COLOR="1"))
    plain = subprocess.run([BINARY, *check], capture_output=True, text=True).stdout
    assert not COLOUR.search(plain)
    assert plain == COLOUR.sub("", wide), "no line is broken where there is no terminal"

    explained = on_terminal(50, "explain", "mylib::foo")
    assert all(len(without_code(line)) <= 50 for line in explained.splitlines()), explained
print("5 passed, 0 failed")
