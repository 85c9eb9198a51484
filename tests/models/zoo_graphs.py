"""Graph networks of torch-geometric: nodes and edges as inputs, both of any number."""

import functools

import torch
from torch import nn

from zoo import ZOO, Entry


class TwoLayers(nn.Module):
    def __init__(self, convolution, **options):
        super().__init__()
        import torch_geometric.nn

        layer = getattr(torch_geometric.nn, convolution)
        self.first, self.second = layer(8, 16, **options), layer(16, 4, **options)

    def forward(self, nodes, edges):
        return self.second(self.first(nodes, edges).relu(), edges)


def _graph(convolution, **options):
    return TwoLayers(convolution, **options), (torch.randn(6, 8), torch.randint(0, 6, (2, 15)))


for _name in ("GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "GraphConv", "TransformerConv", "TAGConv", "ARMAConv",
              "ResGatedGraphConv", "GENConv"):  # fmt: skip
    ZOO["graph_" + _name.lower()] = Entry(
        functools.partial(_graph, _name), dynamic="all", package="torch_geometric", opsets=(18, 20)
    )
