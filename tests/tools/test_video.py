"""Films: file formats, caption, what is refused, and physics that does not know it is watched."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageFont

from config.load import load_robot, load_scenario
from config.scenario import PlantOptions
from procs.model.robot import Robot
from sim.camera import HEIGHT, VIEWS, WIDTH, Camera
from sim.plant import SimPlant
from tools import scenario, video
from tools.recording import Recording
from tools.stack import rollout
from tools.video import Video, VideoError, caption, write

ROBOT = Robot(load_robot("mini_cheetah"))
PUSHED = """\
name: pushed
duration: 0.5
commands:
  - {t: 0.0, mode: stand}
pushes:
  - {t: 0.1, duration: 0.1, force: [10, 30, 0]}
plant: {terrain: {kind: rough, height: 0.01}}
"""


def digest(recording: Recording) -> dict[str, str]:
    """A hash of all messages of each channel."""
    return {
        channel.name: hashlib.sha256(b"".join(m.encode() for m in messages)).hexdigest()
        for channel, messages in recording.messages.items()
    }


def test_a_gif_has_a_frame_every_80_ms_and_the_progress_goes_on(tiny, tmp_path, command_line, capsys):
    out = tmp_path / "folder" / "out.gif"
    assert command_line(scenario.main, tiny, "--set", "duration=1", "--video", out, "--camera", "side") == 0
    assert "13 frames" in capsys.readouterr().out
    with Image.open(out) as film:
        assert (film.n_frames, film.size, film.info["duration"]) == (13, (WIDTH // 2, HEIGHT // 2), 80)
        assert film.info["loop"] == 0


def test_an_mp4_plays_with_25_frames_per_second(tiny, tmp_path, command_line):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `video` is not installed").get_ffmpeg_exe()
    out = tmp_path / "out.mp4"
    assert command_line(scenario.main, tiny, "--video", out) == 0
    said = subprocess.run([ffmpeg, "-i", out, "-f", "null", "-"], capture_output=True, text=True, check=True).stderr
    assert "Duration: 00:00:00.40" in said and f"{WIDTH}x{HEIGHT}" in said and "25 fps" in said
    assert "frame=   10 " in said


def test_without_an_encoder_nothing_runs(tiny, tmp_path, command_line, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setattr(scenario, "rollout", lambda *_, **__: pytest.fail("started"))
    out = tmp_path / "out.mp4"
    assert command_line(scenario.main, tiny, "--video", out) == 2
    error = capsys.readouterr().err
    assert video.INSTALL in error and error.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--video", "OUT.gif", "--runner", "lcm"], "rollout runner"),
        (["--video", "OUT.gif", "--seeds", 2], "--seeds"),
        (["--camera", "top"], "--video"), (["--video", "OUT.gif", "--camera", "moon"], "tracking"),
        (["--video", "OUT.avi"], ".mp4 or .gif"), (["--video", "/proc/none/out.gif"], "/proc/none/out.gif"),
    ],
)  # fmt: skip
def test_bad_usage_exits_2_before_the_run(tiny, tmp_path, command_line, capsys, monkeypatch, arguments, says):
    monkeypatch.setattr(scenario, "rollout", lambda *_, **__: pytest.fail("started"))
    arguments = [str(a).replace("OUT", str(tmp_path / "out")) for a in arguments]
    assert command_line(scenario.main, tiny, *arguments) == 2
    assert says in capsys.readouterr().err


def test_messages_are_the_same_bit_for_bit_with_and_without_a_film(tmp_path):
    path = tmp_path / "pushed.yaml"
    path.write_text(PUSHED)
    pushed = load_scenario(path)
    plain = digest(rollout(pushed, ROBOT, seed=3))
    with Video(tmp_path / "out.gif", ROBOT, "leg") as film:
        assert digest(rollout(pushed, ROBOT, seed=3, watch=film.watch)) == plain
    assert film.frames == 7 and len(plain) > 5


@pytest.mark.parametrize("end", ["stop", "error"])
def test_a_run_cut_short_leaves_a_whole_file(tiny, tmp_path, end):
    out = tmp_path / "out.gif"
    film = Video(out, ROBOT)

    def stop() -> bool:
        if film.frames == 2 and end == "error":
            raise KeyboardInterrupt
        return film.frames == 2

    try:
        with film:
            rollout(load_scenario(tiny), ROBOT, seed=1, watch=film.watch, stop=stop)
    except KeyboardInterrupt:
        assert end == "error"
    with Image.open(out) as picture:
        assert picture.n_frames == 2


def test_an_encoder_that_dies_is_an_error_in_words(tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="the extra `video` is not installed")
    film = video.Mp4(tmp_path / "out.mp4")
    film.process.kill()
    film.process.wait()
    with pytest.raises(VideoError, match="ffmpeg"):
        film.add(Image.new("RGB", film.size))
    with pytest.raises(VideoError, match="ffmpeg"):
        film.close()


def test_the_caption_is_drawn_into_the_upper_left_corner(tiny, tmp_path):
    recording = rollout(load_scenario(tiny), ROBOT, seed=1)
    lines = caption(0.398, recording, 100)
    assert lines[0] == "  0.40 s  stand"
    assert lines[1] == "wanted +0.00 +0.00 m/s +0.00 rad/s" and lines[2].startswith("true   ")
    film = Video(tmp_path / "out.gif", ROBOT)
    film.close()
    assert isinstance(film.font, ImageFont.FreeTypeFont)
    blank, other = Image.new("RGB", (320, 240), (250, 250, 250)), Image.new("RGB", (320, 240), (250, 250, 250))
    written = blank.copy()
    write(written, lines, film.font)
    box = ImageChops.difference(written, blank).getbbox()
    assert box and box[3] - box[1] > 2 * film.font.size and box[2] < 300 and box[3] < 60
    write(other, ["  0.42 s  stand", *lines[1:]], film.font)
    assert ImageChops.difference(written, other).getbbox(), "another time looks different"


@pytest.mark.parametrize("name", ["mini_cheetah", "tocatl"])
def test_every_camera_sees_the_robot(name):
    plant = SimPlant(Robot(load_robot(name)), PlantOptions(), seed=1)
    plant.start(1)
    plant.read()
    seen = []
    for view in VIEWS:
        camera = Camera(plant, view)
        picture = camera.picture(0.0)
        camera.close()
        assert picture.shape == (HEIGHT, WIDTH, 3) and picture.dtype == np.uint8
        red, _green, blue = picture.astype(int).transpose(2, 0, 1)
        rows, columns = np.nonzero(abs(red - blue) > 60)  # legs
        assert len(rows) > 1500, view
        assert 100 < rows.mean() < 400 and 160 < columns.mean() < 480, view
        seen.append(picture)
    assert all((a != b).mean() > 0.05 for a in seen for b in seen if a is not b)
    plant.stop()
    with pytest.raises(ValueError, match="moon"):
        Camera(plant, "moon")


def test_the_ground_moves_with_the_plant_and_not_with_the_copy():
    plant = SimPlant(ROBOT, PlantOptions(terrain={"kind": "slope", "deg": 10}), seed=1)
    plant.start(1)
    plant.read()
    camera = Camera(plant, "top")
    first = camera.picture(0.0)
    position, *rest = plant.base
    step = np.array([np.cos(np.radians(10)), 0, np.sin(np.radians(10))])
    plant.base = (position + 0.5 * step, *rest)  # two squares uphill: the same picture
    assert (abs(camera.picture(10.0).astype(int) - first) > 40).mean() < 0.02
    plant.base = (position + 0.75 * step, *rest)
    assert (abs(camera.picture(20.0).astype(int) - first) > 40).mean() > 0.02
    camera.close()
    plant.stop()
