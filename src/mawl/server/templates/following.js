"use strict";
// Follows a growing run: new columns replace those of the chart data of the same name, until the run ends.
(() => {
  const first_reload_milliseconds = 2000, most_reloads = 4;
  const line = document.createElement("p");
  line.id = "following";
  line.setAttribute("role", "status");
  document.querySelector(".page-head").append(line);
  const say = (text) => { line.textContent = text; };
  const again = () => location.reload();

  const figure = (value) => typeof value === "number" && !Number.isNaN(value);
  // JSON has no NaN: in a column of numbers null is a figure that is missing.
  const numbers = (values) => values.some(figure) && values.every((value) => value === null || figure(value));
  const column = (values) => numbers(values) ? Float64Array.from(values, (value) => value ?? NaN) : values;
  const known = (data) => Object.keys(data).filter((name) => Array.from(data[name]).some(figure));

  // A chart may bear the name of its data, so a name alone would find two.
  const models = () => typeof Bokeh === "undefined" ? []
    : Bokeh.documents.flatMap((one) => Array.from(one._all_models.values()));
  const model = (type, name) => models().find((one) => one.type === type && one.name === name);

  // What had figures when the page was made has its line in a chart; what has them only now has none yet.
  const drawn = new Map();
  const replace = (name, data) => {
    const source = model("ColumnDataSource", name);
    if (!drawn.has(name)) drawn.set(name, new Set(source ? known(source.data) : []));
    if (source) source.data = Object.fromEntries(Object.entries(data).map(([key, values]) => [key, column(values)]));
    return known(data).filter((key) => !drawn.get(name).has(key)).map((key) => `${name}.${key}`);
  };

  // All charts share one axis; it grows with the run, unless somebody has zoomed into it.
  let end = null;
  const lengthen = () => {
    const time = model("Range1d", "time");
    const last = Math.max(0, ...models().flatMap((one) => Array.from(one.data?.seconds ?? []).slice(-1)));
    if (!time || !(last > 0)) return;
    end ??= time.end;
    const whole = time.end === end && time.start === 0, longer = Math.max(end, last);
    time.bounds = [-0.02 * longer, 1.02 * longer];
    time.reset_end = longer;
    if (whole) time.end = longer;
    end = longer;
  };

  // A chart or a line that was not there yet is drawn when the page is made anew, a few times at most.
  let reloading = false;
  const seek = (missing) => {
    const tries = (key) => Number(sessionStorage.getItem(`${location.pathname} ${key}`) ?? 0);
    const hopeful = missing.filter((key) => tries(key) < most_reloads);
    if (!hopeful.length || reloading) return;
    reloading = true;
    setTimeout(again, first_reload_milliseconds * 3 ** Math.max(...hopeful.map(tries)));
    for (const key of hopeful) sessionStorage.setItem(`${location.pathname} ${key}`, tries(key) + 1);
  };

  say("Following the run ...");
  const events = new EventSource(location.pathname + "/events");
  events.addEventListener("status", (event) => {
    say(`The run is under way: ${JSON.parse(event.data)}. Charts follow it; tables are those of when this page was opened.`);
  });
  events.addEventListener("sources", (event) => {
    const missing = Object.entries(JSON.parse(event.data)).flatMap(([name, data]) => replace(name, data));
    lengthen();
    seek(missing);
  });
  events.addEventListener("ended", () => {
    events.close();
    say("The run has ended; its report is being made ...");
    again();
  });
  for (const last of ["gone", "trouble"]) {
    events.addEventListener(last, (event) => { events.close(); say(JSON.parse(event.data)); });
  }
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) say("This run is not followed any more: reload the page to try again.");
    else say("The connection is lost, trying again ...");
  };
  addEventListener("pagehide", () => events.close());
})();
