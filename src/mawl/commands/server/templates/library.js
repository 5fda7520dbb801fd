"use strict";
// Search, filter, sort and select without a new page; the server does all of it, as it does without this script.
// Runs that were not judged yet are read one after another while the page is looked at.
(() => {
  const wait_milliseconds = 250;
  const form = () => document.getElementById("library");
  const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
  let asked = 0;
  const show = async (address) => {
    const mine = ++asked;
    const answer = await fetch(address);
    if (!answer.ok || mine !== asked) return;
    const fresh = parsed(await answer.text()).getElementById("library");
    if (!fresh || mine !== asked) return;
    // What has the focus keeps it, with what is typed in it; everything else is the server's.
    const held = document.activeElement, box = form().elements.q;
    const typed = held === box ? [box.value, box.selectionStart, box.selectionEnd] : null;
    const again = held?.form === form() && held.name ? `[name="${held.name}"]` + (held.type === "checkbox" ? `[value="${CSS.escape(held.value)}"]` : "") : null;
    form().replaceWith(fresh);
    if (typed) form().elements.q.value = typed[0];
    if (again) form().querySelector(again)?.focus();
    if (typed) form().elements.q.setSelectionRange(typed[1], typed[2]);
    history.replaceState(null, "", address);
    read();
  };
  const address = () => "/?" + new URLSearchParams(Array.from(new FormData(form())).filter(([, value]) => value));
  let timer = 0;
  document.addEventListener("input", (event) => {
    if (event.target.form !== form()) return;
    clearTimeout(timer);
    timer = setTimeout(() => show(address()), event.target.type === "search" ? wait_milliseconds : 0);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#library thead a, #library .selected a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    clearTimeout(timer);
    show(link.getAttribute("href"));
  });

  // While a run is under way nothing is read, so that it is not disturbed: the form lacks data-reading then.
  let reading = false;
  const read = async () => {
    if (reading) return;
    reading = true;
    try {
      for (;;) {
        const row = form().hasAttribute("data-reading") && !document.hidden && form().querySelector("tr[data-overview]");
        if (!row) return;
        const from = row.dataset.overview;
        const answer = await fetch(from);
        const fresh = answer.ok ? parsed(`<table>${await answer.text()}</table>`).querySelector("tr") : null;
        // The list may have been made anew in the meantime.
        const now = form().querySelector(`tr[data-overview="${CSS.escape(from)}"]`);
        if (!now) continue;
        now.removeAttribute("data-overview");
        const cells = now.querySelectorAll(".read"), made = fresh ? fresh.querySelectorAll(".read") : [];
        cells.forEach((cell, at) => { if (made[at]) cell.replaceWith(made[at]); else if (!at) cell.textContent = fresh?.querySelector(".words")?.textContent ?? "cannot be read"; });
      }
    } catch {
      // The server has ended; the page says what it knew.
    } finally {
      reading = false;
    }
  };
  document.addEventListener("visibilitychange", read);
  read();
})();
