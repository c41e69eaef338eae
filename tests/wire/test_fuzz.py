"""20 000 damaged frames into all decoders; the long run is in fuzz.py."""

from tests.wire.fuzz import run


def test_decoders_raise_nothing_but_decode_errors_and_mark_what_is_not_a_number() -> None:
    counts = run(20_000, seed=1)
    decoders = {key.split(":")[0] for key in counts}
    assert len(decoders) == 10
    for name in decoders:
        assert counts[f"{name}: taken"], f"{name}: the mutations never left a good frame"
    assert sum(counts.values()) == 20_000
