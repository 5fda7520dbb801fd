"use strict";
// What the frame itself needs: a printed page shows what is folded, and a link into a fold opens it.
(() => {
  const folds = () => Array.from(document.querySelectorAll("details"));
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = folds().filter((fold) => !fold.open);
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
    closed = [];
  });
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
