"use strict";
// A printed page is light and unfolded; of a page printed as one sheet, the style sheet hides the rest.
// A link to a folded part opens it.
(() => {
  const folds = () => Array.from(document.querySelectorAll("details"));
  let closed = [];
  const root = document.documentElement;
  addEventListener("beforeprint", () => {
    root.classList.add("printing");
    closed = folds().filter((fold) => !fold.open);
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
    closed = [];
    root.classList.remove("printing", "one-page");
  });
  for (const button of document.querySelectorAll("[data-print]")) {
    button.addEventListener("click", async () => {
      root.classList.toggle("one-page", button.dataset.print === "one-page");
      const awaited = [];
      dispatchEvent(new CustomEvent("paper", {detail: awaited}));
      await Promise.all(awaited);
      print();
    });
  }
  const unfold = () => {
    let name = "";
    try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = name && document.getElementById(name);
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
