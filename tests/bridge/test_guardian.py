"""The guardian: switches off when its parent is gone without a good-bye, and only then."""

import os
import signal

import pytest

from procs.bridge.guardian import Guardian


@pytest.fixture
def guarded():
    """A guardian that writes the run it switches off into a pipe; `words()` waits for its end."""
    reader, writer = os.pipe()
    ready, is_ready = os.pipe()
    guardian = Guardian(lambda run: os.write(writer, str(run).encode()), lambda: os.write(is_ready, b"!"))
    os.close(writer)
    os.close(is_ready)
    assert os.read(ready, 1) == b"!"
    os.close(ready)

    def words():
        guardian.close()
        return os.read(reader, 64).decode()

    yield guardian, words
    guardian.close()
    os.close(reader)


def test_without_a_good_bye_the_drives_are_switched_off_in_the_last_run(guarded):
    guardian, words = guarded
    guardian.run(7)
    guardian.run(8)
    assert words() == "8"


def test_after_a_good_bye_nothing_is_sent(guarded):
    guardian, words = guarded
    guardian.run(7)
    guardian.good_bye()
    assert words() == ""


def test_a_run_after_a_good_bye_is_guarded_again(guarded):
    guardian, words = guarded
    guardian.run(7)
    guardian.good_bye()
    guardian.run(9)
    assert words() == "9"


def test_before_the_first_run_nothing_is_sent(guarded):
    _, words = guarded
    assert words() == ""


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_what_ends_the_parent_does_not_end_the_guardian(guarded, sig):
    guardian, words = guarded
    guardian.run(7)
    os.kill(guardian.pid, sig)
    assert words() == "7"


def test_a_guardian_that_is_gone_is_reported(guarded, caplog):
    guardian, _ = guarded
    os.kill(guardian.pid, signal.SIGKILL)
    os.waitid(os.P_PID, guardian.pid, os.WEXITED | os.WNOWAIT)
    guardian.run(7)
    assert "guardian is gone" in caplog.text


def test_an_error_while_switching_off_is_an_exit_code(capfd):
    def fail(run):
        raise OSError("no bus")

    guardian = Guardian(fail)
    guardian.run(1)
    os.close(guardian._pipe)
    guardian._pipe = -1
    assert os.waitstatus_to_exitcode(os.waitpid(guardian.pid, 0)[1]) == 1
