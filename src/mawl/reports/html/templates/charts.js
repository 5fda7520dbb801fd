"use strict";
// Draws the figures of the block charts-data; those of a folded part when it is opened, or before a print.
// Charts with a common axis zoom together and share one crosshair; the legends show the figures at its moment.
// An entry of a legend hides or shows its line or area.
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
  const charts = Bokeh.require("document").Document.from_json(content);
  const manager = new (Bokeh.require("core/view_manager").ViewManager)([], Bokeh.index);
  charts.views_manager = manager;
  const models = () => Array.from(charts._all_models.values());
  const views = () => Array.from(manager);
  const figure_of = new Map(charts.roots().map((figure) => [roots[figure.id], figure]));
  const view_of = (place) => manager.get(figure_of.get(place.id));
  const places = () => Array.from(document.querySelectorAll(".chart"));
  const figures = (name) => charts.roots().filter((figure) => figure.x_range?.name === name);

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
  const picture = () => {
    if (!document.documentElement.classList.contains("printing")) return;
    paint();
    for (const place of places()) {
      if (place.querySelector("img")) continue;
      const view = view_of(place);
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
  };
  // The browser waits for promises of this listener before it prints, but not if a script has called print():
  // such a script asks for all charts first (frame.js).
  const all = () => Promise.all(places().map(draw));
  addEventListener("beforeprint", () => {
    if (places().every((place) => drawn.has(place))) picture();
    else all().then(picture);
  });
  addEventListener("paper", (event) => event.detail.push(all()));
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("pictured");
    for (const picture of document.querySelectorAll(".chart img")) picture.remove();
    for (const [model, height] of heights) model.height = height;
    heights = [];
    paint();
  });

  // The words of an axis need a width that its ticker does not know.
  const narrow = matchMedia("(max-width: 40rem)");
  const thin = () => {
    for (const {below: [axis], x_range} of charts.roots()) {
      if (axis?.ticker.type !== "BasicTicker" && x_range?.name !== "time") continue;
      axis.ticker.desired_num_ticks = narrow.matches ? 3 : 6;
    }
    const decades = charts.roots().find((one) => one.name === "latency_distribution")?.below[0].ticker;
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
    const view = views().find((one) => one.model.name === "sessions");
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

  // The crosshair: one moment of an axis, a line in every chart that has it, and its figures in the legends.
  const hour = (figure, hours) => {
    const minutes = Math.floor((hours + figure.x_range.tags[0]) * 60), two = (number) => String(number).padStart(2, "0");
    return `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
  };
  const axes = {time: (_, seconds) => clock(seconds), hours: hour};
  const legends = (axis) => places().flatMap((place) => {
    const legend = place.closest("figure").querySelector(".legend[data-form]"), view = view_of(place);
    return legend && view?.model.x_range.name === axis ? [{legend, place, view}] : [];
  });
  const series = (figure, name) => figure.renderers.filter((one) => one.name === name);
  const nearest = (numbers, number) => {
    let at = 0;
    for (let next = 1; next < numbers.length; next++) {
      if (Math.abs(numbers[next] - number) < Math.abs(numbers[at] - number)) at = next;
    }
    return at;
  };
  const read = (form, {glyph, data_source: {data}, name}, now) => {
    if (data.label) return Array.from(data.label).join(", ");
    if (now === null) return "";
    if (glyph.ys) {
      const at = nearest(data[glyph.xs.field][0], now);
      const known = Array.from(data[glyph.ys.field], (line) => line[at]).filter(Number.isFinite);
      return known.length ? `${written(form, Math.min(...known))} to ${written(form, Math.max(...known))}` : "-";
    }
    const numbers = data[glyph.x?.field];
    if (!numbers) return "";
    const at = nearest(numbers, now), value = (column) => written(form, data[column]?.[at]);
    return glyph.y1?.field ? `${value(glyph.y1.field)} to ${value(glyph.y2.field)}` : value(glyph.y?.field ?? name);
  };
  const moments = {time: null, hours: null};
  const show = (axis, now) => {
    moments[axis] = now;
    for (const {legend, place, view} of legends(axis)) {
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
        line.firstChild.textContent = axes[axis](view.model, now);
        line.firstChild.classList.toggle("before", share > 0.5);
      }
      for (const key of legend.querySelectorAll("[data-series]")) {
        const [renderer] = series(view.model, key.dataset.series);
        key.querySelector("output").textContent = renderer ? read(legend.dataset.form, renderer, now) : "";
      }
    }
  };
  const show_again = () => { for (const axis in moments) show(axis, moments[axis]); };
  const follow = (place, view) => {
    const range = view.model.x_range, axis = range.name;
    if (!(axis in axes)) return;
    const move = (event) => {
      const at = event.clientX - place.getBoundingClientRect().left - view.frame.bbox.left;
      const now = range.start + (range.end - range.start) * at / view.frame.bbox.width;
      show(axis, at < 0 || at > view.frame.bbox.width ? null : now);
    };
    place.addEventListener("pointermove", move);
    place.addEventListener("pointerdown", move);
    place.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") show(axis, null); });
    place.tabIndex = 0;
    place.parentElement.setAttribute("role", "group");
    place.setAttribute("role", "slider");
    for (const [name, value] of [["min", Math.floor(range.start)], ["max", Math.round(range.end)], ["now", Math.floor(range.start)]]) place.setAttribute(`aria-value${name}`, value);
    place.setAttribute("aria-valuetext", "no moment");
    place.setAttribute("aria-label", "Moment of the crosshair; arrow keys move it");
    place.addEventListener("keydown", (event) => {
      const way = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (event.key === "Escape") show(axis, null);
      if (!way) return;
      event.preventDefault();
      const {start, end} = range;
      show(axis, Math.min(end, Math.max(start, (moments[axis] ?? (start + end) / 2) + way * (end - start) / 100)));
      place.setAttribute("aria-valuenow", moments[axis].toFixed(0));
      place.setAttribute("aria-valuetext", axes[axis](view.model, moments[axis]));
    });
  };

  // An entry of a legend switches what it names; areas above a hidden one come down.
  const switch_series = (figure, key) => {
    const on = key.getAttribute("aria-pressed") !== "true";
    key.setAttribute("aria-pressed", String(on));
    for (const renderer of series(figure, key.dataset.series)) renderer.visible = on;
    const hidden = new Set(figure.renderers.filter((one) => !one.visible).map((one) => one.name));
    const stacks = figure.renderers.flatMap((one) => [one.glyph.y1?.expr, one.glyph.y2?.expr]).filter(Boolean);
    for (const stack of stacks) {
      stack.every ??= stack.fields;
      stack.fields = stack.every.filter((field) => !hidden.has(field));
    }
    for (const source of new Set(figure.renderers.map((one) => one.data_source))) source.change.emit();
  };

  const begun = new Map(), drawn = new Set();
  const build = async (place) => {
    const figure = figure_of.get(place.id), view = await manager.build_view(figure);
    view.build(place);
    // Bokeh's canvas takes the focus and does nothing with it; crosshair and zoom buttons have their own tab stops.
    if (view.canvas_view) view.canvas_view.events_el.tabIndex = -1;
    follow(place, view);
    for (const key of place.closest("figure").querySelectorAll("[data-series]")) {
      key.addEventListener("click", () => { switch_series(figure, key); show_again(); });
    }
    drawn.add(place);
    name_bars();
    show_again();
  };
  const draw = (place) => {
    if (!begun.has(place)) begun.set(place, build(place));
    return begun.get(place);
  };
  const draw_seen = () => { for (const place of places()) if (!place.closest("details:not([open])")) draw(place); };

  // What is changed before a chart is drawn costs nothing.
  remember();
  write_axes();
  paint();
  thin();
  // On a touch screen a finger that draws over a chart scrolls the page.
  if (matchMedia("(pointer: coarse)").matches) {
    for (const {toolbar} of charts.roots()) if (toolbar) toolbar.active_drag = null;
  }
  const changed = () => { name_bars(); show_again(); };
  for (const one of models()) {
    if (one.type === "ColumnDataSource") one.properties.data.change.connect(changed);
    else if (one.type === "Range1d" && one.name in axes) one.change.connect(changed);
  }
  addEventListener("resize", () => {
    setTimeout(name_bars, 300);
    for (const axis in moments) show(axis, null);
  });
  document.addEventListener("toggle", () => { draw_seen(); setTimeout(name_bars, 300); }, true);
  setTimeout(draw_seen);

  const zoom = (how) => {
    const range = charts.get_model_by_name("time");
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
