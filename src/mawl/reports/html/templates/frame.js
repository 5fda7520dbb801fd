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
  // An option of a command or a date that a line ends in is hard to read, so it stays on one line.
  const WHOLE = /(?<![\w-])--[a-z][a-z-]*|\d{4}-\d\d-\d\d/g;
  const keep_whole = (place) => {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
      const node = texts.currentNode;
      const parent = node.parentElement;
      // A box of flexible parts would lose the blanks between them.
      if (node.data.search(WHOLE) < 0 || parent.closest("script, style, svg, .whole")) continue;
      if (getComputedStyle(parent).display !== "flex") found.push(node);
    }
    for (const node of found) {
      const parts = document.createDocumentFragment();
      let end = 0;
      for (const match of node.data.matchAll(WHOLE)) {
        const whole = document.createElement("span");
        whole.className = "whole";
        whole.textContent = match[0];
        parts.append(node.data.slice(end, match.index), whole);
        end = match.index + match[0].length;
      }
      parts.append(node.data.slice(end));
      node.replaceWith(parts);
    }
  };
  keep_whole(document.body);
  document.addEventListener("fresh", (event) => keep_whole(event.target));
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
