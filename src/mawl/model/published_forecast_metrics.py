"""Definitions of the figures of ``mawl simulate --published --json``."""

from __future__ import annotations

from mawl.definitions.metric import Metric, flag_metric, object_metric, ratio_metric, text_metric

PAGE = "docs/design/published-forecasts.md"
ROW = f"{PAGE}, Question"
FIT = f"{PAGE}, The fit"

PUBLISHED_FORECAST_METRICS: tuple[Metric, ...] = (
    text_metric(
        "rows.*.system", "Id of the published result, or key of a paper.", "docs/design/published.md"
    ),
    text_metric("rows.*.figure", "Name of the figure in the published result.", "docs/design/published.md"),
    Metric(
        "rows.*.published", "-", "object", "The printed figure, in base units.", "docs/design/published.md"
    ),
    Metric("rows.*.predicted", "-", "object", "The same, of the simulated system.", ROW),
    flag_metric("rows.*.fitted", "Whether the numbers were fitted on this system.", FIT),
    ratio_metric("rows.*.error_ratio", "Predicted over published, less 1; of a range, its nearer end.", ROW),
    text_metric("rows.*.reason", "Why there is no prediction.", ROW),
    text_metric("pairs.*.reference", "Id of the first system.", ROW),
    text_metric("pairs.*.candidate", "Id of the second system, with a variant behind a slash.", ROW),
    text_metric("pairs.*.figure", "Name of the figure.", ROW),
    ratio_metric("pairs.*.published_change_ratio", "Second over first, less 1, published.", ROW),
    ratio_metric("pairs.*.predicted_change_ratio", "The same, predicted.", ROW),
    flag_metric("pairs.*.right", "Whether both go the same way; below 0.05 is neither up nor down.", ROW),
    Metric("fitted.on", "text", "list", "Systems that the numbers were fitted on.", FIT),
    object_metric("fitted.values", "The fitted numbers by name.", FIT),
)
