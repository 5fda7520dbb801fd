"use strict";
// Draws the figures of the block charts-data, and draws them again when the colours of the page change.
(() => {
  Bokeh.set_log_level("warn");
  const {document: content, roots} = JSON.parse(document.getElementById("charts-data").textContent);
  Bokeh.embed.embed_items({charts: content}, [{docid: "charts", roots, root_ids: Object.keys(roots)}]);
  const repaint = () => {
    for (const view of Bokeh.index) view.request_repaint?.();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", repaint);
})();
