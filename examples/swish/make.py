import torch

library = torch.library.Library("mylib", "DEF")
library.define("my_swish(Tensor x) -> Tensor")


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.ops.mylib.my_swish(torch.ops.mylib.my_swish(x) + 1)


class Reference(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.silu(torch.nn.functional.silu(x) + 1)


torch.jit.script(Net()).save("net.pt")
torch.jit.script(Reference()).save("reference.pt")
