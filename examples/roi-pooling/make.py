import numpy
import torch

mylib = torch.library.Library("mylib", "DEF")
mylib.define("roi_pooling(Tensor features, Tensor rois, float scale, int size) -> Tensor")
# torchvision's own schema. pt2onnx has a kernel of it for running the reference; torchvision need not be there.
vision = torch.library.Library("torchvision", "DEF")
vision.define(
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor"
)


class Net(torch.nn.Module):
    def forward(self, features, rois):
        return torch.ops.mylib.roi_pooling(features, rois, 0.5, 3)


class Reference(torch.nn.Module):
    def forward(self, features, rois):
        return torch.ops.torchvision.roi_align(features, rois, 0.5, 3, 3, 2, True)


torch.jit.script(Net()).save("net.pt")
torch.jit.script(Reference()).save("reference.pt")

torch.manual_seed(0)
features = torch.rand(2, 4, 8, 8)
rois = torch.tensor([[0, 1, 2, 9, 8], [0, 3, 3, 15, 12], [1, 0, 4, 7, 15.0]])  # image, x1, y1, x2, y2
numpy.savez("inputs.npz", features=features.numpy(), rois=rois.numpy())
