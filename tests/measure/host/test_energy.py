"""Energy from a fake /sys: zones and parts, wraps, refused and vanishing files, meters of a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.measure.host.collector import HostCollector
from mawl.measure.host.energy import LOOKS_BETWEEN, NO_SOURCE, EnergyCounters
from mawl.measure.host.files import Figures, KeptFile

RANGE = 262_143_328_850


def zone(sys: Path, place: str, name: str, microjoules: int, largest: int | None = RANGE) -> Path:
    """A RAPL zone; the kernel lists zones and their parts side by side in the class."""
    folder = sys / "class" / "powercap" / place
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{microjoules}\n")
    if largest is not None:
        (folder / "max_energy_range_uj").write_text(f"{largest}\n")
    return folder


def meter(sys: Path, number: int, name: str, **files: str) -> Path:
    """A device of hwmon."""
    folder = sys / "class" / "hwmon" / f"hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    for file, text in files.items():
        (folder / file).write_text(f"{text}\n")
    return folder


def look(source: EnergyCounters) -> Figures:
    figures: Figures = {}
    source.read(figures)
    return figures


def two_sockets(sys: Path) -> list[Path]:
    """Two packages with cores and memory, and the control type's own folder, which is no zone."""
    (sys / "class" / "powercap" / "intel-rapl").mkdir(parents=True)
    return [
        zone(sys, "intel-rapl:0", "package-0", 1_000_000),
        zone(sys, "intel-rapl:0:0", "core", 500_000),
        zone(sys, "intel-rapl:0:1", "dram", 250_000),
        zone(sys, "intel-rapl:1", "package-1", 7_000_000),
        zone(sys, "intel-rapl:1:0", "dram", 0),
    ]


def test_every_zone_has_a_name_that_says_what_it_is_part_of(tmp_path: Path) -> None:
    first, core, *_ = two_sockets(tmp_path)
    source = EnergyCounters(tmp_path)
    assert look(source) == {
        f"energy.{name}.joules": 0.0
        for name in ("package-0", "package-0/core", "package-0/dram", "package-1", "package-1/dram")
    }
    (first / "energy_uj").write_text("3500000\n")
    (core / "energy_uj").write_text("1500000\n")
    figures = look(source)
    assert figures["energy.package-0.joules"] == pytest.approx(2.5)
    assert figures["energy.package-0/core.joules"] == pytest.approx(1.0)
    assert figures["energy.package-1.joules"] == 0.0
    assert source.reasons() == {}
    source.close()


def test_a_counter_that_wraps_grows_on_and_one_that_was_reset_begins_anew(tmp_path: Path) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0", RANGE - 4_000_000) / "energy_uj"
    source = EnergyCounters(tmp_path)
    look(source)
    file.write_text("6000000\n")
    assert look(source)["energy.package-0.joules"] == pytest.approx(10.0)
    file.write_text("1000000\n")  # 5 J less is no wrap of 262 kJ: somebody reset it
    assert look(source)["energy.package-0.joules"] == pytest.approx(11.0)


def test_a_fall_of_a_counter_of_unknown_range_is_no_wrap(tmp_path: Path) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0", RANGE - 1, largest=None) / "energy_uj"
    source = EnergyCounters(tmp_path)
    look(source)
    file.write_text("2000000\n")
    assert look(source)["energy.package-0.joules"] == pytest.approx(2.0)


def test_a_zone_that_may_not_be_read_leaves_all_zones_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_sockets(tmp_path)
    opened = KeptFile.__init__

    def refusing(self: KeptFile, path: Path) -> None:
        opened(self, path)
        if path.parent.name == "intel-rapl:1":  # root, as whom tests may run, is never refused
            self.close()
            self._refused(PermissionError(13, "Permission denied"))

    monkeypatch.setattr(KeptFile, "__init__", refusing)
    source = EnergyCounters(tmp_path)
    assert look(source) == {}, "one package of two is no sum"
    assert source.reasons()["energy"].endswith(
        "intel-rapl:1/energy_uj: permission denied (only root may read it since Linux 5.10)"
    )


