"use strict";
// Follows a growing run: new columns replace those of the chart data of the same name, until the run ends.
(() => {
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

  // A chart may bear the name of its data, so a name alone would find two.
  const models = () => typeof Bokeh === "undefined" ? []
    : Bokeh.documents.flatMap((one) => Array.from(one._all_models.values()));
  const model = (type, name) => models().find((one) => one.type === type && one.name === name);

  const replace = (name, data) => {
    const source = model("ColumnDataSource", name);
    if (source) source.data = Object.fromEntries(Object.entries(data).map(([key, values]) => [key, column(values)]));
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

  say("Following the run ...");
  const events = new EventSource(location.pathname + "/events");
  events.addEventListener("status", (event) => {
    say(`The run is under way: ${JSON.parse(event.data)}. Charts are updated each second; title, cards and tables are a few seconds older.`);
  });
  // Title, cards and tables come from one page of the server, so they agree; charts get their data separately.
  const drawing = (part) => part.querySelector(".chart") !== null;
  const dressed = (old, fresh) => {
    const folds = (part) => [part, ...part.querySelectorAll("details")].filter((one) => one.tagName === "DETAILS");
    const was = folds(old), focused = old.querySelector(":scope > summary") === document.activeElement;
    folds(fresh).forEach((fold, at) => { if (was[at]) fold.open = was[at].open; });
    old.replaceWith(fresh);
    if (focused) fresh.querySelector(":scope > summary").focus();
    fresh.dispatchEvent(new Event("fresh", {bubbles: true}));
  };
  const parts = (page) => Array.from(page.querySelectorAll("main > details.part"));
  const tables = (part) => Array.from(part.querySelectorAll(".scroll"));
  // Whether the new page has the same parts, so that each can replace the old one.
  const fits = (made) => {
    const now = parts(document), fresh = parts(made);
    return now.length === fresh.length && now.every((part, at) =>
      part.id === fresh[at].id && drawing(part) === drawing(fresh[at]) &&
      (!drawing(part) || tables(part).length === tables(fresh[at]).length));
  };
  let fetching = false;
  const renew = async () => {
    if (fetching) return;
    fetching = true;
    try {
      const answer = await fetch(location.pathname);
      if (!answer.ok) return;
      const made = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!fits(made)) { events.close(); again(); return; }
      for (const one of ["h1", "main > .cards", "main > .next", "main > .spent"]) {
        const fresh = made.querySelector(one);
        if (fresh) document.querySelector(one)?.replaceWith(fresh);
      }
      const fresh = parts(made);
      parts(document).forEach((part, at) => {
        if (!drawing(part)) dressed(part, fresh[at]);
        else tables(part).forEach((table, number) => dressed(table, tables(fresh[at])[number]));
      });
    } catch {
      // If the server has ended, the stream of events notices it.
    } finally {
      fetching = false;
    }
  };
  events.addEventListener("page", renew);
  events.addEventListener("sources", (event) => {
    for (const [name, data] of Object.entries(JSON.parse(event.data))) replace(name, data);
    lengthen();
  });
  // A chart or a line that was not there yet comes with the page made anew, once the server has one to give.
  const drawn = new Set(JSON.parse(document.querySelector(".page-head").dataset.charts));
  events.addEventListener("charts", (event) => {
    if (JSON.parse(event.data).every((key) => drawn.has(key))) return;
    events.close();
    again();
  });
  events.addEventListener("ended", () => {
    events.close();
    say("The run has ended; its report is being made ...");
    again();
  });
  for (const last of ["gone", "trouble"]) {
    events.addEventListener(last, (event) => { events.close(); say(JSON.parse(event.data)); });
  }
  // The browser asks again by itself; until then nothing is wrong.
  let waiting = false;
  events.addEventListener("turn", (event) => {
    waiting = true;
    say(`More than ${JSON.parse(event.data)} pages follow runs: they take turns, and this one goes on in a few seconds.`);
  });
  events.addEventListener("status", () => { waiting = false; });
  events.onerror = () => {
    if (waiting && events.readyState === EventSource.CONNECTING) return;
    if (events.readyState === EventSource.CLOSED) say("This run is not followed any more: reload the page to try again.");
    else say("The connection is lost, trying again ...");
  };
  addEventListener("pagehide", () => events.close());
})();
