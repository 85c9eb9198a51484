import detectors
import numpy
import torch

# torchvision's detectors as the tests make them: random weights that give pictures clear detections.
detector, images = detectors.make("ssdlite")


class Boxes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.detector = detector

    def forward(self, image: torch.Tensor):
        found = self.detector([image])[1][0]
        return found["boxes"], found["scores"], found["labels"]


torch.jit.script(Boxes().eval()).save("ssdlite.pt")
numpy.savez("image.npz", image=images[0].numpy())
