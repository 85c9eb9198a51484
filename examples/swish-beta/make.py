import torch

library = torch.library.Library("mylib", "DEF")
library.define("swish(Tensor x, float beta=1.0) -> Tensor")


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.ops.mylib.swish(x, 1.5) + torch.ops.mylib.swish(x)


class Reference(torch.nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.5 * x) + x * torch.sigmoid(x)


torch.jit.script(Net()).save("net.pt")
torch.jit.script(Reference()).save("reference.pt")
