"""Page View: what is drawn, and what the colours mean."""

from __future__ import annotations

from typing import Any

from tools.dashboard import style
from tools.dashboard.page import Context
from tools.dashboard.scene import FOOT_RGB, FORCE_RGB, GHOST, PATH_RGB, STEP_RGB, TRAIL_RGB

LAYERS = (
    ("ghost", "true state (ghost)"),
    ("forces", "ground forces"),
    ("plan", "predicted path, footsteps"),
    ("trail", "trail of the body"),
)
LEGEND = (
    (FOOT_RGB["stance"], "foot: planned to stand, and it carries"),
    (FOOT_RGB["planned"], "foot: planned to stand, carries nothing"),
    (FOOT_RGB["felt"], "foot: carries, planned to swing"),
    (FOOT_RGB["swing"], "foot: in the air"),
    (FORCE_RGB, "ground force (true where known, else estimated)"),
    (PATH_RGB, "path the MPC predicts"),
    (STEP_RGB, "planned footsteps"),
    (TRAIL_RGB, "where the body was"),
    (GHOST[0], "true state of the simulator"),
)


class ViewPage:
    """Switches and a legend."""

    def __init__(self, context: Context) -> None:
        gui, scene = context.server.gui, context.scene
        follow = gui.add_checkbox("camera follows", scene.follow)

        @follow.on_update
        async def _(_event: Any) -> None:
            scene.follow = follow.value

        for key, label in LAYERS:
            box = gui.add_checkbox(label, scene.shown[key])
            box.on_update(self._switch(scene, key, box))
        rows = [[f'<span class="d-dot" style="background:rgb{rgb}"></span>', style.safe(text)] for rgb, text in LEGEND]
        gui.add_html('<div class="d-head">colours</div>' + style.table(("", ""), rows))

    @staticmethod
    def _switch(scene: Any, key: str, box: Any) -> Any:
        async def on_update(_event: Any) -> None:
            scene.shown[key] = box.value

        return on_update

    def update(self, _now: float) -> None:
        """Nothing moves here."""
