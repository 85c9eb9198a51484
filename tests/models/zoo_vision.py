"""Vision models of timm, transformers, segmentation_models_pytorch, ultralytics and torchvision."""

import functools

import torch
from torch import nn

from zoo import ZOO, Entry, Outputs, entry, image

# ---- timm ----------------------------------------------------------------------------------------------------------


def _timm(name, size):
    import timm

    return timm.create_model(name, pretrained=False), (image(size),)


for _name, _size in (
    ("tf_efficientnetv2_b0", 64), ("convnext_atto", 64), ("mobilevit_xxs", 64), ("edgenext_xx_small", 64),
    ("coat_tiny", 224), ("cait_xxs24_224", 224), ("xcit_nano_12_p16_224", 224), ("levit_128s", 224),
    ("poolformer_s12", 64), ("halonet26t", 256), ("maxxvit_rmlp_nano_rw_256", 256), ("res2net50_26w_4s", 64),
):  # fmt: skip
    ZOO[f"timm_{_name}"] = Entry(functools.partial(_timm, _name, _size), package="timm", opsets=(13, 20))

# ---- transformers --------------------------------------------------------------------------------------------------


def add(name, kind, head, inputs, keys=("last_hidden_state",), **config):
    def build():
        import transformers

        net = getattr(transformers, kind + head)(getattr(transformers, kind + "Config")(**config))
        return Outputs(net, *keys), inputs()

    ZOO[name] = Entry(build, package="transformers")


_PATCHES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37,
            "image_size": 32, "patch_size": 8}  # fmt: skip
_STAGES = {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}
_ATTENDING = {**_STAGES, "num_attention_heads": [1, 2, 2, 2]}


def _small():
    return (image(32),)


def _larger():
    return (image(64),)


add("beit", "Beit", "Model", _small, **_PATCHES, use_relative_position_bias=True)
add("dinov2", "Dinov2", "Model", _small, **{k: v for k, v in _PATCHES.items() if k != "intermediate_size"})
add("swinv2", "Swinv2", "Model", _small, image_size=32, patch_size=2, embed_dim=8, depths=[1, 1], num_heads=[2, 2],
    window_size=4)  # fmt: skip
add("focalnet", "FocalNet", "Model", _small, image_size=32, patch_size=2, embed_dim=8, depths=[1, 1],
    focal_levels=[2, 2], focal_windows=[3, 3])  # fmt: skip
add("pvt_v2", "PvtV2", "Model", _larger, image_size=64, **_ATTENDING)
add("segformer", "Segformer", "ForSemanticSegmentation", _larger, ("logits",), **_ATTENDING, decoder_hidden_size=16)
add("glpn", "GLPN", "Model", _larger, **_ATTENDING)
add("dpt", "DPT", "ForDepthEstimation", _small, ("predicted_depth",), **{**_PATCHES, "num_hidden_layers": 4},
    backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=16)  # fmt: skip
add("yolos", "Yolos", "ForObjectDetection", _small, ("logits", "pred_boxes"), **{**_PATCHES, "image_size": [32, 32]},
    num_detection_tokens=5)  # fmt: skip


def _detr(kind):
    import transformers

    backbone = transformers.ResNetConfig(embedding_size=8, **{**_STAGES}, out_features=["stage4"])
    config = getattr(transformers, kind + "Config")(
        backbone_config=backbone, use_timm_backbone=False, backbone=None, use_pretrained_backbone=False, d_model=32,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=37,
        decoder_ffn_dim=37, num_queries=6,
    )  # fmt: skip
    return Outputs(getattr(transformers, kind + "ForObjectDetection")(config), "logits", "pred_boxes"), _larger()


for _kind in ("Detr", "ConditionalDetr"):
    ZOO[_kind.lower()] = Entry(functools.partial(_detr, _kind), package="transformers")


@entry("rt_detr", package="transformers", opsets=(16, 20))
def _():
    import transformers

    backbone = transformers.RTDetrResNetConfig(
        embedding_size=8, **_STAGES, layer_type="basic", out_features=["stage2", "stage3", "stage4"]
    )
    config = transformers.RTDetrConfig(
        backbone_config=backbone, encoder_hidden_dim=32, encoder_in_channels=[16, 16, 16], encoder_layers=1,
        encoder_ffn_dim=32, encoder_attention_heads=2, d_model=32, num_queries=8, decoder_in_channels=[32, 32, 32],
        decoder_ffn_dim=32, decoder_layers=1, decoder_attention_heads=2, num_denoising=0,
    )  # fmt: skip
    return Outputs(transformers.RTDetrForObjectDetection(config), "logits", "pred_boxes"), _larger()


