"""Reports are what their schemas say, and the HTML page reads well in a browser.

SARIF's published schema comes from a pinned npm package, kept in .deps; that of our own documents is docs/json.schema.json.
Exits with 77 (skipped, for ctest) and says so when jsonschema, npm or a browser is missing; what can be checked is checked
before.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import torch

try:
    import jsonschema
except ImportError:
    print("SKIPPED: the Python package jsonschema is missing (scripts/bootstrap --tests)")
    sys.exit(77)

BINARY = os.environ["PT2ONNX_BINARY"]
ROOT = pathlib.Path(__file__).parents[2]
SARIF_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SARIF_SHA256 = "748e2c3d1a842e7bb258416685c7ea3a0da40005b72267b2052c2856d48ad102"
skipped = []
checks = 0


def run(*arguments, code=0):
    result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == code, (arguments, result.returncode, result.stderr)
    return result.stdout


def passed(what):
    global checks
    checks += 1
    print("ok:", what)


def sarif_schema():
    path = ROOT / ".deps/sarif-2.1.0.json"
    if not path.exists():
        if not shutil.which("npm"):
            return None
        with tempfile.TemporaryDirectory() as folder:
            pack = subprocess.run(["npm", "pack", "--silent", SARIF_PACKAGE], cwd=folder, capture_output=True, text=True)
            if pack.returncode != 0:
                return None
            archive = pathlib.Path(folder) / pack.stdout.strip().splitlines()[-1]
            assert hashlib.sha256(archive.read_bytes()).hexdigest() == SARIF_SHA256
            with tarfile.open(archive) as files:
                path.write_bytes(files.extractfile("package/lib/schemas/sarif-2.1.0-rtm.5.json").read())
    return json.loads(path.read_text())


def document(command, text):
    schema = json.loads((ROOT / "docs/json.schema.json").read_text())
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{command}", "$defs": schema["$defs"]}).validate(json.loads(text))
    passed(f"the JSON of {command} fits its schema")


class Inner(torch.nn.Module):
    def forward(self, x):
        return torch._standard_gamma_grad(torch.sin(x), x)


class Broken(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Inner(), torch.nn.Sequential(torch.nn.ReLU())])

    def forward(self, x):
        y = self.blocks[0](x)
        x = self.blocks[1](y)
        return torch._dirichlet_grad(y, x, x) + torch.grid_sampler(x[None, None], x[:2, :2][None, None], 0, 0, False)


class Good(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
        self.act = torch.nn.Hardswish()

    def forward(self, x):
        y = self.body(x)
        return torch.relu(self.act(y) + y).mean()


def dom_of(browser, page):
    return subprocess.run([*browser, "--dump-dom", f"file://{page}"], capture_output=True, text=True, timeout=120).stdout


def details(dom, path):
    """The opening tag and the summary of a layer in the tree."""
    found = re.search(rf'<details id="layer-0-{re.escape(path)}"([^>]*)><summary>(.*?)</summary>', dom, re.DOTALL)
    assert found, (path, dom)
    return found.groups()


def boxes(dom):
    """Titles and states of the boxes of the picture."""
    picture = re.search(r'<div class="picture">(.*?)</div>', dom, re.DOTALL).group(1)
    return re.findall(r'<g class="(\w+)"><title>([^<\n]*)', picture), picture


with tempfile.TemporaryDirectory() as folder:
    bad, good = f"{folder}/broken net.pt", f"{folder}/good.pt"
    torch.jit.script(Broken()).save(bad)
    torch.jit.script(Good()).save(good)
    bad_input, good_input = ("--input", "x:[4,4]"), ("--input", "x:[1,3,8,8]")

    document("export", run("export", good, *good_input, "-o", f"{folder}/g.onnx", "--format", "json"))
    document("export", run("export", bad, *bad_input, "-o", f"{folder}/b.onnx", "--format", "json", code=3))
    document("check", run("check", bad, *bad_input, "--opset", "13-16", "--format", "json", code=3))
    document("explain", run("explain", "asinh", "grid_sampler", "mylib::foo", "mode", "--opset", 13, "--format", "json"))
    document("ops", run("ops", "pool", "--format", "json"))
    document("inspect", run("inspect", good, "--format", "json"))
    try:
        document("check", json.dumps({"version": 1, "files": [{"file": 3}]}))
        raise SystemExit("the schema of check accepts anything")
    except jsonschema.ValidationError:
        passed("the schema of check refuses what is wrong")

    schema = sarif_schema()
    if schema is None:
        skipped.append(f"npm, or its package {SARIF_PACKAGE}, which has SARIF's schema")
    for name, file, inputs, code in (("bad", bad, bad_input, 3), ("good", good, good_input, 0)):
        for suffix in ("sarif", "html", "json"):
            run("check", file, *inputs, "--report", f"{folder}/{name}.{suffix}", code=code)
        document("export", pathlib.Path(f"{folder}/{name}.json").read_text())
        sarif = json.loads(pathlib.Path(f"{folder}/{name}.sarif").read_text())
        if schema is not None:
            validator = jsonschema.validators.validator_for(schema)
            validator(schema, format_checker=validator.FORMAT_CHECKER).validate(sarif)
            passed(f"{name}.sarif fits SARIF's published schema")
        assert bool(sarif["runs"][0]["results"]) == (name == "bad")
    for result in json.loads(pathlib.Path(f"{folder}/bad.sarif").read_text())["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"].endswith("test_reports.py"), place
        line = pathlib.Path(__file__).read_text().splitlines()[place["region"]["startLine"] - 1]
        assert "torch._" in line, (place, line)
        passed("a SARIF result points at the line in Python")

    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        skipped.append("a browser (Debian: apt-get install chromium)")
    else:
        for name in ("bad", "good"):
            headless = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
            page = pathlib.Path(f"{folder}/{name}.html")
            assert "http" not in page.read_text(), "the page needs no network"
            dom = dom_of(headless, page)
            for look in ("light", "dark"):
                picture = pathlib.Path(os.environ.get("REPORT_PICTURES", folder)) / f"{name}-{look}.png"
                scheme = f"--blink-settings=preferredColorScheme={1 if look == 'light' else 0}"
                subprocess.run([*headless, scheme, f"--screenshot={picture}", "--window-size=1200,1600", f"file://{page}"],
                               capture_output=True, timeout=120, check=True)  # fmt: skip
                assert picture.stat().st_size > 10000, "a picture of something"
            if name == "bad":
                assert "not exportable" in dom and "aten::_dirichlet_grad" in dom and "test_reports.py:" in dom, dom
                assert 'data-shown="2"' in dom, "the script counts the findings that it shows"
                assert "2 operators not exportable" in details(dom, "")[1]
                attributes, summary = details(dom, "blocks.0")
                assert " open" in attributes and "1 operator not exportable" in summary, (attributes, summary)
                assert "Inner" in summary and "aten::_standard_gamma_grad" in attributes
                assert "behind what failed" in details(dom, "blocks.1.0")[1]
                found, picture = boxes(dom)
                assert found[:3] == [("done", "aten::sin"), ("failed", "aten::_standard_gamma_grad"),
                                     ("skipped", "aten::relu")], found  # fmt: skip
                assert "In the order of the run" in dom and 'class="by-order"' in picture
            else:
                assert "exportable" in dom and "<svg" in dom and ">Conv<" in dom and ">Relu<" in dom, dom
                assert "float32[1, 4, 6, 6]" in details(dom, "body.0")[1] and "Conv2d" in details(dom, "body.0")[1]
                found, picture = boxes(dom)
                assert found[0] == ("port", "x") and found[1] == ("done", "Conv") and found[-1][0] == "port", found
                # x, Conv, BatchNormalization, HardSwish, Add, Relu, ReduceMean, the output; and the way around.
                assert len(found) == 8 and picture.count('class="flow"') == 8, picture
                assert 'href="#layer-0-body.0"' in picture
            # What somebody types into the search of the layers.
            word = "blocks.0" if name == "bad" else "batchnorm"
            typed = pathlib.Path(f"{folder}/typed.html")
            typed.write_text(page.read_text() + f"""<script>
                const box = document.querySelector('.search[aria-label="search the layers"]');
                box.value = '{word}'; box.dispatchEvent(new Event('input'));</script>""")
            searched = dom_of(headless, typed)
            kept, other = ("blocks.0", "blocks.1") if name == "bad" else ("body.1", "act")
            assert "hidden" not in details(searched, kept)[0] and "hidden" not in details(searched, "")[0]
            assert "hidden" in details(searched, other)[0] and "hidden" not in details(dom, other)[0]
            passed(f"{name}.html in {browser}")

for what in skipped:
    print("SKIPPED: there is no", what)
print(f"{checks} passed, 0 failed")
sys.exit(77 if skipped else 0)
