"""Speech, music and time series: transformers, demucs."""

import torch
from torch import nn

from zoo import ZOO, Entry, Outputs, entry

_WAVE = {"vocab_size": 20, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 37, "conv_dim": (16, 16, 16), "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 2),
         "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2}  # fmt: skip


def _speech(kind, **more):
    def build():
        import transformers

        net = getattr(transformers, kind + "ForCTC")(getattr(transformers, kind + "Config")(**_WAVE, **more))
        return Outputs(net, "logits"), (torch.randn(1, 1600),)

    return build


for _kind in ("Wav2Vec2", "Hubert", "WavLM", "Wav2Vec2Conformer"):
    ZOO[_kind.lower()] = Entry(_speech(_kind), dynamic="all", package="transformers")
ZOO["sew"] = Entry(_speech("SEW", squeeze_factor=2), dynamic="all", package="transformers")


class Whisper(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, spectrum, words):
        return self.net(input_features=spectrum, decoder_input_ids=words, use_cache=False).logits


@entry("whisper", package="transformers")
def _():
    import transformers

    config = transformers.WhisperConfig(
        vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=37, decoder_ffn_dim=37, num_mel_bins=16, max_source_positions=20,
        max_target_positions=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    net = transformers.WhisperForConditionalGeneration(config)
    return Whisper(net), (torch.randn(1, 16, 40), torch.randint(3, 99, (1, 6)))


@entry("audio_spectrogram_transformer", package="transformers")
def _():
    import transformers

    config = transformers.ASTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, max_length=40,
        num_mel_bins=16, patch_size=8, frequency_stride=4, time_stride=4,
    )  # fmt: skip
    return Outputs(transformers.ASTForAudioClassification(config), "logits"), (torch.randn(1, 40, 16),)


class Codec(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, wave):
        return self.net.decoder(self.net.encoder(wave))


@entry("encodec", package="transformers")
def _():
    import transformers

    config = transformers.EncodecConfig(
        hidden_size=16, num_filters=4, upsampling_ratios=[4, 2], num_lstm_layers=1, codebook_size=16, codebook_dim=16,
        target_bandwidths=[1.5], sampling_rate=1600,
    )  # fmt: skip
    return Codec(transformers.EncodecModel(config)), (torch.randn(1, 1, 320),)


@entry("patch_time_series", package="transformers")
def _():
    import transformers

    config = transformers.PatchTSTConfig(
        num_input_channels=2, context_length=32, patch_length=8, patch_stride=8, d_model=16, num_hidden_layers=2,
        num_attention_heads=2, ffn_dim=16, prediction_length=4,
    )  # fmt: skip
    return Outputs(transformers.PatchTSTForPrediction(config), "prediction_outputs"), (torch.randn(1, 32, 2),)


@entry("demucs_hybrid", package="demucs", dynamic=None, opsets=(17, 20))
def _():
    from demucs.hdemucs import HDemucs

    return HDemucs(sources=["a", "b"], channels=8, nfft=4096, depth=6), (torch.randn(1, 2, 16384),)


@entry("demucs_transformer", package="demucs", dynamic=None, opsets=(17, 20))
def _():
    from demucs.htdemucs import HTDemucs

    net = HTDemucs(
        sources=["a", "b"], channels=8, nfft=512, depth=3, t_layers=1, t_heads=2, segment=1, samplerate=4096,
        bottom_channels=16, use_train_segment=False,
    )  # fmt: skip
    return net, (torch.randn(1, 2, 4096),)
