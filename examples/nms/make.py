import numpy
import torch

mylib = torch.library.Library("mylib", "DEF")
mylib.define("best_boxes(Tensor boxes, Tensor scores, float overlap) -> (Tensor, Tensor)")
# torchvision's own schema. pt2onnx has a kernel of it for running the reference; torchvision need not be there.
vision = torch.library.Library("torchvision", "DEF")
vision.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


class Net(torch.nn.Module):
    def forward(self, boxes, scores):
        kept, values = torch.ops.mylib.best_boxes(boxes, scores, 0.5)
        return kept, values * 100


class Reference(torch.nn.Module):
    def forward(self, boxes, scores):
        index = torch.ops.torchvision.nms(boxes, scores, 0.5)
        return boxes[index], scores[index] * 100


torch.jit.script(Net()).save("net.pt")
torch.jit.script(Reference()).save("reference.pt")

torch.manual_seed(0)
corners = torch.rand(30, 2) * 20
boxes = torch.cat([corners, corners + 5 + torch.rand(30, 2) * 10], 1)
numpy.savez("inputs.npz", boxes=boxes.numpy(), scores=torch.rand(30).numpy())
