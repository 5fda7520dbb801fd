"use strict";
// Follows a growing run: new columns replace those of the chart data of the same name, until the run ends.
(() => {
  const reload_milliseconds = 15000;
  const line = document.createElement("p");
  line.id = "following";
  line.setAttribute("role", "status");
  document.querySelector(".page-head").append(line);
  const say = (text) => { line.textContent = text; };
  const again = () => location.reload();

  // JSON has no NaN: in a column of numbers null is a figure that is missing.
  const numbers = (values) => values.some((value) => typeof value === "number")
    && values.every((value) => value === null || typeof value === "number");
  const column = (values) => numbers(values) ? values.map((value) => value ?? NaN) : values;
  const columns = (data) => Object.fromEntries(Object.entries(data).map(([name, values]) => [name, column(values)]));

  const replace = (name, data) => {
    const documents = typeof Bokeh === "undefined" ? [] : Bokeh.documents;
    const source = documents.map((one) => one.get_model_by_name(name)).find((one) => one);
    if (source) source.data = columns(data);
    return Boolean(source);
  };

  say("Following the run ...");
  const events = new EventSource(location.pathname + "/events");
  let status = "", reloading = false;
  const now = () => say(`The run is under way: ${status}. Charts follow it; tables are those of when this page was opened.`);
  events.addEventListener("status", (event) => { status = JSON.parse(event.data); now(); });
  events.addEventListener("sources", (event) => {
    const unknown = Object.entries(JSON.parse(event.data)).filter(([name, data]) => !replace(name, data));
    if (unknown.length && !reloading) {
      // A chart that could not be drawn when the page was opened: the page is made anew.
      reloading = true;
      setTimeout(again, reload_milliseconds);
    }
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
