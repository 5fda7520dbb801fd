"use strict";
// Draws the figures of the block charts-data, zooms all of them over time together, and draws them
// again when the colours of the page change.
(() => {
  Bokeh.set_log_level("error");
  const {document: content, roots} = JSON.parse(document.getElementById("charts-data").textContent);
  const drawn = Bokeh.embed.embed_items({charts: content}, [{docid: "charts", roots, root_ids: Object.keys(roots)}]);

  const views = () => Array.from(Bokeh.index);
  const repaint = () => { for (const view of views()) view.request_repaint?.(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", repaint);

  // The words of a time axis need a width that its ticker does not know.
  const narrow = matchMedia("(max-width: 40rem)");
  const thin = () => {
    for (const view of views()) {
      const ticker = view.model.type === "Figure" && view.model.x_range.name === "time" && view.model.below[0].ticker;
      if (ticker) ticker.desired_num_ticks = narrow.matches ? 3 : 6;
    }
  };
  Promise.resolve(drawn).then(thin);
  narrow.addEventListener("change", thin);

  // On a touch screen a finger that draws over a chart scrolls the page.
  if (matchMedia("(pointer: coarse)").matches) {
    Promise.resolve(drawn).then(() => {
      for (const view of views()) if (view.model.toolbar) view.model.toolbar.active_drag = null;
    });
  }

  const zoom = (how) => {
    const range = Bokeh.documents[0].get_model_by_name("time");
    const [least, most] = range.bounds, whole = [Math.max(0, least), most / 1.02];
    const width = range.end - range.start, middle = (range.start + range.end) / 2;
    let [start, end] = {
      in: [middle - width / 4, middle + width / 4],
      out: [middle - width, middle + width],
      earlier: [range.start - width / 2, range.end - width / 2],
      later: [range.start + width / 2, range.end + width / 2],
      whole,
    }[how];
    if (end - start >= whole[1] - whole[0]) [start, end] = whole;
    if (start < whole[0]) [start, end] = [whole[0], whole[0] + end - start];
    if (end > whole[1]) [start, end] = [whole[1] - (end - start), whole[1]];
    range.setv({start, end});
  };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(button.dataset.zoom));
  }
})();
