"""The table of pages: a new page is one line here."""

from __future__ import annotations

from tools.dashboard.console import Console
from tools.dashboard.drive import Drive
from tools.dashboard.healthpage import HealthPage
from tools.dashboard.joint_page import JointPage
from tools.dashboard.page import PageSpec
from tools.dashboard.parameterpage import ParameterPage
from tools.dashboard.plots import Plots
from tools.dashboard.viewpage import ViewPage

PAGES = (
    PageSpec("Drive", Drive),
    PageSpec("Health", HealthPage, every=15),
    PageSpec("Parameters", ParameterPage, every=1),
    PageSpec("Joint test", JointPage, every=1),
    PageSpec("View", ViewPage, every=30),
    PageSpec("Plots", Plots, column="left"),
    PageSpec("Console", Console, column="left", every=6),
)
