"""Figure: one robot in viser's scene. Links hang on each other, so that a joint that turns is one small message."""

from __future__ import annotations

from typing import Any

import numpy as np
import viser

from tools.dashboard.meshes import Mesh, foot_shape, heading_mesh, housing_mesh, housing_radius, link_mesh
from tools.dashboard.model import Model

STALE_RGB = (105, 108, 112)
STILL = 1e-4  # change of a quaternion or of m below which nothing is sent


class Figure:
    """A robot under one scene node; solid, or a translucent ghost of one colour."""

    def __init__(
        self, scene: viser.SceneApi, name: str, model: Model, ghost: tuple[tuple[int, int, int], float] | None = None
    ) -> None:
        self._scene, self._model, self._ghost = scene, model, ghost
        self.root = scene.add_frame(name, show_axes=False)
        self._colours: list[tuple[Any, tuple[int, int, int]]] = []
        self.joints: list[Any] = []
        self.feet: list[Any] = []
        self.links: list[Any] = []
        self.paths: dict[str, str] = {"body": name}
        self._grey = False
        self._q: np.ndarray | None = None
        self._pose = np.full(7, np.nan)
        housing = housing_radius(model)
        self._mesh(f"{name}/body", link_mesh(model.body))
        if ghost is None:
            self._mesh(f"{name}/heading", heading_mesh(model))
        for link in model.links:
            path = f"{self.paths[link.parent]}/{link.name}"
            self.paths[link.name] = path
            self.joints.append(scene.add_frame(path, show_axes=False, position=link.position, wxyz=link.quat))
            self.links.append(self._mesh(f"{path}/mesh", link_mesh(link)))
            self._mesh(f"{path}/drive", housing_mesh(link, housing))
            foot = foot_shape(link)
            if foot is not None:
                self.feet.append(
                    scene.add_icosphere(
                        f"{path}/foot", radius=1.15 * foot[1], position=foot[0], color=(60, 62, 66) if not ghost
                        else ghost[0], opacity=ghost[1] if ghost else None,
                    )
                )  # fmt: skip

    def _mesh(self, path: str, mesh: Mesh | None) -> Any:
        if mesh is None:
            return None
        rgb, opacity = self._ghost or (mesh.rgb, None)
        handle = self._scene.add_mesh_simple(
            path, mesh.vertices, mesh.faces, color=rgb, opacity=opacity, flat_shading=False,
            cast_shadow=False, receive_shadow=False, side="front",
        )  # fmt: skip
        self._colours.append((handle, rgb))
        return handle

    def place(self, position: np.ndarray, quat: np.ndarray) -> None:
        """Body pose in the parent's frame."""
        pose = np.concatenate((position, quat))
        if not np.abs(pose - self._pose).max() < STILL:
            self._pose = pose
            self.root.position, self.root.wxyz = position, quat

    def bend(self, q: np.ndarray) -> None:
        """Joint angles rad; only what moved is sent."""
        quats = self._model.quats(q)
        for i, handle in enumerate(self.joints):
            if self._q is None or abs(q[i] - self._q[i]) > STILL:
                handle.wxyz = quats[i]
        if self._q is None:
            self._q = np.array(q, dtype=float)
        else:
            moved = np.abs(q - self._q) > STILL
            self._q[moved] = q[moved]

    def grey(self, stale: bool) -> None:
        """Grey when what is shown is old."""
        if stale != self._grey:
            self._grey = stale
            for handle, rgb in self._colours:
                handle.color = STALE_RGB if stale else rgb

    def tint(self, joint: int, rgb: tuple[int, int, int] | None) -> None:
        """Colour of the link a joint moves; None: its own."""
        handle = self.links[joint]
        if handle is not None:
            own = next(own for h, own in self._colours if h is handle)
            handle.color = rgb or own
