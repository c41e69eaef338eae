"""A film of a rollout: the simulator's camera with time, mode and speeds drawn in, as MP4 or GIF."""

from __future__ import annotations

import contextlib
import importlib
import math
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lcmtypes.channels import GROUND_TRUTH, MODE_STATE, MOTION_COMMAND
from procs.model.robot import Robot
from procs.model.rotations import quat_to_rpy
from sim.camera import HEIGHT, VIEWS, WIDTH, Camera
from sim.plant import SimPlant
from tools.recording import Recording

__all__ = ["VIEWS", "Video", "VideoError"]
MP4_RATE = 25.0  # frames per second of simulated time
GIF_RATE = 12.5  # a GIF counts in hundredths of a second
GIF_COLOURS = 64
MEAN = 0.2  # s, over which the true speed is averaged
INSTALL = ".venv/bin/python -m pip install imageio-ffmpeg"


class VideoError(Exception):
    """A film that cannot be written, in words."""


class Mp4:
    """H.264 by the ffmpeg that imageio-ffmpeg brings."""

    rate, size = MP4_RATE, (WIDTH, HEIGHT)

    def __init__(self, out: Path) -> None:
        self.out = out
        try:
            ffmpeg = importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe()
        except (ImportError, RuntimeError) as error:
            raise VideoError(f"{out}: MP4 needs imageio-ffmpeg ({INSTALL}); a .gif needs nothing") from error
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads could block
        command = [ffmpeg, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
        command += ["-r", f"{MP4_RATE:g}", "-i", "-", "-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20"]
        command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", "-y", str(out)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,  # Ctrl-C is ours alone, we end it
        )

    def add(self, picture: Image.Image) -> None:
        """Append a picture."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(picture.tobytes())
        except BrokenPipeError:
            raise VideoError(self._said()) from None

    def _said(self) -> str:
        self.process.wait()
        self.errors.seek(0)
        return f"{self.out}: ffmpeg: {self.errors.read().decode(errors='replace').strip() or self.process.returncode}"

    def close(self) -> None:
        """End of input; ffmpeg writes what is left."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its exit code says it
            self.process.stdin.close()
        failed = self.process.wait() != 0
        said = self._said()
        self.errors.close()
        if failed:
            raise VideoError(said)


class Gif:
    """An animation by Pillow, half the size; the pictures stay in memory until the end."""

    rate, size = GIF_RATE, (WIDTH // 2, HEIGHT // 2)

    def __init__(self, out: Path) -> None:
        self.out = out
        self.pictures: list[Image.Image] = []

    def add(self, picture: Image.Image) -> None:
        """Append a picture in the colours of the first one."""
        if not self.pictures:
            self.pictures.append(picture.quantize(GIF_COLOURS, dither=Image.Dither.NONE))
        else:
            self.pictures.append(picture.quantize(palette=self.pictures[0], dither=Image.Dither.NONE))

    def close(self) -> None:
        """Write the file."""
        if self.pictures:
            first, *rest = self.pictures
            first.save(self.out, save_all=True, append_images=rest, duration=round(1000 / GIF_RATE), loop=0)


class Video:
    """Films a rollout: `watch` after each tick, and close, or leave the `with`, at the end, however it comes."""

    def __init__(self, out: Path, robot: Robot, view: str = "tracking") -> None:
        """Raises VideoError for what can be known to fail before the run."""
        kinds: dict[str, type[Mp4] | type[Gif]] = {".mp4": Mp4, ".gif": Gif}
        if out.suffix.lower() not in kinds:
            raise VideoError(f"{out}: a film ends with .mp4 or .gif")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.open("ab").close()
        except OSError as error:
            raise VideoError(f"{out}: {error.strerror}") from error
        self.out, self.robot, self.view = out, robot, view
        self.camera: Camera | None = None
        self.frames = 0
        self.encoder: Mp4 | Gif | None = None
        try:
            self.encoder = kinds[out.suffix.lower()](out)
        finally:
            if self.encoder is None and out.stat().st_size == 0:
                out.unlink()
        font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"
        self.font = ImageFont.truetype(font, max(11, self.encoder.size[1] // 24))

    def watch(self, plant: SimPlant, recording: Recording) -> None:
        """Take a picture if one is due."""
        truth = recording.of(GROUND_TRUTH)
        if self.encoder is None or not truth:
            return
        t = truth[-1].seq * self.robot.dt
        if t + 1e-9 < self.frames / self.encoder.rate:
            return
        if self.camera is None:
            self.camera = Camera(plant, self.view)
        self.frames += 1
        picture = Image.fromarray(self.camera.picture(t))
        if picture.size != self.encoder.size:
            picture = picture.resize(self.encoder.size, Image.Resampling.BOX)
        write(picture, caption(t, recording, round(MEAN / self.robot.dt)), self.font)
        self.encoder.add(picture)

    def close(self) -> None:
        """Finish the file with the pictures taken so far."""
        if self.camera is not None:
            self.camera.close()
        encoder, self.encoder = self.encoder, None
        if encoder is not None:
            encoder.close()

    def __enter__(self) -> Video:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.close()
        except VideoError:
            if error is None:  # else what went wrong first counts
                raise


def caption(t: float, recording: Recording, ticks: int) -> list[str]:
    """Time and mode, the wanted speed, the true one as a mean over `ticks`: heading frame, as commanded."""
    modes, commands = recording.of(MODE_STATE), recording.of(MOTION_COMMAND)
    mode = "starting" if not modes else f"walk {modes[-1].gait}" if modes[-1].mode == "walk" else modes[-1].mode
    c = commands[-1] if commands else None
    last = recording.of(GROUND_TRUTH)[-max(1, ticks) :]
    vx, vy, _ = np.mean([m.v_world for m in last], axis=0)
    yaw, turn = quat_to_rpy(last[-1].quat)[2], float(np.mean([m.omega_world[2] for m in last]))
    cos, sin = math.cos(yaw), math.sin(yaw)
    wanted = _speeds(c.vx, c.vy, c.yaw_rate) if c is not None else "-"
    return [
        f"{t:6.2f} s  {mode}",
        f"wanted {wanted}",
        f"true   {_speeds(cos * vx + sin * vy, cos * vy - sin * vx, turn)}",
    ]


def _speeds(vx: float, vy: float, turn: float) -> str:
    return " ".join(f"{v + 0.0:+5.2f}" for v in np.round((vx, vy), 2)) + f" m/s {np.round(turn, 2) + 0.0:+5.2f} rad/s"


def write(picture: Image.Image, lines: list[str], font: ImageFont.FreeTypeFont) -> None:
    """Draw lines into the upper left corner, dark on a light band."""
    draw = ImageDraw.Draw(picture)
    step = round(1.25 * font.size)
    draw.rectangle((0, 0, picture.width, step * len(lines) + 4), fill=(250, 250, 250))
    for k, line in enumerate(lines):
        draw.text((6, 2 + step * k), line, fill=(20, 20, 20) if k != 1 else (20, 80, 160), font=font)
