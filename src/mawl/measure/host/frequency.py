"""Clock rate of the processors, from cpufreq (Linux Documentation/admin-guide/pm/cpufreq.rst)."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile
from mawl.measure.topology import online_processors

MOST_PROCESSORS = 16
"""Reading one may interrupt that processor, so a large machine is looked at in part."""

LOOKS_BETWEEN = 5


class Frequency:
    """The source: the mean of evenly spread processors, every fifth look."""

    def __init__(self, sys: Path) -> None:
        online = online_processors(sys)
        spread = online[:: max(len(online) // MOST_PROCESSORS, 1)][:MOST_PROCESSORS]
        self._files = [
            KeptFile(sys / f"devices/system/cpu/cpu{number}/cpufreq/scaling_cur_freq") for number in spread
        ]
        self._looks = 0

    def read(self, into: Figures) -> None:
        """cpufreq counts in kHz."""
        self._looks += 1
        if self._looks % LOOKS_BETWEEN != 1:
            return
        texts = [text for file in self._files if (text := file.read()) is not None]
        rates = [int(text) * 1000 for text in texts if text.strip().isdigit()]
        if rates:
            into["host.frequency_hertz"] = sum(rates) / len(rates)

    def reasons(self) -> dict[str, str]:
        """Why there is no frequency: most virtual machines have no cpufreq."""
        refused = [file.reason for file in self._files]
        if refused and all(refused):
            return {"host.frequency_hertz": f"the kernel does not say ({refused[0]})"}
        return {} if refused else {"host.frequency_hertz": "the kernel names no processors"}

    def close(self) -> None:
        """Give the descriptors back."""
        for file in self._files:
            file.close()
