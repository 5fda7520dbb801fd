"use strict";
// Hides rows of the result tables; without this script every row is there.
const form = document.getElementById("filters");
const count = document.getElementById("shown");
const rows = [...document.querySelectorAll("tr[data-row]")].map((row) => ({
  row, words: row.textContent.toLowerCase(), of: row.dataset,
}));
const groups = [...document.querySelectorAll("section[data-group]")];
function filter() {
  const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { row, words: text, of } of rows) {
    const fits = words.every((word) => text.includes(word))
      && ["division", "workload", "cache"].every((name) =>
        !form.elements[name].value || form.elements[name].value === of[name])
      && (!form.elements.accepted.checked || of.accepted === "yes");
    row.hidden = !fits;
    shown += fits;
  }
  for (const group of groups) group.hidden = !group.querySelector("tr[data-row]:not([hidden])");
  count.textContent = `${shown} of ${rows.length} results`;
}
form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
