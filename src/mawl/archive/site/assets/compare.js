"use strict";
// Puts two results side by side, or says why they must not be compared.
const results = JSON.parse(document.getElementById("results").textContent);
const form = document.getElementById("pair");
const place = document.getElementById("beside");
const made = (name, text, kind) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
};
const by = new Map(results.map((one) => [one.slug, one]));
function unlike(first, second, name) {
  return Object.keys(first[name]).filter((key) => first[name][key] !== second[name][key])
    .map((key) => `${key}: ${first[name][key]} and ${second[name][key]}`);
}
function list(title, sentences, kind) {
  const part = made("div", undefined, kind);
  part.append(made("strong", title));
  const items = made("ul");
  for (const sentence of sentences) items.append(made("li", sentence));
  part.append(items);
  return part;
}
function change(one, other, repeated) {
  if (one.median === null || other.median === null) return "-";
  if (one.median <= 0 || other.median <= 0) return "-";
  const percent = (100 * (other.median / one.median - 1));
  const overlap = one.low <= other.high && other.low <= one.high;
  const text = `${percent >= 0 ? "+" : ""}${percent.toFixed(1)} %`;
  if (!repeated) return `${text} (single runs: not judged)`;
  return overlap ? `${text} (the runs overlap: no difference shown)` : text;
}
function show() {
  const first = by.get(form.elements.first.value), second = by.get(form.elements.second.value);
  place.replaceChildren();
  if (!first || !second) return;
  history.replaceState(null, "", `#${first.slug},${second.slug}`);
  if (first === second) {
    place.append(list("These are one result.", ["choose another one to compare it with"], "refusal"));
    return;
  }
  const refused = unlike(first, second, "must_match");
  if (refused.length) {
    place.append(list("These must not be compared, because they differ in:", refused, "refusal"));
    return;
  }
  const doubts = unlike(first, second, "doubts");
  for (const one of [first, second]) if (!one.accepted) doubts.push(`${one.title} is not accepted: ${one.failed}`);
  if (doubts.length) place.append(list("Compare with care:", doubts, "note"));
  const repeated = first.runs > 1 && second.runs > 1;
  const table = made("table", undefined, "cards");
  const labels = ["figure (median, lowest to highest run)", first.title, second.title, "second against first"];
  const head = made("tr");
  for (const text of labels) head.append(made("th", text));
  table.append(head);
  const add = (...cells) => {
    const row = made("tr");
    cells.forEach((text, at) => {
      const cell = made("td", text);
      cell.dataset.label = at ? labels[at] : "figure";
      row.append(cell);
    });
    table.append(row);
  };
  for (const [name, one] of Object.entries(first.figures)) {
    const other = second.figures[name];
    const why = one.of !== other.of && one.of && other.of ? `not comparable: ${one.of} and ${other.of}` : null;
    add(name, one.text, other.text, why || change(one, other, repeated));
  }
  for (const [name, text] of Object.entries(first.machine)) {
    const other = second.machine[name] ?? "-";
    add(name, text, other, text === other ? "same" : "");
  }
  const wide = made("div", undefined, "wide");
  wide.append(table);
  place.append(wide);
}
for (const select of [form.elements.first, form.elements.second])
  for (const one of results) {
    const option = made("option", `${one.title} (${one.slug}): ${one.what}`);
    option.value = one.slug;
    select.append(option);
  }
function chosen() {
  const named = location.hash.slice(1).split(",");  // names of pages need no escapes
  if (by.has(named[0])) form.elements.first.value = named[0];
  const other = by.has(named[1]) ? named[1] : results.find((one) => one.slug !== form.elements.first.value)?.slug;
  if (other) form.elements.second.value = other;
  show();
}
form.hidden = false;
form.addEventListener("input", show);
window.addEventListener("hashchange", chosen);
chosen();