def test_a_zone_that_vanishes_has_no_further_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zones = two_sockets(tmp_path)
    source = EnergyCounters(tmp_path)
    look(source)
    gone = source._domains["package-1"]
    monkeypatch.setattr(gone._file, "read", lambda: None)
    assert zones[3].name == "intel-rapl:1"
    assert "energy.package-1.joules" not in look(source)
    assert "energy.package-0.joules" in look(source)


def test_the_same_counters_over_another_bus_count_only_alone(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl-mmio:0", "package-0", 1)
    assert set(look(EnergyCounters(tmp_path))) == {"energy.package-0.joules"}
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    zone(tmp_path, "intel-rapl:1", "psys", 1)
    source = EnergyCounters(tmp_path)
    assert set(look(source)) == {"energy.package-0.joules", "energy.psys.joules"}


def test_a_power_meter_is_asked_every_fifth_look_and_added_up(tmp_path: Path) -> None:
    file = meter(tmp_path, 2, "power_meter", power1_average="200000000") / "power1_average"
    meter(tmp_path, 0, "coretemp", temp1_input="40000")
    moments = iter([0.0, 5.0, 10.0])
    source = EnergyCounters(tmp_path, clock=lambda: next(moments))
    looks = [look(source) for _ in range(LOOKS_BETWEEN)]
    assert looks[0] == {"energy.machine/power_meter-2.joules": 0.0} and looks[1:] == [{}] * 4
    assert look(source) == {"energy.machine/power_meter-2.joules": pytest.approx(1000.0)}
    file.write_text("400000000\n")
    assert [look(source) for _ in range(LOOKS_BETWEEN)][-1] == {
        "energy.machine/power_meter-2.joules": pytest.approx(2500.0)
    }


def test_meters_of_known_drivers_are_found_and_others_are_not(tmp_path: Path) -> None:
    meter(tmp_path, 0, "aem1", energy1_input="1000000")
    meter(tmp_path, 1, "ibmpowernv", power1_label="Proc0", power1_input="1", power2_label="System",
          power2_input="300000000")  # fmt: skip
    meter(tmp_path, 2, "amdgpu", power1_average="50000000")
    meter(tmp_path, 3, "amd_energy", energy1_label="Ecore000", energy1_input="5", energy2_label="Esocket0",
          energy2_input="9000000", energy3_label="Esocket1", energy3_input="8000000")  # fmt: skip
    names = {"machine/aem1-0", "machine/ibmpowernv-1", "package-0", "package-1"}
    assert set(look(EnergyCounters(tmp_path))) == {f"energy.{name}.joules" for name in names}
    zone(tmp_path, "intel-rapl:0", "package-0", 1)
    kept = set(look(EnergyCounters(tmp_path)))
    assert "energy.package-1.joules" not in kept, "powercap tells of the sockets"


@pytest.mark.parametrize("text", ["", "many", "-5", "9" * 400])
def test_what_is_no_count_costs_energy_and_never_the_look(tmp_path: Path, text: str) -> None:
    file = zone(tmp_path / "sys", "intel-rapl:0", "package-0", 1) / "energy_uj"
    collector = HostCollector(root=tmp_path)
    assert collector.read()["energy.package-0.joules"] == 0.0
    file.write_text(text)
    assert "energy.package-0.joules" not in collector.read()
    collector.read()
    assert collector.reasons()["energy"]
    collector.close()


def test_a_zone_that_is_odd_from_the_beginning_leaves_all_zones_out(tmp_path: Path) -> None:
    (two_sockets(tmp_path)[3] / "energy_uj").write_text("many")
    source = EnergyCounters(tmp_path)
    assert look(source) == {}
    assert source.reasons()["energy"].endswith("not in the form that mawl knows")


def test_a_machine_without_any_says_so(tmp_path: Path) -> None:
    source = EnergyCounters(tmp_path)
    assert look(source) == {}
    assert source.reasons() == {"energy": NO_SOURCE}
