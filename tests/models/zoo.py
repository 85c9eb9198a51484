"""The whole models that pt2onnx is tested on: random weights from fixed seeds, small inputs.

Each entry builds (module, example inputs); `how` says whether the file is traced or scripted. `dynamic` is what the test
passes to --dynamic beside the static run, `inputs` the --input lines that a scripted file needs.
"""

import dataclasses
import functools
from collections.abc import Callable

import torch
from torch import nn

import torchvision_on_cpu  # noqa: F401  before torchvision


@dataclasses.dataclass
class Entry:
    build: Callable
    how: str = "trace"
    inputs: tuple = ()
    dynamic: str | None = "batch"
    opsets: tuple = (13, 17, 20)
    fast: bool = False  # part of the short suite
    package: str = "torch"  # what it is built with


ZOO: dict[str, Entry] = {}


def entry(name, **fields):
    def add(build):
        ZOO[name] = Entry(build, **fields)
        return build

    return add


def image(size=64, channels=3):
    return torch.randn(1, channels, size, size)


# ---- torchvision ---------------------------------------------------------------------------------------------------


def _vision(name, size, **options):
    import torchvision

    return torchvision.models.get_model(name, weights=None, **options), (image(size),)


_VISION = {
    "resnet18": 64, "resnet50": 64, "mobilenet_v2": 64, "mobilenet_v3_small": 64, "efficientnet_b0": 64,
    "densenet121": 64, "googlenet": 64, "inception_v3": 96, "shufflenet_v2_x1_0": 64, "squeezenet1_1": 64,
    "convnext_tiny": 64, "vit_b_16": 224, "swin_t": 64,
}  # fmt: skip
for _name, _size in _VISION.items():
    _options = {"init_weights": False} if _name in ("googlenet", "inception_v3") else {}
    ZOO[_name] = Entry(
        functools.partial(_vision, _name, _size, **_options), fast=_name in ("resnet18", "mobilenet_v3_small")
    )


@entry("deeplabv3_resnet50")
def _():
    import torchvision

    class Logits(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torchvision.models.segmentation.deeplabv3_resnet50(
                weights=None, weights_backbone=None, num_classes=5
            )

        def forward(self, x):
            return self.net(x)["out"]

    return Logits(), (image(64),)


for _name in ("resnet18", "mobilenet_v2"):
    ZOO[_name + "_scripted"] = Entry(
        functools.partial(_vision, _name, 64), how="script", inputs=("x:float32[1,3,64,64]",), fast=_name == "resnet18"
    )


# ---- transformers --------------------------------------------------------------------------------------------------


class Outputs(nn.Module):
    """A transformers model whose forward gives the plain tensors of its output."""

    def __init__(self, net, *keys, **fixed):
        super().__init__()
        self.net, self.keys, self.fixed = net, keys, fixed

    def forward(self, *args):
        out = self.net(*args, **self.fixed)
        return tuple(out[k] for k in self.keys)


def tokens(length=10, vocab=99):
    return torch.randint(1, vocab, (1, length))


_SMALL = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 37}  # fmt: skip


@entry("bert", dynamic="all", fast=True)
def _():
    from transformers import BertConfig, BertModel

    net = BertModel(BertConfig(**_SMALL, max_position_embeddings=64))
    return Outputs(net, "last_hidden_state", "pooler_output"), (tokens(), torch.ones(1, 10, dtype=torch.long))


@entry("distilbert", dynamic="all")
def _():
    from transformers import DistilBertConfig, DistilBertModel

    net = DistilBertModel(
        DistilBertConfig(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=37, max_position_embeddings=64)
    )
    return Outputs(net, "last_hidden_state"), (tokens(), torch.ones(1, 10, dtype=torch.long))


@entry("gpt2", dynamic="all")
def _():
    from transformers import GPT2Config, GPT2LMHeadModel

    net = GPT2LMHeadModel(GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64))
    return Outputs(net, "logits", use_cache=False), (tokens(),)


@entry("llama", dynamic="all")
def _():
    from transformers import LlamaConfig, LlamaForCausalLM

    net = LlamaForCausalLM(LlamaConfig(**_SMALL, num_key_value_heads=2, max_position_embeddings=64))
    return Outputs(net, "logits", use_cache=False), (tokens(),)


@entry("t5_encoder", dynamic="all")
def _():
    from transformers import T5Config, T5EncoderModel

    net = T5EncoderModel(T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4))
    return Outputs(net, "last_hidden_state"), (tokens(),)


@entry("vit")
def _():
    from transformers import ViTConfig, ViTModel

    sizes = {k: v for k, v in _SMALL.items() if k != "vocab_size"}
    return Outputs(ViTModel(ViTConfig(**sizes, image_size=32, patch_size=8)), "last_hidden_state"), (image(32),)


@entry("clip")
def _():
    from transformers import CLIPConfig, CLIPModel, CLIPTextConfig, CLIPVisionConfig

    sizes = {k: v for k, v in _SMALL.items() if k != "vocab_size"}
    config = CLIPConfig(
        text_config=CLIPTextConfig(**_SMALL, max_position_embeddings=32, eos_token_id=98).to_dict(),
        vision_config=CLIPVisionConfig(**sizes, image_size=32, patch_size=8).to_dict(),
        projection_dim=16,
    )
    net = Outputs(CLIPModel(config), "logits_per_image", "text_embeds", "image_embeds")
    return net, (tokens(7), image(32), torch.ones(1, 7, dtype=torch.long))


# ---- recurrent, attention, convolutional ---------------------------------------------------------------------------


@entry("lstm", dynamic="input:0=time,1=batch", fast=True)
def _():
    return nn.LSTM(6, 5, num_layers=2, bidirectional=True), (torch.randn(7, 2, 6),)


@entry("gru", dynamic="input:0=batch,1=time")
def _():
    return nn.GRU(6, 5, num_layers=2, bidirectional=True, batch_first=True), (torch.randn(2, 7, 6),)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(50, 8), nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(12, 4)

    def forward(self, words):
        states, _ = self.rnn(self.embed(words))
        return self.head(states).log_softmax(-1)


@entry("lstm_scripted", how="script", inputs=("words:int64[2,9]",), fast=True)
def _():
    return Tagger(), (torch.randint(0, 50, (2, 9)),)


@entry("transformer_encoder", dynamic="all")
def _():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 2), (torch.randn(2, 6, 16),)


class UNet(nn.Module):
    """Two levels, with what U-Nets of the wild have: skip connections, padding to the size of the skip."""

    def __init__(self):
        super().__init__()

        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

        self.down = nn.ModuleList([block(3, 8), block(8, 16)])
        self.bottom = block(16, 32)
        self.up = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, stride=2), nn.ConvTranspose2d(16, 8, 2, stride=2)])
        self.merge = nn.ModuleList([block(32, 16), block(16, 8)])
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        skips: list[torch.Tensor] = []
        for down in self.down:
            x = down(x)
            skips.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.bottom(x)
        skips.reverse()
        for i, (up, merge) in enumerate(zip(self.up, self.merge)):
            x = up(x)
            skip = skips[i]
            dh, dw = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
            x = nn.functional.pad(x, [dw // 2, dw - dw // 2, dh // 2, dh - dh // 2])
            x = merge(torch.cat([skip, x], dim=1))
        return self.head(x)


@entry("unet_scripted", how="script", inputs=("x:float32[1,3,30,34]",), fast=True)
def _():
    return UNet(), (torch.randn(1, 3, 30, 34),)
