"""Convex model-predictive control of a single rigid body on any number of legs."""

from procs.controller.convex_mpc.solver import ConvexMpc, MpcSolution, MpcStatus

__all__ = ["ConvexMpc", "MpcSolution", "MpcStatus"]
