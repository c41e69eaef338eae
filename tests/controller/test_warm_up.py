"""Before the first tick the controller has walked on made-up states, and nothing of that remains."""

from procs.controller.controller import Controller
from procs.controller.locomotion import Locomotion


def test_warm_up_runs_every_kernel_of_walking_and_leaves_the_core_as_new(robot, monkeypatch):
    solved = []
    solve = Locomotion._solve

    def counted(self, *args):
        solved.append(self)
        return solve(self, *args)

    monkeypatch.setattr(Locomotion, "_solve", counted)
    core = Controller(robot)
    before = (core.machine.mode, core.machine.target, core.walk.gait.name)

    core.warm_up()

    assert len(solved) > 50
    assert core.walk not in solved
    assert (core.machine.mode, core.machine.target, core.walk.gait.name) == before
