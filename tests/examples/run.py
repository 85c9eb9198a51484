"""Runs an example as its README tells it: run.py FOLDER [--update].

Commands are the lines that begin with `$ ` in blocks marked ```console; what follows a command, up to the next one, must
be what it prints (stdout and stderr together). They run in a copy of the folder, one after the other, with bash and with
pt2onnx and this Python first on the PATH; $PT2ONNX_ROOT is the repository. A command that fails must say so by a last
line `exit code N`. Numbers behind "max abs" and "max rel" may differ, a line `...` stands for any lines.

An example proves nothing unless ONNX Runtime ran its model: some output must have the line `verify   ok`.

--update writes what the commands print into the README, leaving `...` out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 900
ROUNDING = re.compile(r"(max (?:abs|rel)) [0-9.e+-]+")


class Command:
    def __init__(self, text, first):
        self.text = text
        self.expected = []
        self.first = first  # index of the first line of its output


def commands_of(lines):
    commands, inside = [], False
    for index, line in enumerate(lines):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            commands.append(Command(line[2:], index + 1))
        elif inside and commands and commands[-1].text.endswith("\\") and not commands[-1].expected:
            commands[-1].text = commands[-1].text[:-1] + line.strip()
            commands[-1].first = index + 1
        elif inside:
            if not commands:
                sys.exit(f"line {index + 1}: output before the first command")
            commands[-1].expected.append(line)
    return commands


def run(command, folder, environment):
    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
    )
    # The folder is the user's own: places in it are shown as if by their relative path.
    lines = [line.rstrip() for line in done.stdout.replace(f"{folder}/", "").splitlines()]
    return lines + ([f"exit code {done.returncode}"] if done.returncode else [])


def without_rounding(line):
    return ROUNDING.sub(r"\1 #", line).rstrip()


def agree(expected, actual):
    """Whether the lines are the same, where `...` is any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(agree(expected[1:], actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and without_rounding(expected[0]) == without_rounding(actual[0]) and agree(expected[1:], actual[1:])


def environment():
    binary = Path(os.environ.get("PT2ONNX_BINARY", ROOT / "build/release/bin/pt2onnx"))
    # The caller's settings of Python or of the output must not show in what is compared.
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PT2ONNX"))}
    kept["PATH"] = os.pathsep.join([str(binary.parent), str(Path(sys.executable).parent), kept["PATH"]])
    kept.update(PT2ONNX_ROOT=str(ROOT), PYTHONWARNINGS="ignore", HF_HUB_OFFLINE="1", LC_ALL="C.UTF-8")
    return kept


def main():
    source = Path(sys.argv[1])
    readme = source / "README.md"
    lines = readme.read_text().splitlines()
    commands = commands_of(lines)
    if not commands:
        sys.exit(f"{readme}: no command in a ```console block")
    failed = False
    actual = []
    with tempfile.TemporaryDirectory(prefix="pt2onnx_example_") as temporary:
        folder = Path(temporary) / source.name
        shutil.copytree(source, folder)
        for command in commands:
            actual.append(run(command, folder, environment()))
            if "--update" not in sys.argv and not agree(command.expected, actual[-1]):
                failed = True
                print(f"{readme}:{command.first}: `{command.text}` does not print what is written there, but:")
                print("\n".join(actual[-1]), end="\n\n")
    if not any("verify   ok" in line for output in actual for line in output):
        failed = True
        print(f"{readme}: ONNX Runtime verified no model")
    if "--update" in sys.argv:
        for command, output in reversed(list(zip(commands, actual))):
            lines[command.first : command.first + len(command.expected)] = output
        readme.write_text("\n".join(lines) + "\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
