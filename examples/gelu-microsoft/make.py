import torch

torch.manual_seed(0)

net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2)).eval()
torch.jit.script(net).save("net.pt")
