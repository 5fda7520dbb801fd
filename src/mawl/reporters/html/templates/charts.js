"use strict";
// Draws the figures of the block charts-data.  All charts over time zoom together and share one crosshair;
// the legends show the figures at its moment.  An entry of a legend hides or shows its line or area.
(() => {
  Bokeh.logger.set_level("error");

  // Areas end where a figure is missing: Bokeh would draw a straight line across the gap.
  Bokeh.Models.get("VArea").prototype.default_view.prototype._paint = function (context, _, data) {
    const {sx, sy1, sy2} = {...this, ...data};
    const known = (at) => at < sx.length && !isNaN(sy1[at]) && !isNaN(sy2[at]);
    context.beginPath();
    for (let first = 0; first < sx.length; first++) {
      if (!known(first)) continue;
      let last = first;
      while (known(last + 1)) last++;
      context.moveTo(sx[first], sy1[first]);
      for (let at = first; at <= last; at++) context.lineTo(sx[at], sy1[at]);
      for (let at = last; at >= first; at--) context.lineTo(sx[at], sy2[at]);
      context.closePath();
      first = last;
    }
    this.visuals.fill.apply(context);
    this.visuals.hatch.apply(context);
  };

  // How figures are written; the forms of charts/frame.py.
  const digits = (value) => Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  const scaled = (value, base, units) => {
    let place = 0;
    while (Math.abs(value) >= base * 0.9995 && place < units.length - 1) { value /= base; place++; }
    return `${place || value % 1 ? digits(value) : value} ${units[place]}`;
  };
  const forms = {
    rate: (value) => scaled(value, 1000, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"]),
    memory: (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]),
    share: (value) => `${digits(value * 100)} %`,
    count: (value) => digits(value),
    plain: (value) => String(value),
    latency: (value) => value < 1e-3 ? `${digits(value * 1e6)} us` : value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`,
  };
  const written = (form, value) => Number.isFinite(value) ? forms[form](value) : "-";
  const round = (text) => text.replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");
  const clock = (seconds) => {
    const whole = Math.round(seconds), two = (number) => String(number).padStart(2, "0");
    return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  };

  const {document: content, roots, colours} = JSON.parse(document.getElementById("charts-data").textContent);
  const drawn = Promise.resolve(
    Bokeh.embed.embed_items({charts: content}, [{docid: "charts", roots, root_ids: Object.keys(roots)}]));
  const models = () => Array.from(Bokeh.documents[0]._all_models.values());
  const views = () => Array.from(Bokeh.index);
  const view_of = (name) => views().find((view) => view.model.name === name && view.model.type === "Figure");
  const over_time = (view) => view?.model.x_range?.name === "time";

  // Colours are those of the page's scheme; charts are made with the light ones.
  const painted = [];
  const remember = () => {
    const known = (value) => typeof value === "string" && value in colours;
    for (const model of models()) {
      for (const {attr} of model) {
        if (/color$/.test(attr)) {
          const value = model[attr], own = value?.value ?? value;
          if (known(own)) painted.push((now) => { model[attr] = value?.value ? {...value, value: now(own)} : now(own); });
        } else if (attr === "palette" && model.palette.some(known)) {
          const own = Array.from(model.palette);
          painted.push((now) => { model.palette = own.map(now); });
        } else if (attr === "data" && model.data?.color) {
          const own = Array.from(model.data.color);
          painted.push((now) => { model.data = {...model.data, color: own.map(now)}; });
        }
      }
    }
  };
  const paint = () => {
    const style = getComputedStyle(document.documentElement);
    for (const one of painted) {
      one((colour) => colours[colour] ? style.getPropertyValue(`--${colours[colour]}`).trim() : colour);
    }
    for (const view of views()) view.request_repaint?.();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  // On paper a chart is a picture as wide as .printing says: the browser does not wait for a canvas.  A chart
  // of many rows is drawn lower, so that it fits a sheet; the style sheet shrinks what is higher still.  The
  // chart of a report on one sheet leaves room for the table.
  const SHEET_PIXELS = 750, LEAST_ROW_PIXELS = 11, ONE_PAGE_PIXELS = 170;
  let heights = [];
  const lower = (model) => {
    const {start, end} = model.y_range;
    const one_page = document.documentElement.classList.contains("one-page");
    const most = one_page ? ONE_PAGE_PIXELS : Math.max(SHEET_PIXELS, LEAST_ROW_PIXELS * Math.abs(end - start));
    if (!(model.height > (one_page ? most : SHEET_PIXELS))) return;
    heights.push([model, model.height]);
    model.height = Math.min(model.height, most);
  };
  const places = () => Array.from(document.querySelectorAll(".chart"));
  addEventListener("beforeprint", () => {
    paint();
    for (const place of places()) {
      const view = view_of(place.dataset.chart);
      if (!view || place.querySelector("img")) continue;
      for (const one of view.computed_renderer_views) one.glyph?.set_visuals(one.model.data_source, one.all_indices);
      lower(view.model);
      view.compute_layout();
      view.request_repaint();
      view.repaint();
      const picture = document.createElement("img");
      picture.alt = "";
      picture.src = view.export("png", true).canvas.toDataURL();
      place.append(picture);
    }
    document.documentElement.classList.add("pictured");
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("pictured");
    for (const picture of document.querySelectorAll(".chart img")) picture.remove();
    for (const [model, height] of heights) model.height = height;
    heights = [];
    paint();
  });

  // The words of a time axis need a width that its ticker does not know.
  const narrow = matchMedia("(max-width: 40rem)");
  const thin = () => {
    for (const view of views().filter(over_time)) view.model.below[0].ticker.desired_num_ticks = narrow.matches ? 3 : 6;
    const decades = view_of("latency_distribution")?.model.below[0].ticker;
    if (decades) {
      decades.every ??= Array.from(decades.ticks);
      decades.ticks = decades.every.filter((_, at) => !narrow.matches || at % 2);
    }
  };
  narrow.addEventListener("change", thin);

  const write_axes = () => {
    for (const model of models()) {
      if (model.type === "NumeralTickFormatter" && model.name in forms) {
        model.doFormat = (ticks) => ticks.map((tick) => round(written(model.name, tick)));
      }
    }
  };

  // The names of programs above their bars, as far as there is room.
  const CHARACTER_PIXELS = 5.6;
  const name_bars = () => {
    const view = view_of("sessions");
    const source = models().find((one) => one.type === "ColumnDataSource" && one.name === "sessions");
    if (!view || !source || !view.frame.bbox.width) return;
    const {start, end} = view.model.x_range, {left, right, program} = source.data;
    const pixels = view.frame.bbox.width / (end - start);
    const name = Array.from(program, (text, at) => {
      const room = Math.floor((right[at] - left[at]) * pixels / CHARACTER_PIXELS);
      return text.length <= room ? text : room > 3 ? text.slice(0, room - 1) + "\u2026" : "";
    });
    if (name.some((text, at) => text !== source.data.name[at])) source.data = {...source.data, name};
  };

  // The crosshair: one moment, a line in every chart over time, and its figures in the legends.
  const legends = () => Array.from(document.querySelectorAll(".legend[data-form]"), (legend) => {
    const place = legend.parentElement.querySelector(".chart");
    return {legend, place, view: view_of(place.dataset.chart)};
  }).filter(({view}) => over_time(view));
  const series = (view, name) => view.model.renderers.filter((one) => one.name === name);
  const nearest = (times, moment) => {
    let at = 0;
    for (let next = 1; next < times.length; next++) {
      if (Math.abs(times[next] - moment) < Math.abs(times[at] - moment)) at = next;
    }
    return at;
  };
  const marks = (renderer) => Array.from(renderer.data_source.data.label).join(", ");
  let moment = null;
  const show = (now) => {
    moment = now;
    for (const {legend, place, view} of legends()) {
      let line = place.querySelector(".crosshair");
      if (!line) {
        line = document.createElement("div");
        line.className = "crosshair";
        line.append(document.createElement("span"));
        place.append(line);
      }
      const frame = view.frame.bbox;
      line.hidden = now === null || !frame.width;
      if (now !== null) {
        const {start, end} = view.model.x_range, share = (now - start) / (end - start);
        line.hidden ||= share < 0 || share > 1;
        line.style.cssText = `left: ${frame.left + share * frame.width}px; top: ${frame.top}px; height: ${frame.height}px`;
        line.firstChild.textContent = clock(now);
        line.firstChild.classList.toggle("before", share > 0.5);
      }
      for (const key of legend.querySelectorAll("[data-series]")) {
        const [renderer] = series(view, key.dataset.series);
        const data = renderer?.data_source.data, value = key.querySelector("output");
        if (data?.label) value.textContent = marks(renderer);
        else if (now === null || !data?.seconds) value.textContent = "";
        else {
          const column = data[renderer.glyph.y?.field ?? renderer.name];
          value.textContent = written(legend.dataset.form, column?.[nearest(data.seconds, now)]);
        }
      }
    }
  };
  const follow = () => {
    for (const {place, view} of legends()) {
      const move = (event) => {
        const at = event.clientX - place.getBoundingClientRect().left - view.frame.bbox.left;
        const {start, end} = view.model.x_range;
        const now = start + (end - start) * at / view.frame.bbox.width;
        show(at < 0 || at > view.frame.bbox.width ? null : now);
      };
      place.addEventListener("pointermove", move);
      place.addEventListener("pointerdown", move);
      place.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") show(null); });
      place.tabIndex = 0;
      place.parentElement.setAttribute("role", "group");
      place.setAttribute("role", "slider");
      const bounds = view.model.x_range;
      for (const [name, value] of [["min", 0], ["max", Math.round(bounds.end)], ["now", 0]]) place.setAttribute(`aria-value${name}`, value);
      place.setAttribute("aria-valuetext", "no moment");
      place.setAttribute("aria-label", "Moment of the crosshair; arrow keys move it");
      place.addEventListener("keydown", (event) => {
        const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (event.key === "Escape") show(null);
        if (!way) return;
        event.preventDefault();
        const {start, end} = view.model.x_range;
        show(Math.min(end, Math.max(start, (moment ?? (start + end) / 2) + way * (end - start) / 100)));
        place.setAttribute("aria-valuenow", moment.toFixed(0));
        place.setAttribute("aria-valuetext", clock(moment));
      });
    }
  };

  // An entry of a legend switches what it names; areas above a hidden one come down.
  const switch_series = (view, key) => {
    const on = key.getAttribute("aria-pressed") !== "true";
    key.setAttribute("aria-pressed", String(on));
    for (const renderer of series(view, key.dataset.series)) renderer.visible = on;
    const hidden = new Set(view.model.renderers.filter((one) => !one.visible).map((one) => one.name));
    const stacks = view.model.renderers.flatMap((one) => [one.glyph.y1?.expr, one.glyph.y2?.expr]).filter(Boolean);
    for (const stack of stacks) {
      stack.every ??= stack.fields;
      stack.fields = stack.every.filter((field) => !hidden.has(field));
    }
    for (const source of new Set(view.model.renderers.map((one) => one.data_source))) source.change.emit();
  };

  drawn.then(() => {
    remember();
    write_axes();
    paint();
    thin();
    follow();
    show(null);
    name_bars();
    // Bokeh's canvas takes the focus and does nothing with it; crosshair and zoom buttons have their own tab stops.
    for (const view of views()) if (view.canvas_view) view.canvas_view.events_el.tabIndex = -1;
    for (const place of document.querySelectorAll(".chart")) {
      const view = view_of(place.dataset.chart);
      for (const key of place.closest("figure").querySelectorAll("[data-series]")) {
        key.addEventListener("click", () => { switch_series(view, key); show(moment); });
      }
    }
    const time = models().find((one) => one.name === "time");
    time?.change.connect(() => { name_bars(); show(moment); });
    addEventListener("resize", () => { setTimeout(name_bars, 300); show(null); });
    document.addEventListener("toggle", () => setTimeout(name_bars, 300), true);
    for (const one of models()) {
      if (one.type === "ColumnDataSource") one.properties.data.change.connect(() => { name_bars(); show(moment); });
    }

    // On a touch screen a finger that draws over a chart scrolls the page.
    if (matchMedia("(pointer: coarse)").matches) {
      for (const view of views()) if (view.model.toolbar) view.model.toolbar.active_drag = null;
    }
  });

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
