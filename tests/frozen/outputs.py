"""What mawl prints of fixed runs, packs and records, as digests: ``python -m tests.frozen.outputs PART``.

The builders of the tests make the inputs, on a fixed clock, with a fixed version and digest of the code.
``--keep DIR`` also writes each output as a file, so that two of them can be compared.
"""

# ruff: noqa: E402
from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import hashlib
import io
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import mawl.version

mawl.version.__version__ = "0.0.0"
mawl.version.source_sha256 = lambda: "0" * 64  # type: ignore[assignment]
for _name in [name for name in os.environ if name.startswith("MAWL_")]:
    del os.environ[_name]
os.environ |= {"TZ": "UTC", "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
time.tzset()

from mawl.commands.main import main
from mawl.commands.schema import FORMATS
from mawl.commands.verbs import VERBS
from mawl.records.model.published import papers
from mawl.records.store.campaign import write_qualification
from mawl.records.store.side_files import write_probe
from mawl.reports import campaign_document as campaigns
from mawl.reports.csv import TABLES
from mawl.reports.document import rendered
from mawl.reports.layout import escaped
from mawl.reports.qualification import disclosure
from mawl.reports.qualification import document as answer_document
from mawl.whatif.placement.document import document as placement_document
from mawl.whatif.size import document as sizing
from tests.archive.history.test_changes import store_nights
from tests.cli.test_attach import table
from tests.cli.test_replay import logs_and_run
from tests.fakes import collected_hosts, model_host, probed, sized
from tests.fakes.answered import NO, YES, answered, every_record
from tests.fakes.found_campaigns import EVERY as CAMPAIGNS
from tests.fakes.hostile_run import write_hostile_run
from tests.fakes.nightly_logs import nightly
from tests.fakes.published_cluster import write_published_cluster
from tests.fakes.published_run import write_published, write_published_campaign
from tests.fakes.recorded_host import aix_recording
from tests.fakes.stored_run import facts, write_run
from tests.fakes.synthetic_run import write_synthetic_run
from tests.importers.test_nights import files as joined_files
from tests.pages.kinds import KINDS
from tests.whatif.placement.test_advise import FLASH, SLOW, advised

NOW = 1_790_000_000.0
"""What the clock shows while outputs are made."""
RUN_FORMATS = (
    "json",
    "markdown",
    "disclosure",
    "logparse",
    "throughput",
    "night",
    "openmetrics",
    "html",
    "saslog",
)
FORMS = ("text", "json", "markdown", "html")
ROLES = ("--role", "data=hdisk1|sda", "--role", "work=hdisk[2-3]|sdb")
CHANGING = (
    (re.compile(r"0x[0-9a-f]{8,}"), "0x"),  # addresses of objects
    (re.compile(r"(mawl-validate-)\w+"), r"\1X"),  # where a pack is unpacked
    (re.compile(r"\b([pjs])[0-9a-f]{8}\b"), r"\1HASHED"),  # names of derived jobs have a random salt
)
FRACTION = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
ARRAY = re.compile(r'"data":"([\w+/=]+)"\},"shape":\[\d+\],"dtype":"(\w+)"')
MOST_DIGITS = 9
"""So many digits of a number are the same on every processor."""
LEAST = 1e-9
"""What is smaller is a difference of rounding."""
SYSTEM = """name = "own"
[[nodes]]
count = 1
cores = 8
memory_bytes = "64GiB"
roles = { data = ["disk"], work = ["disk"], util = ["disk"] }
[devices.disk]
read_bytes_per_second = "500MB"
write_bytes_per_second = "500MB"
local = true
"""


def rounded(found: re.Match[str]) -> str:
    """A number with fewer digits, if it has many."""
    value = float(found[0])
    if len(found[0]) <= MOST_DIGITS and not found[0].endswith(".0"):
        return found[0]
    return f"{0.0 if abs(value) < LEAST else value:.{MOST_DIGITS}g}"


def numbers(found: re.Match[str]) -> str:
    """The numbers of an array of a chart, which a page holds compressed."""
    values = np.frombuffer(gzip.decompress(base64.b64decode(found[1])), dtype=found[2])
    return " ".join(f"{0.0 if abs(value) < LEAST else value:.{MOST_DIGITS}g}" for value in values.tolist())


class Outputs:
    """Digests of outputs by their names, in the order in which they were made."""

    def __init__(self, place: Path, keep: Path | None) -> None:
        self.place, self.keep = place, keep
        self.digests: dict[str, str] = {}

    def add(self, name: str, text: str) -> None:
        """Take an output, less what differs between two runs of the same code or two processors."""
        for place in (str(self.place), escaped(str(self.place))):
            text = text.replace(place, "PLACE")
        for pattern, instead in CHANGING:
            text = pattern.sub(instead, text)
        text = FRACTION.sub(rounded, ARRAY.sub(numbers, text))
        data = text.encode(errors="surrogateescape")
        assert name not in self.digests, f"{name} is there twice"
        self.digests[name] = hashlib.sha256(data).hexdigest()[:16]
        if self.keep is not None:
            (self.keep / (re.sub(r"[^\w.=-]+", "_", name)[:150] + ".txt")).write_bytes(data)

    def call(self, *words: str, expected: Sequence[int] = (0,)) -> None:
        """Take what a command prints; an exit status that is not expected ends everything."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status: object = main(list(words))
            except SystemExit as end:
                status = end.code
        command = "mawl " + " ".join(words)
        assert status in expected, f"{command} ended with {status}: {err.getvalue()}"
        self.add(command, f"{status}\n{out.getvalue()}\n{err.getvalue()}")

    def forms(self, *words: str, forms: Iterable[str] = FORMS, expected: Sequence[int] = (0,)) -> None:
        """Take what a command prints in each of its formats."""
        for form in forms:
            self.call(*words, "--format", form, expected=expected)

    def folder(self, folder: str, pattern: str = "*") -> None:
        """Take every file below a folder."""
        found = sorted(path for path in Path(folder).rglob(pattern) if path.is_file())
        assert found, f"{folder} holds no {pattern}"
        for path in found:
            self.add(f"file {path}", path.read_text(errors="replace"))

    def reports(self, run: str, formats: Sequence[str] = RUN_FORMATS) -> None:
        """Take every form of the report of a run."""
        self.call("report", run)
        self.call("report", run, "--all")
        self.call("report", run, "--color", "always")
        for form in formats:
            output = f"{run}.{form}"
            self.call("report", run, "--format", form, "--output", output)
            self.add(f"file {output}", Path(output).read_text(errors="replace"))
        for name in TABLES:
            self.call("report", run, "--format", "csv", "--table", name)

    def imported(self, name: str, *words: str) -> None:
        """Import ``files-NAME`` as run ``import-NAME``, and take its reports."""
        self.call("import", f"files-{name}", "--output", f"import-{name}", *words, "--json")
        self.reports(f"import-{name}")


def measured(name: str = "measured") -> Path:
    """A run of 71 jobs on one node."""
    return write_synthetic_run(Path(name), jobs=71, nodes=1, seconds=900)


def joined() -> None:
    """Logs with a recording of their host."""
    Path("files-joined").mkdir()
    joined_files(Path("files-joined"))


def nights(count: int = 30) -> None:
    """Nights of logs."""
    nightly(
        Path("files-nights"),
        datetime(2026, 10, 5, 20),
        count,
        zone=UTC,
        steps={"join_sales": (20, 1.5)},
        without={12},
    )


def recorded_host() -> model_host.ModelHost:
    """A host with two disks and two links."""
    rates = ({"sda": (1000, 500), "sdb": (2000, 0)}, {"sda": (3000, 800), "sdb": (0, 700)}, {"sda": (10, 20)})
    return model_host.ModelHost(
        cpus=4,
        disks=frozenset({"sda", "sdb"}),
        moved=rates,
        cpu=tuple(model_host.Cpu(20 + 10 * at, 10, 5, 65 - 10 * at) for at in range(3)),
        names={"sda": "sda", "sdb": "sdb"},
        names_tell=True,
        links={"eth0": (100, 50), "lo": (1, 1)},
        own_links=frozenset({"eth0"}),
    )


def runs(outputs: Outputs) -> None:
    """Reports of measured runs: short, killed, of 71 jobs, with hostile names."""
    write_run(Path("short")).finish(facts())
    write_run(Path("killed"))
    measured()
    write_hostile_run(Path("hostile"))
    for name in ("short", "killed", "measured", "hostile"):
        outputs.reports(name)


def clusters(outputs: Outputs) -> None:
    """Reports of runs on several nodes, and of runs that can be published."""
    write_synthetic_run(Path("nodes"), jobs=142, nodes=2, seconds=600)
    write_published(Path("published"))
    write_published_cluster(Path("cluster"))
    for name in ("nodes", "published", "cluster"):
        outputs.reports(name)


def recordings(outputs: Outputs) -> None:
    """Imports of recordings of a host."""
    host = recorded_host()
    for name, file, text in (
        ("sar", "sar.txt", model_host.sar(host)),
        ("sadf", "sadf.csv", model_host.sadf_text(host)),
        ("sadf-json", "sadf.json", model_host.sadf_json(host)),
        ("iostat", "iostat.txt", model_host.iostat(host)),
        ("iostat-json", "iostat.json", model_host.iostat_json(host)),
        ("mpstat", "mpstat.txt", model_host.mpstat(host)),
        ("vmstat", "vmstat.txt", model_host.vmstat(host)),
        ("nmon", "host.nmon", model_host.nmon(host)),
    ):
        Path(f"files-{name}").mkdir()
        Path(f"files-{name}", file).write_text(text)
        outputs.imported(name, *(() if name in ("vmstat", "mpstat") else ROLES))


def logs(outputs: Outputs) -> None:
    """Imports of logs, of logs with recordings, and of a recording with the statistics of an array."""
    joined()
    nights()
    outputs.imported("joined", *ROLES)
    outputs.imported("nights")
    Path("files-aix").mkdir()
    Path("files-aix", "aix1.nmon").write_text("".join(aix_recording(4, 10)))
    outputs.imported("aix", *ROLES)
    Path("array.csv").write_text(table(range(1, 12)))
    Path("map.toml").write_text('preset = "plain"\narray = "XIV"\n[roles]\ndata = "sasdata.*"\n')
    shutil.copytree("import-aix", "with-array")
    outputs.call("attach", "with-array", "array.csv", "--array-map", "map.toml", "--json")
    outputs.reports("with-array")
    outputs.call("derive", "import-joined", "--output", "derived")
    outputs.folder("derived")
    outputs.call("plan", "derived/workload.toml", "--json")


def comparisons(outputs: Outputs) -> None:
    """Comparisons of runs, of logs with a run of their jobs, and runs over time."""
    write_run(Path("short")).finish(facts())
    write_run(Path("killed"))
    write_published(Path("published"))
    measured()
    measured("again")
    joined()
    for name in ("import-joined", "import-other"):
        outputs.call("import", "files-joined", "--output", name, *ROLES, "--json")
    for sides in (
        ("short", "killed"),
        ("measured", "again"),
        ("short", "killed", "measured"),
        ("published", "s822-hybrid-20"),
        ("import-joined", "import-other"),
    ):
        outputs.forms("compare", *sides, "--anyway")
        outputs.call("compare", *sides, "--anyway", "--all")
    logged, run = logs_and_run(outputs.place / "shop")
    outputs.forms("compare", os.path.relpath(logged), os.path.relpath(run))
    nights()
    outputs.call("import", "files-nights", "--output", "import-nights", "--json")
    store_nights(Path("nights"))
    outputs.forms("history", "nights")
    outputs.forms("history", "import-nights")
    outputs.forms("history", "import-nights", "--each")


def simulations(outputs: Outputs) -> None:
    """Measured and imported runs on other systems, simulated."""
    measured()
    write_synthetic_run(Path("nodes"), jobs=40, nodes=2, seconds=600)
    joined()
    outputs.call("import", "files-joined", "--output", "import-joined", *ROLES, "--json")
    nights(1)
    outputs.call("import", "files-nights", "--output", "import-nights", "--json")
    Path("system.toml").write_text(SYSTEM)
    for run in ("measured", "nodes", "import-joined", "import-nights"):
        system = ("--measured-on", "system.toml") if run == "import-nights" else ()
        outputs.call("simulate", run, "--anyway", *system)
        outputs.call("simulate", run, "--anyway", *system, "--json")
        outputs.call("simulate", run, "--anyway", *system, "--sessions", "30", "--output", f"more-{run}")
        # Which points of a simulated run a chart shows differs between processors by rounding: no page.
        outputs.reports(f"more-{run}", [form for form in RUN_FORMATS if form != "html"])


def forecasts(outputs: Outputs) -> None:
    """Sizes, placements, and forecasts of the published systems."""
    offers = Path(__file__).resolve().parents[2] / "examples" / "offers.toml"
    Path("offers.toml").write_bytes(offers.read_bytes())
    measured()
    outputs.call("simulate", "--published")
    outputs.call("simulate", "--published", "--json")
    asked = ("size", "offers.toml", "measured", "--anyway", "--within")
    outputs.call(*asked, "10", expected=(3,))
    outputs.call(*asked, "100", "--format", "json", expected=(4,))
    outputs.add("size text", rendered(sizing.document(sized.answer()), "text", 80) + "\n")
    placements(outputs)


def placements(outputs: Outputs) -> None:
    """Where the roles of a run should live."""
    for name, advice in (("one target", advised(SLOW)), ("two targets", advised(SLOW, FLASH))):
        outputs.add(f"placement text of {name}", rendered(placement_document(advice), "text"))
    write_probe(Path("probe.json"), probed.probe(SLOW, FLASH))
    outputs.call("probe", "--from", "probe.json")
    outputs.call("probe", "--from", "probe.json", "--json")


def packs(outputs: Outputs) -> None:
    """Packed, validated and published results, and the papers' results."""
    write_published(Path("published"))
    write_published_cluster(Path("cluster"))
    write_run(Path("short")).finish(facts())
    for run in ("published", "cluster", "short"):
        outputs.call("validate", run, expected=(0, 1))
        outputs.call("validate", run, "--json", expected=(0, 1))
        division = ("--division", "open") if run == "short" else ()  # its seed is a chosen one
        outputs.call("pack", run, *division, "--output", f"{run}.mawl")
        outputs.call("validate", f"{run}.mawl", "--json", expected=(0, 1))
    outputs.call("publish", "published.mawl", "--output", "site")
    outputs.folder("site", "*.html")
    outputs.call("published")
    outputs.call("published", "--json")
    outputs.call("published", "s822-hybrid-20")
    outputs.call("published", "s822-hybrid-20", "--format", "json")
    for paper in papers():
        outputs.call("published", paper.source.key, "--tables")


def answers(outputs: Outputs) -> None:
    """Campaigns, qualifications and ranks, made of records."""
    write_published_campaign(Path("campaign"))
    outputs.forms("report", "campaign")
    outputs.call("validate", "campaign", expected=(0, 1))
    for name, found in CAMPAIGNS.items():
        outputs.add(f"campaign {name} json", campaigns.render_json(found()))
        for form in ("text", "markdown", "html"):
            outputs.add(f"campaign {name} {form}", rendered(campaigns.document(found()), form))
    for name, record in every_record().items():
        for form in ("text", "markdown", "html"):
            outputs.add(f"answer {name} {form}", rendered(answer_document(record), form, 80))
        outputs.add(f"answer {name} rules", rendered(disclosure(record), "markdown"))
    for name, evidence in (("A", YES), ("B", NO)):
        Path(name).mkdir()
        write_qualification(Path(name), answered(evidence))
    outputs.forms("rank", "A", "B", "--price", "A=1.20/h", forms=("text", "json", "markdown"))
    outputs.forms("rank", "A", "B", "--sessions", "30", forms=("text",))
    outputs.forms("compare", "A", "B", forms=("text", "html"))


def pages(outputs: Outputs) -> None:
    """Pages of every kind that no other part makes; the library's has times of files in it."""
    made = {"run", "short smoke run", "hostile run", "publishable run", "library"}
    for kind, make in KINDS.items():
        if kind not in made and not kind.startswith(("campaign", "answer")):
            folder = Path("pages", re.sub(r"\W+", "-", kind)).absolute()
            folder.mkdir(parents=True)
            outputs.add(f"page {kind}", make(folder))


def interface(outputs: Outputs) -> None:
    """Help, schemas, completion, plans and settings."""
    outputs.call("--help")
    for verb in VERBS:
        outputs.call(verb, "--help")
        if verb in ("run", "qualify"):
            outputs.call(verb, "--help-all")
    for words in (
        "tune check",
        "tune compare",
        "tune show",
        "tune search",
        "lab run",
        "lab report",
        "lab down",
    ):
        outputs.call(*words.split(), "--help")
    for name in FORMATS:
        outputs.call("schema", name)
    for shell in ("bash", "zsh", "fish"):
        outputs.call("completion", shell)
    for workload in ("mixed20", "mixed30", "mixed30-19", "starter", "bed", "nano"):
        outputs.call("plan", workload)
        outputs.call("plan", workload, "--json")
    outputs.call("tune", "show")
    outputs.call("tune", "show", "--all")
    outputs.call("tune", "show", "--all", "--json")
    for platform in ("aix", "linux"):
        outputs.call("tune", "collector", platform)
    collected_hosts.client(Path("client").absolute(), "default")
    collected_hosts.server(Path("server").absolute(), "recommended", hybrid=True)
    for folder in ("client", "server"):
        outputs.call("tune", "check", "--from", folder)
        outputs.call("tune", "check", "--from", folder, "--all")
        outputs.call("tune", "check", "--from", folder, "--json")


PARTS: Mapping[str, Callable[[Outputs], None]] = {
    part.__name__: part
    for part in (
        runs,
        clusters,
        recordings,
        logs,
        comparisons,
        simulations,
        forecasts,
        packs,
        answers,
        pages,
        interface,
    )
}


def run(part: str, keep: Path | None) -> Mapping[str, str]:
    """The digests of one part."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mawl-frozen-") as folder:
        outputs = Outputs(Path(folder), keep)
        os.chdir(folder)
        time.time = lambda: NOW
        sys.argv = ["mawl"]
        PARTS[part](outputs)
        os.chdir("/")
    return outputs.digests


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--keep", type=Path, help="also write each output into this directory")
    arguments = parser.parse_args()
    digests = run(arguments.part, arguments.keep and arguments.keep.resolve())
    sys.stdout.writelines(f"{digest} {name}\n" for name, digest in digests.items())
