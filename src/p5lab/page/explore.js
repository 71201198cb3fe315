"use strict";
// Shows the figure that the reader chooses. data.figures: one for each benchmark, dimension, metric
// and system, with marks [row, system, value, difference, ratio, state] and a Python line.
{ // The library has short names of its own.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const CHOICES = ["benchmark", "dimension", "metric", "system"];
const PLACES = { absolute: 2, difference: 3, ratio: 4 };

function number(value) {
  if (value === null) return "-";
  const digits = Math.abs(value) >= 1000 || !value ? 0 : 3 - Math.floor(Math.log10(Math.abs(value)));
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(Math.max(digits, 0), 6) });
}

// Fills a choice with what the figures have, and keeps what was chosen if they have it.
function fill(id, values) {
  const before = at(id).value;
  at(id).replaceChildren(...values.map((text) => new Option(text, text)));
  if (values.includes(before)) at(id).value = before;
  at(id).disabled = values.length < 2;
}

function chosen() {
  let left = data.figures;
  for (const id of CHOICES) {
    fill(id, [...new Set(left.map((one) => one[id]))]);
    left = left.filter((one) => one[id] === at(id).value);
  }
  const several = new Set(left[0].marks.map((mark) => mark[1])).size > 1;
  fill("kind", several ? data.kinds : data.kinds.slice(0, 1));
  return left[0];
}

function marks(figure, kind) {
  const first = figure.marks.length ? figure.marks[0][1] : "";
  return figure.marks
    .map((mark) => ({ row: mark[5] ? `${mark[0]} (${mark[5]})` : mark[0], name: mark[0],
                      series: mark[1], value: mark[PLACES[kind]], state: mark[5] }))
    .filter((mark) => mark.value !== null && (kind === "absolute" || mark.series !== first));
}

// A row that only one system has is named so for all systems.
function named(rows) {
  const names = Object.fromEntries(rows.filter((one) => one.state).map((one) => [one.name, one.row]));
  return rows.map((one) => ({ ...one, row: names[one.name] || one.name }));
}

function specification(figure, rows, kind, series) {
  const whole = Math.min(900, document.body.clientWidth - 32), labelLimit = whole < 600 ? 130 : 220;
  const width = whole - labelLimit - 90; // the names on the left, and a number on the right
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const amount = `${figure.metric} (${figure.unit})`;
  const what = { absolute: amount, ratio: `${figure.metric}, ratio to the first system`,
                 difference: `${amount}, difference to the first system` }[kind];
  const text = { labelColor: color("--muted"), titleColor: color("--muted"), gridColor: color("--grid"),
                 domainColor: color("--muted"), tickColor: color("--muted"), labelLimit,
                 labelOverlap: true, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  const value = { field: "value", type: "quantitative", title: what };
  const shade = { field: "series", type: "nominal", title: null,
                  scale: { domain: series, range: data.colors },
                  legend: series.length > 1 ? { orient: "top", labelColor: color("--ink"), labelLimit: 0, labelFontSize: 12 } : null };
  const tooltip = ["row", "series", "value"].map((field) => ({ field }));
  const base = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", data: { values: rows },
                 width, background: "transparent",
                 config: { font: "Liberation Sans, Arial, sans-serif", axis: text, view: { stroke: null } } };
  if (figure.ordered)
    return { ...base, height: 300, mark: { type: "line", point: true },
             encoding: { x: { field: "name", type: "quantitative", title: figure.dimension },
                         y: value, color: shade, tooltip } };
  const shared = { y: { field: "row", type: "nominal", sort: null, title: null } };
  if (series.length > 1) shared.yOffset = { field: "series", sort: series };
  return { ...base, height: { step: series.length > 1 ? 15 : 22, for: series.length > 1 ? "offset" : "position" },
           layer: [{ mark: "bar", encoding: { ...shared, x: value, color: shade, tooltip } },
                   { mark: { type: "text", align: "left", dx: 4, color: color("--ink") },
                     encoding: { ...shared, x: { ...value, field: "end" }, text: { field: "label" } } }] };
}

function draw() {
  const figure = chosen(), kind = at("kind").value;
  const rows = named(marks(figure, kind)).map((one) => ({ ...one, label: number(one.value), end: Math.max(one.value, 0) }));
  const series = [...new Set(rows.map((one) => one.series))];
  const spec = specification(figure, rows, kind, series);
  vegaEmbed(at("figure"), spec, { mode: "vega-lite", renderer: "svg", actions: false }).then(() => {
    const drawn = at("figure").querySelector("svg");
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `${kind} ${figure.metric} by ${figure.dimension}: the numbers are in the table`);
  });
  at("line").textContent = kind === "absolute" ? figure.line : `${figure.line.slice(0, -1)}, kind="${kind}")`;
  at("status").textContent = `${figure.dimension}: ${data.meanings[figure.dimension]}. Values for ${figure.per};`
    + " nothing is subtracted.";
  const cell = (name, text) => Object.assign(document.createElement(name), { textContent: text });
  const line = (name, texts) => {
    const row = document.createElement("tr");
    row.append(...texts.map((text) => cell(name, text)));
    return row;
  };
  at("heads").replaceChildren(line("th", [figure.dimension, "system", kind === "ratio" ? "ratio" : figure.unit]));
  at("rows").replaceChildren(...rows.map((one) => line("td", [one.row, one.series, one.label])));
}

[...CHOICES, "kind"].forEach((id) => at(id).addEventListener("change", draw));
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
}
