"""U-Net (Ronneberger et al., arXiv:1505.04597) with padding, batch norms and transposed convolutions, as in
today's implementations: 31 million parameters, a picture as input, and a score per class and pixel as output."""
import torch
from torch import nn


class Twice(nn.Sequential):
    """Two convolutions of 3 x 3: [pictures, few, rows, columns] to [pictures, many, rows, columns]."""

    def __init__(self, few, many):
        super().__init__(*[layer for size in (few, many) for layer in (
            nn.Conv2d(size, many, 3, padding=1, bias=False), nn.BatchNorm2d(many), nn.ReLU(inplace=True))])


class UNet(nn.Module):
    """[pictures, 3, rows, columns] to [pictures, classes, rows, columns]; rows and columns are halved for each width but
    the first, so a power of two divides them."""

    def __init__(self, num_classes=2, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        self.down = nn.ModuleList(Twice(few, many) for few, many in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(many, few, 2, stride=2) for few, many in zip(widths, widths[1:]))
        self.joined = nn.ModuleList(Twice(2 * width, width) for width in widths[:-1])
        self.last = nn.Conv2d(widths[0], num_classes, 1)

    def forward(self, x):
        kept = [x := self.down[0](x)]
        for layer in self.down[1:]:
            kept.append(x := layer(nn.functional.max_pool2d(x, 2)))
        for up, joined, beside in reversed(list(zip(self.up, self.joined, kept))):
            x = joined(torch.cat([beside, up(x)], 1))
        return self.last(x)
