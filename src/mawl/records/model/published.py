"""What papers published of the mixed analytics workload: figures of record, in base units.

Names are those of the summary (docs/reference/metrics.md) where a figure means the same; the papers'
throughput is that of devices.  None is what a paper does not give; nothing is computed here
(``figures.published`` does).  The data are in ``mawl/published``, one file per paper,
next to which a user's price book of systems may stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from mawl.base.errors import InvalidFileError, UsageError
from mawl.records.spec import toml
from mawl.records.spec.program_options import Role

CpuAccounting = Literal["purr", "raw"]
"""``purr``: the factor of AIX's scaled accounting was applied; ``raw``: CPU times as the jobs logged them."""


class PaperRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure that a paper gives as a range."""

    low: float
    high: float


class Citation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where figures stand; ``published`` is YYYY, YYYY-MM or YYYY-MM-DD, None where the paper has no date."""

    key: str
    title: str
    publisher: str
    authors: list[str] = []
    published: str | None = None
    number: str | None = None

    def __str__(self) -> str:
        parts = [", ".join(self.authors), self.title, self.publisher, self.number, self.published]
        return ". ".join(part.rstrip(".") for part in parts if part)


class PaperPrograms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many distinct programs of each class a workload has."""

    compute: int
    memory: int
    io: int


class PaperRates(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Throughput by direction and in total."""

    read_bytes_per_second: float | None = None
    write_bytes_per_second: float | None = None
    total_bytes_per_second: float | None = None


class PaperDevice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes and throughput at the devices; ``lowest`` is the least that a paper reads off its graph."""

    read_bytes: float | None = None
    written_bytes: float | None = None
    read_ratio: float | None = None
    work_util_ratio: PaperRange | None = None
    peak: PaperRates = PaperRates()
    initial: PaperRates = PaperRates()
    sustained: PaperRates = PaperRates()
    lowest: PaperRates = PaperRates()
    sustained_bytes_per_second_per_core: float | None = None


class PaperLatency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Time of a request at one place."""

    mean_seconds: float
    peak_seconds: float


