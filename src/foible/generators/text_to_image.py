"""Stable Diffusion from a local folder, with a LoRA file and a prompt per class, as GIFTbench uses it.

The latent is the initial noise; DDIM with eta = 0 makes the image a function of it. Weights are never downloaded.
Differs from GIFTbench in: origins are accepted and searched with the same guidance.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor
from torch.nn import functional

from foible.errors import MissingExtra, ModelError, RecipeError
from foible.generators.denoising import Predict, denoised, noised
from foible.generators.library import import_diffusers
from foible.generators.stored import SPACE_SAMPLE
from foible.types import Images, Latents, LatentSpace


class TextToImage:
    """Latent noise and a prompt to an image, and back.

    Args:
        folder: a pipeline as diffusers saves it, with `model_index.json`.
        prompts: the prompt of each class, by class number.
        shape: channels, height and width of the images handed on; the pipeline's own are resized.
        lora: a LoRA file (safetensors) to load on top.
        steps: denoising steps per image.
        guidance: how strongly the prompt is insisted on.
    """

    prefers = "sampled"

    def __init__(
        self,
        folder: str,
        prompts: Mapping[str, str],
        shape: tuple[int, int, int] = (3, 224, 224),
        lora: str | None = None,
        steps: int = 15,
        guidance: float = 3.5,
    ) -> None:
        self.name, self.shape, self.steps, self.guidance = Path(folder).name, tuple(shape), steps, guidance
        self.prompts = {int(label): text for label, text in prompts.items()}
        self.pipeline = load_pipeline(Path(folder), Path(lora) if lora else None)
        self.network = self.pipeline.unet
        self.pipeline.scheduler.set_timesteps(steps)
        for part in (self.network, self.pipeline.vae, self.pipeline.text_encoder):
            part.eval().requires_grad_(False)
        side = self.pipeline.unet.config.sample_size
        size = (self.pipeline.unet.config.in_channels, side, side)
        draws = torch.randn(SPACE_SAMPLE, *size, generator=torch.Generator().manual_seed(0))
        self.space = LatentSpace.measured(draws)
        self._embedded: dict[int, tuple[Tensor, Tensor]] = {}

    def to(self, device: torch.device) -> None:
        """Move the pipeline to a device; the space stays where searches work, on the CPU."""
        self.pipeline.to(device)
        self._embedded.clear()

    def sample(self, labels: Tensor, rng: torch.Generator) -> Latents:
        """Normal noise (N, channels, height, width) of the latent image."""
        return self.space.clamp(torch.randn((len(labels), *self.space.shape), generator=rng))

    def decode(self, latents: Latents, labels: Tensor) -> Images:
        """Images in [0, 1], resized by area to `shape`."""
        predict, dtype = self._predict(labels)
        pictures = denoised(self.pipeline.scheduler, predict, latents.to(dtype))
        vae = self.pipeline.vae
        images = vae.decode(pictures / vae.config.scaling_factor, return_dict=False)[0].to(latents.dtype)
        resized = functional.interpolate(images.div(2).add(0.5).clamp(0, 1), self.shape[1:], mode="area")
        return resized.mean(1, keepdim=True) if self.shape[0] == 1 else resized

    @torch.no_grad()
    def encode(self, images: Images, labels: Tensor) -> Latents:
        """The noise of which these images are made, nearly: the steps of `decode` solved backwards, with its settings."""
        predict, dtype = self._predict(labels)
        vae, side = self.pipeline.vae, self.space.shape[-1] * self.pipeline.vae_scale_factor
        enlarged = functional.interpolate(images.to(dtype), (side, side), mode="bilinear", antialias=True)
        pictures = vae.encode(enlarged.expand(-1, 3, -1, -1) * 2 - 1).latent_dist.mode() * vae.config.scaling_factor
        noise = noised(self.pipeline.scheduler, predict, pictures, float(self.space.high.max()))
        return self.space.clamp(noise.to(images.dtype))

    def _predict(self, labels: Tensor) -> tuple[Predict, torch.dtype]:
        """The network with the prompts of these classes, and the precision it works in."""
        wanted, free = (torch.cat(parts) for parts in zip(*map(self._prompt, labels.tolist()), strict=True))
        return partial(self._noise, torch.cat([free, wanted])), wanted.dtype

    def _noise(self, prompts: Tensor, pictures: Tensor, time: Tensor) -> Tensor:
        """What the network takes for noise, with the prompt insisted on."""
        both = self.network(pictures.repeat(2, 1, 1, 1), time, encoder_hidden_states=prompts, return_dict=False)[0]
        free, wanted = both.chunk(2)
        noise: Tensor = free + self.guidance * (wanted - free)
        return noise

    @torch.no_grad()
    def _prompt(self, label: int) -> tuple[Tensor, Tensor]:
        """The embedded prompt of a class and that of no prompt, computed once."""
        if label not in self.prompts:
            raise RecipeError(
                f"generator '{self.name}' has no prompt for class {label}; it has some for {sorted(self.prompts)}",
                f'add one: prompts = {{ "{label}" = "a photo of ..." }}, or list the classes to use: classes = [...]',
            )
        if label not in self._embedded:
            self._embedded[label] = self.pipeline.encode_prompt(
                self.prompts[label], self.pipeline.device, 1, do_classifier_free_guidance=True
            )
        return self._embedded[label]


def load_pipeline(folder: Path, lora: Path | None = None) -> Any:
    """A Stable Diffusion pipeline from a folder, with a DDIM sampler and without a safety checker or progress bar."""
    if not (folder / "model_index.json").is_file():
        raise ModelError(
            f"no text-to-image pipeline in '{folder}': there is no model_index.json",
            f"save one there with diffusers: StableDiffusionPipeline.from_pretrained(...).save_pretrained({str(folder)!r})",
        )
    if lora is not None and not lora.is_file():
        raise ModelError(f"no LoRA file '{lora}'", "name a .safetensors file, or leave lora out")
    diffusers = import_diffusers("a text-to-image model")
    if lora is not None:
        _need_peft()  # better missed now than after the pipeline has been loaded
    try:
        pipeline = diffusers.StableDiffusionPipeline.from_pretrained(
            folder, local_files_only=True, safety_checker=None, requires_safety_checker=False
        )
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the pipeline in '{folder}' cannot be loaded: {str(error).splitlines()[0]}", "copy the whole folder again"
        ) from error
    pipeline.scheduler = diffusers.DDIMScheduler.from_config(pipeline.scheduler.config)
    pipeline.set_progress_bar_config(disable=True)
    if lora is not None:
        _add_lora(pipeline, lora)
    return pipeline


def _need_peft() -> None:
    try:
        import peft  # noqa: F401  # diffusers puts LoRA layers in with it
    except ImportError:
        raise MissingExtra("peft", "lora", "a LoRA file") from None


def _add_lora(pipeline: Any, lora: Path) -> None:
    try:
        pipeline.load_lora_weights(lora.parent, weight_name=lora.name, local_files_only=True, use_safetensors=True)
        pipeline.fuse_lora()
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(
            f"'{lora}' is no LoRA that fits the pipeline: {str(error).splitlines()[0]}",
            "name a .safetensors file that was trained for this model, or leave lora out",
        ) from error
