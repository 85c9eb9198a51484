import torch

# torchvision's own schema. pt2onnx has a kernel of it for running the reference; torchvision need not be there.
vision = torch.library.Library("torchvision", "DEF")
vision.define(
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask) -> Tensor"
)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.offset = torch.nn.Conv2d(3, 18, 3, padding=1)
        self.weight = torch.nn.Parameter(torch.randn(4, 3, 3, 3))
        self.bias = torch.nn.Parameter(torch.randn(4))

    def forward(self, x):
        offset = self.offset(x)
        return torch.ops.torchvision.deform_conv2d(
            x, self.weight, offset, torch.zeros(0, 1), self.bias, 1, 1, 1, 1, 1, 1, 1, 1, False
        )


torch.manual_seed(0)
torch.jit.script(Net().eval()).save("net.pt")
