// A field above a long table shows the rows that hold every word typed; without scripts the table has all rows.
document.querySelectorAll(".searched table").forEach((table) => {
  const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
  const field = document.createElement("input");
  const said = document.createElement("p");
  field.type = "search";
  field.placeholder = "Search names and definitions";
  field.setAttribute("aria-label", field.placeholder);
  said.setAttribute("role", "status");
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach(([row, text]) => {
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    });
    said.textContent = `${shown} of ${rows.length} shown`;
  };
  field.addEventListener("input", show);
  table.closest(".searched").prepend(field, said);
  field.value = decodeURIComponent(location.hash.slice(1));
  show();
});
