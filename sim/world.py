"""PyBullet world: robot, ground and physics steps. The only module that knows PyBullet's conventions: quaternions
x y z w, and a base pose and velocity that are those of the base link's centre of mass and principal axes.
"""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pybullet as p

from config.scenario import PlantOptions
from config.urdf import urdf
from procs.model.robot import Robot
from procs.model.rotations import quat_multiply, quat_to_matrix
from sim.contacts import COLUMNS
from sim.inertials import link_names, prepare, set_moments
from sim.sensors import GRAVITY
from sim.terrain import Ground

NO_CONTACTS = np.zeros((0, COLUMNS))

VIEW = 2.0  # m, distance of the window's camera at the start


class World:
    """One robot in one PyBullet client of its own. World axes; joint arrays in the robot's order."""

    def __init__(
        self,
        robot: Robot,
        options: PlantOptions,
        rng: np.random.Generator,
        *,
        gui: bool = False,
        rotors: bool = True,
        client: int | None = None,
    ) -> None:
        """`rotors` False leaves the reflected rotor inertia out; `client`: an own client to empty and use again."""
        self.robot = robot
        self.options = options
        self.dt = 1.0 / robot.description.sim.rate
        self.ground = Ground(options.terrain, rng)
        self.client = p.connect(p.GUI if gui else p.DIRECT) if client is None else client
        if self.client < 0:
            raise RuntimeError("PyBullet gives no client; too many are open, or there is no display for the GUI")
        self.engine = {"physicsClientId": self.client}
        if gui:
            p.configureDebugVisualizer(p.COV_ENABLE_GUI, 0, **self.engine)  # the world alone, without side panels
        try:
            p.resetSimulation(**self.engine)
            self._build(rotors)
        except BaseException:
            self.close()
            raise

    def _build(self, rotors: bool) -> None:
        sim = self.robot.description.sim
        p.setGravity(*GRAVITY, **self.engine)
        p.setPhysicsEngineParameter(
            fixedTimeStep=self.dt,
            numSolverIterations=sim.solver_iterations,
            numSubSteps=0,
            enableConeFriction=1,
            deterministicOverlappingPairs=1,
            **self.engine,
        )
        friction = sim.friction if self.options.friction is None else self.options.friction
        self.ground_ids = self.ground.build(self.client)
        for body in self.ground_ids:
            p.changeDynamics(body, -1, lateralFriction=friction, **self.engine)
        self._load(rotors)
        self._place()

    def _load(self, rotors: bool) -> None:
        """Load the URDF; the motor model owns all joint friction, the feet their contact parameters."""
        text, tensors = prepare(urdf(self.robot.description), self.robot, self.options.payload, rotors)
        handle, path = tempfile.mkstemp(suffix=".urdf")
        try:
            with os.fdopen(handle, "w") as file:
                file.write(text)
            flags = p.URDF_USE_INERTIA_FROM_FILE
            self.body = p.loadURDF(path, flags=flags, useFixedBase=self.options.suspended, **self.engine)
        finally:
            os.unlink(path)
        wanted = link_names(self.robot)
        infos = [p.getJointInfo(self.body, i, **self.engine) for i in range(p.getNumJoints(self.body, **self.engine))]
        index = {info[12].decode(): info[0] for info in infos}  # child link -> PyBullet's index
        if set(index) != set(wanted):
            raise ValueError(f"links of the URDF {sorted(index)} are not those of the robot {sorted(wanted)}")
        self.joints = [index[name] for name in wanted]
        self.leg_of_link = np.full(len(infos) + 1, -1)  # [PyBullet's link index + 1]: leg whose last link it is
        self.leg_of_link[np.array(self.joints[2::3]) + 1] = np.arange(self.robot.num_legs)
        set_moments(self.client, self.body, {"body": -1, **index}, tensors)
        for link in (-1, *self.joints):
            p.changeDynamics(
                self.body, link, lateralFriction=1.0, linearDamping=0, angularDamping=0, jointDamping=0, **self.engine
            )
        sim = self.robot.description.sim
        if sim.contact_stiffness is not None:
            damping = sim.contact_damping or 0.0
            for link in self.joints[2::3]:
                p.changeDynamics(
                    self.body, link, contactStiffness=sim.contact_stiffness, contactDamping=damping, **self.engine
                )
        n = len(self.joints)
        p.setJointMotorControlArray(self.body, self.joints, p.VELOCITY_CONTROL, forces=[0.0] * n, **self.engine)
        local_position, local = p.getDynamicsInfo(self.body, -1, **self.engine)[3:5]
        self.com = np.array(local_position)  # of the base link, body frame, m
        self.from_principal = np.array([local[3], -local[0], -local[1], -local[2]])  # w x y z
        self.turned = bool(abs(local[3]) < 1.0)

    def _place(self) -> None:
        """Put the robot at its start: on the ground and turned with it, or held in the air."""
        start = self.robot.description.sim.start
        suspended = self.options.suspended
        quat = np.array([1.0, 0, 0, 0]) if suspended else self.ground.start_quat
        at = np.array([0, 0, start.suspended_height]) if suspended else start.height * self.ground.normal
        for joint, angle in zip(self.joints, self.robot.pose(start.pose), strict=True):
            p.resetJointState(self.body, joint, angle, 0.0, **self.engine)
        com = at + quat_to_matrix(quat) @ self.com
        inverse = self.from_principal * (1, -1, -1, -1)
        w, x, y, z = quat_multiply(quat, inverse)
        p.resetBasePositionAndOrientation(self.body, com.tolist(), [x, y, z, w], **self.engine)
        p.resetBaseVelocity(self.body, [0, 0, 0], [0, 0, 0], **self.engine)

    def joint_states(self) -> tuple[np.ndarray, np.ndarray]:
        """Angles rad and velocities rad/s, (joints,)."""
        states = p.getJointStates(self.body, self.joints, physicsClientId=self.client)
        return np.array([s[0] for s in states]), np.array([s[1] for s in states])

    def base(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Body origin's position m, quaternion w x y z, velocity of the origin m/s, angular velocity rad/s; world."""
        (x, y, z), (qx, qy, qz, qw) = p.getBasePositionAndOrientation(self.body, physicsClientId=self.client)
        v, omega = p.getBaseVelocity(self.body, physicsClientId=self.client)
        quat = np.array([qw, qx, qy, qz])
        if self.turned:
            quat = quat_multiply(quat, self.from_principal)
        cx, cy, cz = (quat_to_matrix(quat) @ self.com).tolist()
        wx, wy, wz = omega
        velocity = np.array([v[0] - wy * cz + wz * cy, v[1] - wz * cx + wx * cz, v[2] - wx * cy + wy * cx])
        return np.array([x - cx, y - cy, z - cz]), quat, velocity, np.array(omega)

    def look_at(self, position: np.ndarray) -> None:
        """Turn the window's camera to the robot; distance and direction stay as the user has set them."""
        _, _, _, _, _, _, _, _, yaw, pitch, distance, _ = p.getDebugVisualizerCamera(**self.engine)
        p.resetDebugVisualizerCamera(min(distance, VIEW), yaw, pitch, position.tolist(), **self.engine)

    def step(self, tau: np.ndarray) -> None:
        """One physics step with joint torques (joints,) N m."""
        p.setJointMotorControlArray(
            self.body, self.joints, p.TORQUE_CONTROL, forces=tau.tolist(), physicsClientId=self.client
        )
        p.stepSimulation(physicsClientId=self.client)

    def contacts(self) -> np.ndarray:
        """Contact points of the last step as rows of sim.contacts: on the robot's links, forces on the robot."""
        points = p.getContactPoints(bodyA=self.body, physicsClientId=self.client)
        if not points:
            return NO_CONTACTS
        return np.array([(c[3], *c[6], *c[7], c[9], c[10], *c[11], c[12], *c[13], c[8]) for c in points], dtype=float)

    def push(self, force: np.ndarray, at: np.ndarray) -> None:
        """Force (3,) N at the point `at` (3,) m for the next step, world axes."""
        p.applyExternalForce(self.body, -1, force.tolist(), at.tolist(), p.WORLD_FRAME, physicsClientId=self.client)

    def close(self) -> None:
        """Release the client."""
        if self.client >= 0:
            p.disconnect(physicsClientId=self.client)
            self.client = -1
