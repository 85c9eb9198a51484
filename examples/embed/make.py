"""net.pt uses an operator of a library of one's own; reference.pt computes the same with PyTorch's."""

import torch

library = torch.library.Library("mylib", "DEF")
library.define("square_plus_one(Tensor x) -> Tensor")


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.ops.mylib.square_plus_one(x).sum(1)


class Reference(torch.nn.Module):  # what the operator computes, for comparing
    def forward(self, x):
        return (x * x + 1).sum(1)


torch.jit.script(Net()).save("net.pt")
torch.jit.script(Reference()).save("reference.pt")
