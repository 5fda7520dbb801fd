// The definition of a figure opens where its name or value is clicked; without scripts its name leads to the list.
(() => {
  let open = null, opener = null;
  const close = () => {
    open?.remove();
    open = null;
    opener?.focus?.();
    opener = null;
  };
  const named = (id) => id && document.getElementById(id);
  // A definition of all members of a list or mapping has a * in their place.
  const of_path = (path) => Array.from(document.querySelectorAll(".glossary dt")).find((term) => {
    const parts = term.id.slice(4).split(".");
    return parts.length === path.length && parts.every((part, at) => part === "*" || part === String(path[at]));
  });
  const show = (term, from) => {
    close();
    opener = from.matches("a") ? from : null;
    open = document.createElement("div");
    open.className = "definition screen";
    open.tabIndex = -1;
    open.setAttribute("role", "dialog");
    open.setAttribute("aria-label", `Definition of ${term.textContent}`);
    const name = document.createElement("b"), text = document.createElement("p");
    const all = document.createElement("a"), away = document.createElement("button");
    name.textContent = term.textContent;
    text.textContent = term.nextElementSibling.textContent;
    all.href = `#${term.id}`;
    all.textContent = "In the list of definitions";
    all.addEventListener("click", () => { opener = null; close(); });
    away.type = "button";
    away.textContent = "Close";
    away.addEventListener("click", close);
    open.append(name, text, all, " ", away);
    document.body.append(open);
    const box = from.getBoundingClientRect(), width = open.offsetWidth;
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8));
    open.style.left = `${left + scrollX}px`;
    open.style.top = `${box.bottom + scrollY + 4}px`;
    open.focus({preventScroll: true});
  };
  document.addEventListener("click", (event) => {
    if (open?.contains(event.target)) return;
    const link = event.target.closest("a.figure-link"), figure = event.target.closest("[data-path]");
    const term = link ? named(link.hash.slice(1)) : figure && of_path(JSON.parse(figure.dataset.path));
    if (!term) { opener = null; close(); return; }
    event.preventDefault();
    show(term, link ?? figure);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && open) close(); });
})();
