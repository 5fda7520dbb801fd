// Sorts tables by a column, filters long ones, copies them as CSV, and shades unusual figures in tables of comparable rows.
(() => {
  const UNITS = {
    us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400, "%": 0.01, "": 1,
    B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4,
  };
  // The number that the page writes as a text such as "1 min 07 s" or "12.3 kB/s"; NaN for other texts.
  const number_of = (text) => {
    const parts = Array.from(text.matchAll(/(-?(?:\d{1,3}(?:,\d{3})+|[\d.]+)) ?([a-zA-Z%]*)(\/s)?/g));
    if (!parts.length || parts.map((part) => part[0]).join(" ") !== text || parts.some((part) => !(part[2] in UNITS))) return NaN;
    return parts.reduce((sum, part) => sum + Number(part[1].replaceAll(",", "")) * UNITS[part[2]], 0);
  };
  const text_of = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
  const value_of = (cell) => {
    const figures = cell.querySelectorAll("[data-value]");
    if (figures.length === 1) {
      const value = JSON.parse(figures[0].dataset.value);
      return value === null ? NaN : value;
    }
    if (cell.querySelector(".absent")) return NaN;
    const number = number_of(text_of(cell));
    return isNaN(number) ? text_of(cell) : number;
  };
  const missing = (value) => typeof value === "number" && isNaN(value);
  const compared = (one, other) => {
    if (missing(one) || missing(other)) return missing(one) - missing(other);
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other), "en", {numeric: true});
  };

  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") === "descending" || !head.hasAttribute("aria-sort") && column === 0;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [value_of(row.cells[column]), row]);
    rows.sort(([one], [other]) => missing(one) || missing(other) ? compared(one, other) : (down ? 1 : -1) * compared(one, other));
    body.append(...rows.map(([, row]) => row));
  };

  // A spreadsheet takes what begins with one of = + - @ for a formula, unless it is a number.
  const quoted = (value) => {
    let text = missing(value) ? "" : String(value);
    if (typeof value !== "number" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv_of = (table) => {
    const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.dataset.name);
    const shown = Array.from(table.tBodies[0].rows).filter((row) => !row.classList.contains("filtered"));
    const rows = shown.map((row) => Array.from(row.cells, value_of));
    return [heads, ...rows].map((row) => row.map(quoted).join(",") + "\n").join("");
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };

  const shade = (table) => {
    const rows = Array.from(table.tBodies[0].rows);
    for (let column = 1; column < table.tHead.rows[0].cells.length; column++) {
      const cells = rows.map((row) => row.cells[column]);
      const known = cells.map((cell) => [value_of(cell), cell]).filter(([value]) => Number.isFinite(value));
      if (known.length < 5) continue;
      const sorted = known.map(([value]) => value).sort((one, other) => one - other);
      const quantile = (share) => {
        const at = share * (sorted.length - 1), low = Math.floor(at);
        return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
      };
      const [low, high] = [quantile(0.25), quantile(0.75)], reach = 1.5 * (high - low);
      if (!(reach > 0)) continue;
      const usual = new Set(known.filter(([value]) => value >= low && value <= high).map(([, cell]) => text_of(cell)));
      for (const [value, cell] of known) {
        if (value >= low - reach && value <= high + reach || usual.has(text_of(cell))) continue;
        cell.classList.add("outlier");
        cell.title = "more than 1.5 interquartile ranges from the middle half of its column";
      }
    }
  };

  // Of many rows those that have every word asked for; paper has all rows.
  const MANY = 6;
  const filter = (table) => {
    const field = document.createElement("input"), count = document.createElement("output");
    field.type = "search";
    field.placeholder = "Filter rows";
    field.setAttribute("aria-label", `Filter rows of ${text_of(table.caption)}`);
    field.className = count.className = "screen filter";
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean), rows = Array.from(table.tBodies[0].rows);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.classList.toggle("filtered", !words.every((word) => text.includes(word)));
      }
      const shown = rows.filter((row) => !row.classList.contains("filtered")).length;
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    });
    table.caption.append(" ", field, " ", count);
  };

  const dress = (table) => {
    if (!table.tHead || !table.tBodies[0] || !table.caption) return;
    for (const cell of table.tHead.rows[0].cells) cell.dataset.name = text_of(cell);
    if (table.hasAttribute("data-alike")) shade(table);
    if (table.tBodies[0].rows.length > 2) {
      Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "sort screen";
        button.setAttribute("aria-label", `Sort by ${head.dataset.name}`);
        button.addEventListener("click", () => sort(table, column, head));
        head.append(" ", button);
      });
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy screen";
    button.textContent = "Copy as CSV";
    button.addEventListener("click", async () => {
      await copy(csv_of(table));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy as CSV"; }, 1500);
    });
    if (table.tBodies[0].rows.length > MANY && !table.classList.contains("narrow")) filter(table);
    table.caption.append(" ", button);
  };
  const all = (place) => { for (const one of place.querySelectorAll("table")) if (one.matches(".scroll > table")) dress(one); };
  all(document);
  // A page that follows a run puts fresh tables in the place of old ones.
  document.addEventListener("fresh", (event) => all(event.target));
})();
