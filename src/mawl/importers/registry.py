"""The importers, by kind."""

from __future__ import annotations

from mawl.importers import fio, host_files, nmon, sas_jobs
from mawl.importers.interface import Importer
from mawl.importers.schedulers import files as schedulers

IMPORTERS: dict[str, Importer] = {
    importer.kind: importer
    for importer in (
        *(sas_jobs.IMPORTER, nmon.IMPORTER, *host_files.EVERY, fio.IMPORTER),
        *schedulers.EVERY,
    )
}
"""In the order in which they are asked where two are equally sure."""
