"""An answer of ``mawl size`` with a pick, a hostile name, a candidate without a number, and upgrades."""

from __future__ import annotations

from mawl.whatif.size.question import SizeAnswer, SizedCandidate, SizedUpgrade


def candidate(name: str, price: float, **more: object) -> SizedCandidate:
    """One that carries with the most that seven forecasts can say."""
    figures: dict[str, object] = {
        "nodes": 1,
        "carries": True,
        "probability": 0.875,
        "error_basis": "published systems",
        "forecasts": 7,
        "figure": 1.2,
        "memory_bytes": 8e9,
        "fits": 31,
        "fits_safe": 22,
        "more_may_fit": False,
        "limit": "cores",
        "limit_ratio": 0.34,
        "rule_figure": 1.1,
        "rule_fits": 40,
        "taken": ["memory is that of the run (64.0 GiB)"],
        "reasons": [],
    }
    return SizedCandidate(name=name, price=price, **{**figures, **more})  # type: ignore[arg-type]


def answer() -> SizeAnswer:
    """Three candidates for twenty sessions."""
    upgrades = [
        SizedUpgrade(
            name="32 cores",
            price=250.0,
            figure=1.05,
            probability=0.875,
            fits=44,
            more_may_fit=False,
            gained_sessions=13,
            gained_sessions_per_price=13 / 250.0,
            reason=None,
        ),
        SizedUpgrade(
            name="faster array",
            price=100.0,
            figure=None,
            probability=None,
            fits=None,
            more_may_fit=False,
            gained_sessions=None,
            gained_sessions_per_price=None,
            reason="more cores has no device array, only disk",
        ),
    ]
    return SizeAnswer(
        run_id="20260101-080000-mixed20-1",
        workload="mixed20",
        catalogue="offers.toml",
        currency="EUR",
        period="a month",
        sessions=20,
        bounded="slowdown",
        bound=2.0,
        measured=2.6,
        measured_sessions=20,
        calibration_error_ratio=-0.03,
        asked_probability=0.5,
        pick="more cores",
        safe_probability=0.8,
        safe_pick="more cores",
        forecast_pick="more cores",
        rule_pick="</script><b>as it is",
        candidates=[
            candidate("more cores", 700.0),
            candidate("flash", 1100.0, fits=60, more_may_fit=True, fits_safe=None),
            candidate(
                "</script><b>as it is",
                400.0,
                carries=False,
                probability=0.0,
                figure=2.6,
                fits=14,
                fits_safe=11,
                limit="disk",
                limit_ratio=0.61,
            ),
            candidate(
                "tiny",
                90.0,
                carries=False,
                probability=0.0,
                fits=None,
                fits_safe=None,
                limit="memory",
                limit_ratio=None,
            ),
        ],
        upgraded="more cores",
        upgrades=upgrades,
        remarks=["mawl assumes that the page cache keeps what it kept in the run, whatever the memory"],
    )
