"""Scripted modules that only Python's front end can write: classes, enums, named tuples, submodules in containers, fork and
wait, with-blocks, f-strings, packed sequences. PROGRAMS[NAME] gives the module, inputs(NAME) what it runs on."""

import math
from enum import Enum
from typing import Any, Dict, List, NamedTuple, Optional  # noqa: UP035  TorchScript's own spelling

import torch
from torch import Tensor, nn

PROGRAMS: dict[str, type[nn.Module]] = {}


def program(cls):
    PROGRAMS[cls.__name__] = cls
    return cls


class Color(Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


@torch.jit.script
class Scaler:
    def __init__(self, factor: float):
        self.factor = factor
        self.calls = 0

    def scale(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * self.factor + self.calls


@torch.jit.interface
class Layer(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Linear(nn.Module):
    def __init__(self, factor: float):
        super().__init__()
        self.factor, self.linear = factor, nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * self.factor


@program
class EnumAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.color = Color.RED

    def forward(self, x: Tensor):
        return x + 1 if self.color == Color.RED else x + 2


@program
class NamedTupleResult(nn.Module):
    def forward(self, x: Tensor):
        pair = Pair(x, x * 2)
        if x.sum() > 0:
            pair = Pair(pair.second, pair.first)
        return pair


@program
class ClassInstance(nn.Module):
    def forward(self, x: Tensor):
        scaler = Scaler(2.0)
        y = scaler.scale(x)
        if x.sum() > 0:
            y = scaler.scale(y)
        return y, scaler.calls


@program
class ModuleContainers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Linear(i + 1.0) for i in range(3)])
        self.heads = nn.ModuleDict({"a": Linear(2.0), "b": Linear(3.0)})

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
        for _, head in self.heads.items():
            x = x + head(x)
        return x


@program
class Interface(nn.Module):
    layer: Layer

    def __init__(self):
        super().__init__()
        self.layer = Linear(2.0)

    def forward(self, x: Tensor):
        return self.layer.forward(x)


@program
class ForkAndWait(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Linear(1.0), Linear(2.0)

    def forward(self, x: Tensor):
        left = torch.jit.fork(self.a, x)
        rest: List[torch.jit.Future[Tensor]] = []
        for i in range(3):
            rest.append(torch.jit.fork(self.b, x * i))
        out: List[Tensor] = [torch.jit.wait(left)]
        for future in rest:
            out.append(torch.jit.wait(future))
        return torch.stack(out)


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.n = start

    def __enter__(self):
        self.n += 1
        return self.n

    def __exit__(self, kind: Any, value: Any, trace: Any):
        self.n *= 2


@program
class WithBlocks(nn.Module):
    def forward(self, x: Tensor):
        counter = Counter(3)
        with torch.no_grad():
            y = x * 2
        with counter as n:
            y = y + n
        return y, counter.n


@program
class TextOfSizes(nn.Module):
    def forward(self, x: Tensor, mode: str = "sum"):
        if f"{x.size(0)}-{x.dim()}" == "2-2" and mode == "sum":
            return x.sum()
        return x.mean()


@program
class Checks(nn.Module):
    def forward(self, x: Tensor):
        assert x.dim() == 2, f"got {x.dim()}"
        if x.size(1) != 3:
            raise ValueError("three columns")
        if bool(x.sum() > 1e9):
            raise RuntimeError("too large")
        return x + 1


@program
class Mathematics(nn.Module):
    def forward(self, x: Tensor):
        v = float(x.abs().sum()) + 1
        powers = math.sqrt(v), math.log(v), math.exp(-v), math.pow(v, 0.5)
        angles = math.sin(v), math.cos(v), math.atan2(v, 2.0), math.tanh(v), math.pi * v
        return powers, angles, math.floor(v), math.ceil(v), math.fmod(v, 1.5), math.isnan(v)


@program
class Attributes(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3))
        self.calls, self.sizes, self.table = 0, [1, 2, 3], {"a": 1.5}

    def forward(self, x: Tensor):
        self.calls += 1
        self.seen = self.seen + x.sum(0)
        return x * self.calls + self.seen * self.sizes[2] * self.table["a"]


@program
class DictOfLists(nn.Module):
    def forward(self, x: Tensor):
        groups: Dict[str, List[Tensor]] = {}
        groups["a"] = [x]
        groups["a"].append(x * 2)
        n = 0
        for name in groups:
            n += len(groups[name])
        return torch.cat(groups["a"]) * n


@program
class Optionals(nn.Module):
    def forward(self, x: Tensor):
        parts: List[Optional[Tensor]] = [None, x]
        for part in parts:
            if part is not None:
                x = x + part
        return x


@program
class Writes(nn.Module):
    def forward(self, x: Tensor):
        y = x.clone()
        y[..., 0] = 0
        y[0, 1:] = 7
        y[:, -1] += 2
        y.t()[1].mul_(3)
        y[torch.tensor([0, 1]), torch.tensor([1, 2])] = -1.0
        y.narrow(0, 0, 1).fill_(9)
        y.view(-1)[::2] = 5
        return y


@program
class WhereItIsPositive(nn.Module):
    def forward(self, x: Tensor):
        return torch.where(x > 0)[0], torch.masked_select(x, x > 0), x.nonzero().t()[0]


@program
class PackedSequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(3, 4, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, (h, c) = self.lstm(packed)
        y, n = nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        others, last = self.gru(packed)
        z, _ = nn.utils.rnn.pad_packed_sequence(others, batch_first=True)
        return y, n, h, z, last


@program
class CustomLstm(nn.Module):
    """Time is dynamic: the steps become one Loop with scan outputs."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, x: Tensor):
        outputs = torch.jit.annotate(List[Tensor], [])
        h, c = torch.zeros(x.size(1), 4), torch.zeros(x.size(1), 4)
        for step in x.unbind(0):
            h, c = self.cell(step, (h, c))
            outputs += [h]
        return torch.stack(outputs), h


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(7, 4), nn.GRUCell(4, 4), nn.Linear(4, 7)

    def step(self, token: Tensor, state: Tensor):
        state = self.cell(self.embed(token), state)
        return self.head(state).log_softmax(-1), state


@program
class SequenceToSequence(Decoder):
    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(3, 4)

    def forward(self, x: Tensor):
        _, state = self.encoder(x.unsqueeze(1))
        state = state[0]
        token = torch.zeros(1, dtype=torch.long)
        out: List[Tensor] = []
        while len(out) < 2 * x.size(0) + 3:
            scores, state = self.step(token, state)
            token = scores.argmax(-1)
            out.append(token)
            if int(token) == 3:
                break
        return torch.stack(out), state


@program
class BeamSearch(Decoder):
    def forward(self, x: Tensor):
        state = torch.tanh(x.sum(0)).repeat(2, 2)[:, :4]
        scores = torch.tensor([0.0, -1e4])
        tokens = torch.zeros(2, 1, dtype=torch.long)
        for i in range(x.size(0)):
            step, state = self.step(tokens[:, -1], state)
            best, index = (scores.unsqueeze(1) + step).view(-1).topk(2)
            beam = torch.div(index, 7, rounding_mode="floor")
            tokens = torch.cat([tokens[beam], (index % 7).unsqueeze(1)], 1)
            scores, state = best, state[beam]
        return tokens, scores


@program
class TransducerGreedy(Decoder):
    """An RNN transducer: of each frame symbols are taken until a blank comes; the predictor moves on with each symbol."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(3, 4, bidirectional=True)
        self.joint = nn.Linear(12, 7)

    def forward(self, x: Tensor):
        frames, _ = self.encoder(x.unsqueeze(1))
        state = torch.zeros(1, 4)
        _, state = self.step(torch.zeros(1, dtype=torch.long), state)
        out: List[int] = []
        t = 0
        while t < frames.size(0):
            symbol = int(self.joint(torch.cat([frames[t], state], 1)).argmax())
            if symbol == 0 or len(out) >= 3 * (t + 1):
                t += 1
            else:
                out.append(symbol)
                _, state = self.step(torch.tensor([symbol]), state)
        return torch.tensor(out), len(out)


def inputs(name):
    """The --input options, and the runs: inputs that take different ways."""
    rows = torch.tensor([[1.0, -2.0, 3.0], [0.5, 1.5, -0.5]])
    if name == "PackedSequences":
        x = torch.linspace(-1, 1, 30).view(2, 5, 3)
        return ["x:float32[2,5,3]", "lengths:int64[2]"], [(x, torch.tensor(n)) for n in ([2, 5], [4, 1], [5, 5])]
    if name == "CustomLstm":
        runs = [(torch.linspace(-1, 1, t * b * 3).view(t, b, 3),) for t, b in ((4, 2), (1, 3), (9, 1))]
        return ["x:float32[T,B,3]"], runs
    if name in ("SequenceToSequence", "BeamSearch", "TransducerGreedy"):
        return ["x:float32[T,3]"], [(torch.linspace(-1, 1, t * 3).view(t, 3) * k,) for t, k in ((2, 1), (5, -2), (1, 3))]
    return ["x:float32[2,3]"], [(rows,), (-rows,), (rows * 0,)]
