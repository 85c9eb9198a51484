import torch
import torchvision_on_cpu  # noqa: F401  transformers imports torchvision; see the README
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

logging.set_verbosity_error()
torch.manual_seed(0)
config = GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64)


class Logits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = GPT2LMHeadModel(config).eval()

    def forward(self, input_ids):
        return self.net(input_ids, use_cache=False).logits


torch.jit.trace(Logits(), (torch.randint(99, (1, 10)),), check_trace=False).save("gpt2.pt")
