"""Ground of the simulator: PyBullet bodies, and the same surface as numbers for ground truth."""

from __future__ import annotations

import math

import numpy as np
import pybullet as p

from config.scenario import Terrain

FLAT_RADIUS = 0.5  # m around the start that stay flat (not on a slope)
DEPTH = 0.5  # m of box below the surface, thick enough that nothing tunnels
HALF_WIDTH = 5.0  # m, steps and stairs to both sides
STEPS = 20  # terraces of kind steps; the last one goes on
PLATFORM = 20.0  # m, length of the last terrace
ROUGH_X = (-3.0, 12.0)  # m, area of the tiles
ROUGH_Y = (-3.0, 3.0)
BLOCK = 4  # by 4 tiles form one body: PyBullet takes 16 shapes


class Ground:
    """The surface z(x, y). World axes; the robot starts over the origin, at z = 0."""

    def __init__(self, terrain: Terrain, rng: np.random.Generator) -> None:
        self.terrain = terrain
        angle = math.radians(terrain.deg) if terrain.kind == "slope" else 0.0
        self.normal = np.array([0.0 - math.sin(angle), 0.0, math.cos(angle)])  # the same everywhere but on edges
        self.start_quat = np.array([math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0])  # w x y z, nose uphill
        self.edges, self.tops = self._terraces()
        self.tiles = self._tiles(rng) if terrain.kind == "rough" else np.zeros((0, 0))

    def _terraces(self) -> tuple[np.ndarray, np.ndarray]:
        """x of the edges going up, and the height behind each."""
        t = self.terrain
        if t.kind == "steps":
            first = max(FLAT_RADIUS, t.length)
            return first + t.length * np.arange(STEPS), t.height * np.arange(1, STEPS + 1)
        if t.kind == "stairs":
            return FLAT_RADIUS + t.run * np.arange(t.count), t.rise * np.arange(1, t.count + 1)
        return np.zeros(0), np.zeros(0)

    def _tiles(self, rng: np.random.Generator) -> np.ndarray:
        """Heights of the tiles (nx, ny), m; zero where any part of a tile lies in the flat start."""
        cell = self.terrain.cell
        nx, ny = (math.ceil((hi - lo) / cell) for lo, hi in (ROUGH_X, ROUGH_Y))
        heights = rng.uniform(0.0, self.terrain.height, (nx, ny))
        x = ROUGH_X[0] + cell * np.arange(nx)[:, None]
        y = ROUGH_Y[0] + cell * np.arange(ny)[None, :]
        nearest = np.hypot(np.clip(0, x, x + cell), np.clip(0, y, y + cell))
        return np.where(nearest < FLAT_RADIUS, 0.0, heights)

    def height(self, x: float, y: float) -> float:
        """m, of the surface vertically at (x, y)."""
        if self.terrain.kind == "slope":
            return float(-self.normal[0] * x / self.normal[2])
        if self.tops.size and abs(y) <= HALF_WIDTH:
            k = int(np.searchsorted(self.edges, x, side="right"))
            end = self.edges[-1] + PLATFORM
            return float(self.tops[k - 1]) if k and x <= end else 0.0
        if self.tiles.size:
            i = math.floor((x - ROUGH_X[0]) / self.terrain.cell)
            j = math.floor((y - ROUGH_Y[0]) / self.terrain.cell)
            if 0 <= i < self.tiles.shape[0] and 0 <= j < self.tiles.shape[1]:
                return float(self.tiles[i, j])
        return 0.0

    def height_normal(self, x: float, y: float) -> tuple[float, np.ndarray]:
        """Height m and unit normal of the surface at (x, y); edges have the normal of the treads."""
        return self.height(x, y), self.normal

    def build(self, client: int) -> list[int]:
        """Create the bodies in PyBullet; returns their ids."""
        fixed = {"useMaximalCoordinates": True, "physicsClientId": client}  # rigid bodies cost nothing while far away
        plane = p.createCollisionShape(p.GEOM_PLANE, planeNormal=self.normal.tolist(), physicsClientId=client)
        bodies = [p.createMultiBody(0, plane, **fixed)]
        ends = np.append(self.edges[1:], self.edges[-1:] + PLATFORM)
        for lo, hi, top in zip(self.edges, ends, self.tops, strict=True):
            half = [(hi - lo) / 2, HALF_WIDTH, (top + DEPTH) / 2]
            shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=half, physicsClientId=client)
            at = [(lo + hi) / 2, 0.0, (top - DEPTH) / 2]
            bodies.append(p.createMultiBody(0, shape, basePosition=at, **fixed))
        bodies.extend(self._build_tiles(fixed))
        return bodies

    def _build_tiles(self, fixed: dict[str, int]) -> list[int]:
        """Compounds of neighbouring tiles: a physics step costs time for every body, near or far."""
        if not self.tiles.size:
            return []
        client = fixed["physicsClientId"]
        cell = self.terrain.cell
        half = [cell / 2, cell / 2, DEPTH / 2]
        blocks: dict[tuple[int, int], list[list[float]]] = {}
        for i, j in zip(*np.nonzero(self.tiles), strict=True):
            at = [ROUGH_X[0] + cell * (i + 0.5), ROUGH_Y[0] + cell * (j + 0.5), self.tiles[i, j] - DEPTH / 2]
            blocks.setdefault((i // BLOCK, j // BLOCK), []).append(at)
        bodies = []
        for block in blocks.values():
            n = len(block)
            shape = p.createCollisionShapeArray(
                shapeTypes=[p.GEOM_BOX] * n,
                halfExtents=[half] * n,
                collisionFramePositions=block,
                physicsClientId=client,
            )
            bodies.append(p.createMultiBody(0, shape, **fixed))
        return bodies