@entry("mask2former", package="transformers", opsets=(16, 20))
def _():
    import transformers

    backbone = transformers.SwinConfig(
        image_size=64, patch_size=4, embed_dim=8, depths=[1] * 4, num_heads=[2] * 4, window_size=4,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )  # fmt: skip
    config = transformers.Mask2FormerConfig(
        backbone_config=backbone, hidden_dim=32, feature_size=32, mask_feature_size=32, num_queries=6, encoder_layers=1,
        decoder_layers=2, num_attention_heads=4, dim_feedforward=37, encoder_feedforward_dim=37,
    )  # fmt: skip
    net = transformers.Mask2FormerForUniversalSegmentation(config)
    return Outputs(net, "class_queries_logits", "masks_queries_logits"), _larger()


# ---- segmentation_models_pytorch, ultralytics ----------------------------------------------------------------------


def _segmentation(architecture, encoder):
    import segmentation_models_pytorch

    net = getattr(segmentation_models_pytorch, architecture)(encoder, encoder_weights=None, classes=3)
    return net, (image(64),)


for _architecture, _encoder in (
    ("Unet", "resnet18"), ("UnetPlusPlus", "resnet18"), ("MAnet", "resnet18"), ("Linknet", "resnet18"),
    ("FPN", "resnet18"), ("PSPNet", "resnet18"), ("DeepLabV3Plus", "resnet18"), ("UPerNet", "resnet18"),
    ("Unet", "efficientnet-b0"), ("Unet", "mit_b0"), ("Segformer", "mit_b0"),
):  # fmt: skip
    ZOO[f"smp_{_architecture}_{_encoder}".lower()] = Entry(
        functools.partial(_segmentation, _architecture, _encoder), package="segmentation_models_pytorch", opsets=(20,)
    )


def _yolo(name):
    from ultralytics import YOLO

    net = YOLO(f"{name}.yaml").model.eval()
    for part in net.modules():
        if hasattr(part, "export"):  # the head gives boxes and nothing of its training
            part.export, part.format = True, "torchscript"
    return net, (image(64),)


for _name in ("yolov5n", "yolov8n", "yolov8n-seg", "yolov8n-pose", "yolov8n-obb", "yolov9t", "yolov10n", "yolo11n",
              "yolo12n"):  # fmt: skip
    ZOO[_name.replace("-", "_")] = Entry(functools.partial(_yolo, _name), package="ultralytics", opsets=(20,))

# ---- torchvision: segmentation and video, scripted; optical flow ---------------------------------------------------


def _torchvision(name, shape, **options):
    import torchvision

    return torchvision.models.get_model(name, weights=None, **options), (torch.randn(*shape),)


def _scripted(name, shape, argument="x", **options):
    return Entry(
        functools.partial(_torchvision, name, shape, **options), how="script",
        inputs=(f"{argument}:float32[{','.join(map(str, shape))}]",), package="torchvision", opsets=(20,),
    )  # fmt: skip


for _name, _argument in (("deeplabv3_mobilenet_v3_large", "x"), ("fcn_resnet50", "x"),
                         ("lraspp_mobilenet_v3_large", "input")):  # fmt: skip
    ZOO[_name + "_scripted"] = _scripted(
        _name, (1, 3, 64, 64), argument=_argument, weights_backbone=None, num_classes=5
    )
for _name in ("r3d_18", "mc3_18", "r2plus1d_18", "swin3d_t"):
    ZOO[_name + "_scripted"] = _scripted(_name, (1, 3, 8, 32, 32))


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        import torchvision

        self.net = torchvision.models.optical_flow.raft_small(weights=None)

    def forward(self, first, second):
        return self.net(first, second, num_flow_updates=2)[-1]


ZOO["raft_small"] = Entry(
    lambda: (Flow(), (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128))), package="torchvision", opsets=(20,)
)
