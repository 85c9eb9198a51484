"""torchvision's detectors with random weights, small and lively: make(NAME) gives the module and three images.

Scores of an untrained network are almost equal, and then rounding decides which boxes stay. The layers are scaled so that
what they give is spread, and the score threshold is set so that the two pictures have detections and the third
image, a grey one, has none.
"""

import torch
from torch import nn

import torchvision_on_cpu  # noqa: F401  before torchvision
from torchvision.models import detection

_NO_WEIGHTS = {"weights": None, "weights_backbone": None}
_SMALL = {**_NO_WEIGHTS, "min_size": 128, "max_size": 192, "detections_per_img": 12}
_RCNN = {**_SMALL, "rpn_pre_nms_top_n_test": 60, "rpn_post_nms_top_n_test": 20, "box_detections_per_img": 12}
del _RCNN["detections_per_img"]

DETECTORS = {
    "fasterrcnn": lambda: detection.fasterrcnn_mobilenet_v3_large_fpn(**_RCNN, num_classes=4),
    "maskrcnn": lambda: detection.maskrcnn_resnet50_fpn(**_RCNN, num_classes=4),
    "keypointrcnn": lambda: detection.keypointrcnn_resnet50_fpn(**_RCNN, num_classes=2, num_keypoints=5),
    "retinanet": lambda: detection.retinanet_resnet50_fpn(**_SMALL, num_classes=4, topk_candidates=60),
    "fcos": lambda: detection.fcos_resnet50_fpn(**_SMALL, num_classes=4, topk_candidates=60),
    "ssd300": lambda: detection.ssd300_vgg16(**_NO_WEIGHTS, num_classes=4, topk_candidates=60, detections_per_img=12),
    "ssdlite": lambda: detection.ssdlite320_mobilenet_v3_large(
        **_NO_WEIGHTS, num_classes=4, topk_candidates=60, detections_per_img=12
    ),
}

# The spread that the results of a layer shall have, by the end of its name; of any other layer, 1.
_SPREAD = {
    "rpn.head.cls_logits": 2.0,
    "rpn.head.bbox_pred": 0.2,
    "box_predictor.cls_score": 2.0,
    "mask_fcn_logits": 2.0,
    "kps_score_lowres": 2.0,
    "classification_head.cls_logits": 2.0,
    "bbox_reg": 0.3,
}


def _spread_once(name, part):
    """At its first call the layer's weights are scaled until its results have their spread."""
    spread = next((spread for ending, spread in _SPREAD.items() if name.endswith(ending)), 1.0)

    def hook(layer, inputs, output):
        handle.remove()
        bias = 0 if layer.bias is None else layer.bias.view(-1, *[1] * (output.dim() - 2))
        factor = spread / max((output - bias).std().item(), 1e-6)
        layer.weight.mul_(factor)
        return (output - bias) * factor + bias

    handle = part.register_forward_hook(hook)


def _images(module):
    sizes = (10, 13), (12, 9)
    blobs = [nn.functional.interpolate(torch.rand(1, 3, *size), scale_factor=12, mode="bicubic") for size in sizes]
    grey = torch.tensor(module.transform.image_mean).view(3, 1, 1).expand(3, 130, 140).clone()
    return [*(blob[0].clamp(0, 1) for blob in blobs), grey]


@torch.no_grad()
def make(name):
    for seed in range(10):
        torch.manual_seed(seed)
        module = DETECTORS[name]().eval()
        for path, part in module.named_modules():
            if isinstance(part, nn.Conv2d | nn.ConvTranspose2d | nn.Linear):
                _spread_once(path, part)
        images = _images(module)
        owner = getattr(module, "roi_heads", module)
        owner.score_thresh = 0.0
        module(images[:1])
        best = [module([image])[0]["scores"].max().item() for image in images]
        if min(best[:2]) > best[2] + 0.1:
            owner.score_thresh = (min(best[:2]) + 3 * best[2]) / 4
            return module, images
    raise AssertionError(f"{name}: no threshold tells pictures from grey")


class OneImage(nn.Module):
    """What can be traced: one image in, a tuple of tensors out."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, image):
        return tuple(self.net([image])[0].values())
