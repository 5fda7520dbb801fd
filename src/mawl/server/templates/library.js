"use strict";
// Search while typing and sort without a new page; the server does both, as it does without this script.
(() => {
  const wait_milliseconds = 250;
  const form = () => document.getElementById("library");
  let asked = 0;
  const show = async (address) => {
    const mine = ++asked;
    const answer = await fetch(address);
    if (!answer.ok || mine !== asked) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("library");
    if (!fresh || mine !== asked) return;
    // The box that is being typed in stays; everything else is the server's.
    const box = form().elements.q, selection = [box.selectionStart, box.selectionEnd];
    const typing = document.activeElement === box, typed = box.value;
    form().replaceWith(fresh);
    if (typing) {
      form().elements.q.value = typed;
      form().elements.q.focus();
      form().elements.q.setSelectionRange(...selection);
    }
    history.replaceState(null, "", address);
  };
  let timer = 0;
  document.addEventListener("input", (event) => {
    if (event.target.form !== form()) return;
    clearTimeout(timer);
    timer = setTimeout(() => show("/?" + new URLSearchParams(new FormData(form()))), wait_milliseconds);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#library thead a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    clearTimeout(timer);
    show(link.getAttribute("href"));
  });
})();