class Latencies(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Times of requests at the storage (whole, or by role where roles lie apart) and at the host's disks."""

    storage: PaperLatency | None = None
    storage_data: PaperLatency | None = None
    storage_work_util: PaperLatency | None = None
    host: PaperLatency | None = None


class PaperTimes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sums over the jobs, and wall time of the run."""

    elapsed_seconds: float | None = None
    active_seconds: float | None = None
    real_time_seconds: float | None = None
    user_cpu_seconds: float | None = None
    system_cpu_seconds: float | None = None
    memory_bytes: float | None = None


class JobRatios(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """CPU over real time of the single jobs; ``above_one`` where a paper says no more than that."""

    mean: float | None = None
    stddev: float | None = None
    range: float | None = None
    above_one: bool | None = None


class PaperFabric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What joins servers and storage: ports of a server (or of each node), and what is known beside."""

    kind: str
    bits_per_second_per_port: float
    ports: int | None = None
    ports_per_node: int | None = None
    storage_ports: int | None = None
    paths_per_volume: int | None = None
    capability_bytes_per_second: float | None = None


class PaperFileSystem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file system, or each of three alike."""

    size_bytes: float | None = None
    volumes: int | None = None
    block_bytes: int | None = None
    subblock_bytes: int | None = None
    allocation: str | None = None
    shared: str | None = None


class Sequential(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What storage does under one sequential stream of tests, as a paper rates it."""

    request_bytes: int
    requests_per_second: float
    bytes_per_second: float
    response_seconds: float


class PaperSystem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The machines.  ``cpus_per_node`` are processors of which a paper does not say cores or threads."""

    processor: str | None = None
    cores_per_node: list[int] | None = None
    cpus_per_node: int | None = None
    memory_bytes_per_node: int | None = None
    smt: int | None = None
    storage: dict[Role, str] = {}
    storage_description: str | None = None
    fabric: PaperFabric | None = None
    file_systems: dict[Role | Literal["each"], PaperFileSystem] = {}
    sequential_read: Sequential | None = None
    sequential_write: Sequential | None = None

    def cores(self, nodes: int) -> int | None:
        """Physical cores of all nodes; None where a paper does not give them."""
        given = self.cores_per_node
        return None if given is None else sum(given) if len(given) > 1 else given[0] * nodes


class Compression(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Saving of one role's volumes: 1 - stored/original, real and estimated; sizes are of one volume."""

    saving_ratio: float
    estimated_saving_ratio: PaperRange
    volumes: int
    volume_size_bytes: float
    volume_used_bytes: float
    volume_stored_bytes: float
    volume_saved_bytes: float


class PaperChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper says of a run against another one, as printed.

    ``programs_alike_ratio`` is a margin of run time: the paper says that several programs lay within it.
    It bounds no program, neither those nor others.
    """

    against: str
    elapsed_ratio: float | None = None
    real_time_ratio: float | None = None
    programs_faster: int | None = None
    programs_faster_ratio: PaperRange | None = None
    programs_alike_ratio: float | None = None


class PublishedResult(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One measured run of a paper; ``source`` is the key of its citation."""

    id: str
    title: str
    source: str
    nodes: int
    sessions_per_node: int | None = None
    programs: PaperPrograms | None = None
    jobs: int | None = None
    peak_concurrent_jobs: int | None = None
    cpu_accounting: CpuAccounting | None = None
    measured_where: str | None = None
    limit: str | None = None
    system: PaperSystem = PaperSystem()
    time: PaperTimes = PaperTimes()
    cpu_real_ratio: JobRatios = JobRatios()
    device: PaperDevice = PaperDevice()
    latency: Latencies = Latencies()
    cpu_busy_ratio: float | None = None
    cpu_iowait_ratio: float | None = None
    compression: dict[Role, Compression] = {}
    change: PaperChange | None = None
    caveats: list[str] = []

    @property
    def cores(self) -> int | None:
        return self.system.cores(self.nodes)


class PaperWorkload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper says of the workload itself; inputs are of one instance of each program."""

    title: str
    programs: PaperPrograms
    io_input_bytes: float | None = None
    compute_input_bytes: float | None = None
    jobs_by_sessions: dict[str, int] = {}
    jobs: int | None = None
    mean_concurrent_jobs: float | None = None
    elapsed_seconds: float | None = None
    shortest_job_seconds: float | None = None
    longest_job_seconds: float | None = None
    initial_bytes_per_second: float | None = None
    climbs_to_bytes_per_second: float | None = None
    peak_bytes_per_second: float | None = None
    caveats: list[str] = []


class ThreadShare(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of a core that one hardware thread can use at most, by threads of a core (SMT mode)."""

    processor: str
    smt: dict[str, PaperRange]


RowUnit = Literal["seconds", "latency", "rate", "memory", "storage", "share", "ratio", "count"]
"""How a figure of a table is written; ``memory`` counts by 1024, ``storage`` by 1000."""


class PaperRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of a table: its path in a published result, and in the summary of a run.

    ``run`` names the paths in a summary where they differ: part (a role, say) to path.  ``not_of_runs`` says
    why a run has no such figure.
    """

    title: str
    unit: RowUnit
    figure: str
    run: dict[str, str] = {}
    not_of_runs: str | None = None


class PaperTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table, or a list of figures, as a paper prints it: a column for each result, by id."""

    exhibit: str
    title: str
    columns: list[str]
    rows: list[PaperRow]


class PaperFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper says besides its results."""

    source: Citation
    workload: PaperWorkload | None = None
    thread_share: ThreadShare | None = None
    findings: list[str] = []
    tables: list[PaperTable] = []


class Paper(PaperFacts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of ``mawl/published``."""

    results: list[PublishedResult] = []


class Cited(Citation, frozen=True, kw_only=True):
    """Where a result was published, and the same as one line."""

    citation: str


class PublishedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """What ran; ``sessions`` are those of all nodes."""

    nodes: int
    sessions_per_node: int | None
    sessions: int | None
    programs: PaperPrograms | None


class PublishedJobs(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs, and how many ran at once."""

    total: int | None
    peak_concurrent: int | None


class PublishedTimes(PaperTimes, frozen=True, kw_only=True):
    """The printed times; ``adjusted_cpu_seconds`` have AIX's scaled accounting undone."""

    adjusted_cpu_seconds: PaperRange | None


class PublishedRatios(JobRatios, frozen=True, kw_only=True):
    """CPU over real time: of the sums, and what is printed of single jobs."""

    of_sums: float | None


class PublishedIo(msgspec.Struct, frozen=True, kw_only=True):
    """What devices moved, and where that was measured."""

    device: PaperDevice
    measured_where: str | None


class PublishedHost(msgspec.Struct, frozen=True, kw_only=True):
    """The processors."""

    cpu_busy_ratio: float | None
    cpu_iowait_ratio: float | None
    cores: int | None
    core_basis: str | None


class PublishedLimit(msgspec.Struct, frozen=True, kw_only=True):
    """What limited it, as the paper says."""

    verdict: str


class PerCore(msgspec.Struct, frozen=True, kw_only=True):
    """Throughput, sessions and memory per physical core."""

    core_basis: str | None
    cores: int | None
    peak_bytes_per_second: float | None
    initial_bytes_per_second: float | None
    sustained_bytes_per_second: float | None
    sessions: float | None
    memory_bytes: float | None


class PublishedShape(msgspec.Struct, frozen=True, kw_only=True):
    """Ratios that do not depend on how large or old a machine is."""

    read_ratio: float | None
    work_util_ratio: PaperRange | None
    cpu_real_ratio: float | None
    system_cpu_ratio: float | None
    peak_per_sustained: float | None
    initial_per_peak: float | None
    active_ratio: float | None
    jobs_per_session: float | None
    peak_jobs_per_session: float | None
    memory_per_job_bytes: float | None
    device_bytes_per_input_byte: float | None
    plateau_bytes_per_core_second: float | None
    bytes_per_cpu_second: float | None


class PublishedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A result; what a paper does not give is None."""

    id: str
    kind: Literal["published"] = "published"
    title: str
    source: Cited
    caveats: list[str]
    workload: PublishedWorkload
    jobs: PublishedJobs
    time: PublishedTimes
    cpu_accounting: CpuAccounting | None
    cpu_real_ratio: PublishedRatios
    io: PublishedIo
    latency: Latencies
    host: PublishedHost
    system: PaperSystem
    limit: PublishedLimit | None
    compression: dict[Role, Compression]
    change: PaperChange | None
    per_core: PerCore
    shape: PublishedShape
    findings: list[str]


SHIPPED = Path(__file__).parents[1] / "published"


@cache
def papers() -> tuple[Paper, ...]:
    """Every paper, oldest first, those without a date last."""
    read = [toml.load(path, Paper) for path in sorted(SHIPPED.glob("*.toml"))]
    return tuple(sorted(read, key=lambda paper: (paper.source.published or "9999", paper.source.key)))


def published() -> dict[str, PublishedResult]:
    """Every result by its id, paper by paper."""
    return {result.id: result for paper in papers() for result in paper.results}


def published_result(name: str) -> PublishedResult:
    """The result of that id; ``UsageError`` where there is none."""
    known = published()
    if name not in known:
        raise UsageError(f"{name} is no published result", cure=f"choose from: {', '.join(known)}")
    return known[name]


def paper_of(result: PublishedResult) -> Paper:
    """The paper that a result stands in."""
    return next(paper for paper in papers() if paper.source.key == result.source)


def paper_named(name: str) -> Paper:
    """The paper of that key, or that holds the result of that id.

    ``UsageError`` where there is none.
    """
    for paper in papers():
        if name in (paper.source.key, *(result.id for result in paper.results)):
            return paper
    keys = ", ".join(paper.source.key for paper in papers())
    raise UsageError(f"{name} is no paper and no result of one", cure=f"choose from: {keys}")


def thread_shares() -> dict[str, ThreadShare]:
    """Processor to what one of its hardware threads can use of a core."""
    return {paper.thread_share.processor: paper.thread_share for paper in papers() if paper.thread_share}


MOST_PRICE = 1e15
"""A higher price is most likely a typing error; sums and ratios of lower ones are exact enough."""


class PriceBook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``per_hour`` by the name of a system, in ``currency``; mawl knows no prices of its own."""

    currency: str = ""
    per_hour: dict[str, float] = {}


def load_prices(path: Path) -> PriceBook:
    """The file, checked; ``InvalidFileError`` names the key that is wrong."""
    book = toml.load(path, PriceBook)
    for name, price in book.per_hour.items():
        check_price(price, f"{path}: per_hour.{name}")
    return book


def check_price(price: float, where: str) -> None:
    """Raise ``InvalidFileError`` for a price of a file that nobody can pay or add up."""
    if not 0.0 < price <= MOST_PRICE:
        raise InvalidFileError(
            f"expected a price above 0 and up to {MOST_PRICE:g}, found {price}", where=where
        )


def with_prices(book: PriceBook, given: Sequence[str]) -> PriceBook:
    """The book with the prices of the command line (``NAME=1.20/h``) over its own."""
    return msgspec.structs.replace(book, per_hour={**book.per_hour, **dict(map(_price, given))})


def _price(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        price = float(value.strip().removesuffix("/h"))
    except ValueError:
        price = 0.0
    if not name or not 0.0 < price <= MOST_PRICE:
        raise UsageError(f"--price {text}: expected NAME=PRICE, such as A=1.20/h")
    return name, price
