import torch

torch.ops.load_library("build/libtorch_ops.so")

# torchvision's own schema. pt2onnx has a kernel of it for running the reference; torchvision need not be there.
vision = torch.library.Library("torchvision", "DEF")
vision.define(
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask) -> Tensor"
)


class Capped(torch.nn.Module):
    def forward(self, x):
        return torch.ops.mylib.softcap(x, 2.5).sum(-1)


class Deformed(torch.nn.Module):
    """Two groups of channels, two groups of offsets, a mask, a stride."""

    def __init__(self):
        super().__init__()
        self.offset = torch.nn.Conv2d(4, 2 * 2 * 9, 3, stride=2, padding=1)
        self.mask = torch.nn.Conv2d(4, 2 * 9, 3, stride=2, padding=1)
        self.weight = torch.nn.Parameter(torch.randn(6, 2, 3, 3))
        self.bias = torch.nn.Parameter(torch.randn(6))

    def forward(self, x):
        return torch.ops.torchvision.deform_conv2d(
            x, self.weight, self.offset(x), self.mask(x).sigmoid(), self.bias, 2, 2, 1, 1, 1, 1, 2, 2, True
        )


torch.manual_seed(0)
torch.jit.script(Capped()).save("capped.pt")
torch.jit.script(Deformed().eval()).save("deformed.pt")
