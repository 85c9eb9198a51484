"""Makes `import torchvision` work beside a CPU build of torch, with torchvision's own kernels.

PyPI's torchvision is built for CUDA: its C++ library asks the loader for CUDA libraries that a machine without a GPU does
not have. Its CPU kernels use nothing of them, so empty libraries of those names will do: each symbol that is asked for is
a function that gives zeros (a few of them run while the library registers its GPU code). The C compiler makes them, once.
"""

import ctypes
import importlib.util
import os
import subprocess
from pathlib import Path

import torch

_FOLDER = Path(__file__).parents[2] / "build" / "no_cuda"


def _output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _make(extension):
    """One library for each CUDA library that `extension` needs, in a form that the loader takes for it."""
    needed = [line.split("[")[1].rstrip("]") for line in _output("readelf", "-d", extension).splitlines() if "NEEDED" in line]
    missing = [name for name in needed if "cuda" in name]
    # A symbol with a version belongs to the library that the version names; any library may hold the others.
    symbols = {name: set() for name in missing}
    for line in _output("nm", "-D", "--undefined-only", extension).splitlines():
        symbol, _, version = line.split()[-1].partition("@")
        if version.strip("@") in symbols:
            symbols[version.strip("@")].add(symbol)
        elif not version and "cuda" in symbol:
            symbols[missing[-1]].add(symbol)
    folder = _FOLDER.with_name(f"{_FOLDER.name}.{os.getpid()}")
    folder.mkdir(parents=True)
    for name in missing:
        functions = "".join(f"void* {symbol}(void) {{ return zeros; }}\n" for symbol in sorted(symbols[name]))
        (folder / "a.c").write_text(f"static char zeros[4096];\n{functions}")
        (folder / "a.map").write_text(f"{name} {{ global: *; }};\n")
        subprocess.run(
            ["cc", "-w", "-fno-builtin", "-shared", "-fPIC", folder / "a.c", "-o", folder / name,
             f"-Wl,-soname,{name}", f"-Wl,--version-script={folder / 'a.map'}"],
            check=True,
        )  # fmt: skip
    (folder / "order").write_text("\n".join(missing))
    try:
        folder.rename(_FOLDER)
    except OSError:  # another process was faster
        pass


def _load():
    folder = Path(importlib.util.find_spec("torchvision").origin).parent
    if not (_FOLDER / "order").exists():
        _make(str(folder / "_C.so"))
    for name in (_FOLDER / "order").read_text().split():
        ctypes.CDLL(_FOLDER / name, ctypes.RTLD_GLOBAL)


if not torch.version.cuda:
    _load()
