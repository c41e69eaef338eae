"""Of two processes of one name on a bus the younger ends."""

from __future__ import annotations

import threading

import pytest

from procs.runtime.bus import Bus
from procs.runtime.health import Health
from procs.runtime.single import DuplicateProcessError, Single
from tools.launch import private_url


@pytest.fixture
def url():
    return private_url()


def process(url, name="toy"):
    health = Health(name)
    return Single(Bus(url), health), health


def serve(single, stop):
    """What a runner does: look at the bus and check."""
    while not stop.is_set():
        single._bus.wait(0.02)
        single.check()


@pytest.fixture
def elder(url):
    single, health = process(url)
    single.claim()
    health.state = "waiting"
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(single, stop))
    thread.start()
    yield single
    stop.set()
    thread.join(10)


def test_a_second_one_of_the_name_is_refused_with_advice(elder, url):
    with pytest.raises(DuplicateProcessError, match=r"a process named toy already runs on .*--lcm-url"):
        process(url)[0].claim()


def test_another_name_or_another_url_is_no_matter(elder, url):
    process(url, "other")[0].claim()
    process(private_url())[0].claim()


def test_one_that_is_stopping_does_not_keep_its_successor_out(url):
    old, health = process(url)
    health.state = "stopping"
    new, _ = process(url)
    old._bus.publish(*_report(health))
    new.claim()


def test_the_younger_ends_even_if_they_meet_only_later(url):
    (first, one), (second, two) = process(url), process(url)
    one.state = two.state = "running"
    first._bus.publish(*_report(one))
    second._bus.publish(*_report(two))
    first._bus.wait(1.0)
    second._bus.wait(1.0)
    first.check()
    with pytest.raises(DuplicateProcessError):
        second.check()


def test_the_number_of_an_instance_grows_with_the_time_of_its_start():
    numbers = []
    for _ in range(5):
        numbers.append(Health("toy").instance)
        threading.Event().wait(0.001)
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 5


def _report(health):
    from lcmtypes.channels import PROC_HEALTH

    return PROC_HEALTH, health.message()
