"use strict";
// Draws the icicle of one profile, or of the difference of two. data: names, modules, events,
// systems (name, divisor of each phase) and phases. A phase has nodes [name, parent, module,
// counts]; counts: for each event that happened, its self counts in each system.
const data = JSON.parse(document.getElementById("data").textContent);
const two = data.systems.length === 2;
const last = data.systems.length - 1;
const at = (id) => document.getElementById(id);
const HEIGHT = 21, FEWEST = 60;
let view = { event: 0, phase: 0, width: last, root: 0, sort: two ? "change" : "self", all: false };
let tree = null;

function option(select, texts, chosen) {
  texts.forEach((text, value) => select.append(new Option(text, value, value === chosen, value === chosen)));
}

function number(value) {
  if (!value) return "0";
  const digits = Math.abs(value) >= 1000 ? 0 : 3 - Math.floor(Math.log10(Math.abs(value))) - 1;
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(Math.max(digits, 0), 6) });
}

function ratio(a, b) {
  if (!a) return b ? "new" : "-";
  return b ? (b / a).toFixed(2) : "gone";
}

// Sums self counts to totals. A parent comes before its children, so the last node is the first.
function build() {
  const phase = data.phases[view.phase];
  const nodes = phase.nodes.map(([name, parent, module, counts], number) => ({
    number, parent, name: data.names[name], module: data.modules[module], children: [],
    self: data.systems.map((one, place) => ((counts[view.event] || [])[place] || 0) / one.divisors[view.phase]),
    total: data.systems.map(() => 0),
  }));
  for (let place = nodes.length - 1; place >= 0; place--) {
    const node = nodes[place];
    node.self.forEach((value, which) => { node.total[which] += value; });
    if (node.parent >= 0) {
      node.total.forEach((value, which) => { nodes[node.parent].total[which] += value; });
      nodes[node.parent].children.push(node);
    }
  }
  nodes.forEach((node) => node.children.sort((a, b) => b.total[view.width] - a.total[view.width]));
  tree = nodes;
}

function colour(node) {
  if (two) {
    const [a, b] = node.total, part = (b - a) / Math.max(Math.abs(a), Math.abs(b), 1e-12);
    const light = 88 - 28 * Math.min(Math.abs(part), 1);
    return `hsl(${part > 0 ? 12 : 210} ${part ? 85 : 0}% ${light}%)`;
  }
  let hash = 0;
  for (const letter of node.module) hash = (hash * 31 + letter.codePointAt(0)) % 360;
  return `hsl(${hash} 55% 76%)`;
}

function describe(node) {
  const event = data.events[view.event];
  const texts = data.systems.map((one, which) =>
    `${one.name}: ${number(node.total[which])} total, ${number(node.self[which])} self`);
  const change = two ? `; difference ${number(node.total[1] - node.total[0])} total, ratio ${ratio(...node.total)}` : "";
  return `${node.name} (${node.module || "all"}), ${event.name}: ${texts.join("; ")}${change}`;
}

function select(button) {
  at("icicle").querySelectorAll("[tabindex='0']").forEach((one) => { one.tabIndex = -1; });
  button.tabIndex = 0;
  at("status").textContent = describe(tree[button.dataset.node]);
}

function draw() {
  const place = at("icicle"), room = place.clientWidth, wanted = at("search").value.toLowerCase();
  const root = tree[view.root], whole = root.total[view.width], found = [];
  place.replaceChildren();
  let deepest = 0, matched = 0;
  const path = [];
  for (let one = root; one; one = one.parent >= 0 ? tree[one.parent] : null) path.unshift(one);
  const put = (node, depth, left, width) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.node = node.number;
    button.setAttribute("role", "treeitem");
    button.setAttribute("aria-level", depth + 1);
    button.setAttribute("aria-label", describe(node));
    button.title = describe(node);
    button.textContent = width > 24 ? node.name : "";
    button.tabIndex = -1;
    Object.assign(button.style, {
      left: `${left}px`, width: `${width}px`, top: `${depth * HEIGHT}px`, background: colour(node),
    });
    if (wanted && node.name.toLowerCase().includes(wanted)) { button.classList.add("found"); found.push(node); }
    place.append(button);
    deepest = Math.max(deepest, depth);
  };
  path.slice(0, -1).forEach((node, depth) => put(node, depth, 0, room));
  const below = (node, depth, left, width, inside) => {
    put(node, depth, left, width);
    const is = wanted && node.name.toLowerCase().includes(wanted);
    if (is && !inside) matched += node.total[view.width];
    let next = left;
    for (const child of node.children) {
      const own = whole > 0 ? (Math.max(child.total[view.width], 0) / whole) * room : 0;
      if (own >= 2) below(child, depth + 1, next, own, inside || is);
      next += own;
    }
  };
  below(root, path.length - 1, 0, room, false);
  place.style.height = `${(deepest + 1) * HEIGHT}px`;
  const first = place.querySelector(`[data-node="${view.root}"]`);
  select(first);
  if (wanted) {
    const share = whole ? (100 * matched / whole).toFixed(1) : "0";
    at("status").textContent = `${found.length} bars match ${wanted}: ${number(matched)} ${data.events[view.event].name}, ${share} %`;
  }
}

// One row for each function: its self counts, and its totals without those inside itself.
function table() {
  const rows = new Map();
  const above = (node, name) => {
    for (let one = node.parent; one >= 0; one = tree[one].parent) if (tree[one].name === name) return true;
    return false;
  };
  tree.forEach((node) => {
    if (node.number === 0) return;
    const row = rows.get(node.name) || { name: node.name, self: data.systems.map(() => 0), total: data.systems.map(() => 0) };
    rows.set(node.name, row);
    const nested = above(node, node.name);
    data.systems.forEach((_, which) => {
      row.self[which] += node.self[which];
      if (!nested) row.total[which] += node.total[which];
    });
  });
  const columns = [["name", "function", (row) => row.name]];
  for (const kind of ["self", "total"]) {
    data.systems.forEach((one, which) => columns.push([which ? `${kind}1` : kind, `${kind}${two ? `, ${one.name}` : ""}`, (row) => row[kind][which]]));
  }
  if (two) {
    columns.push(["change", "self, difference", (row) => row.self[1] - row.self[0]]);
    columns.push(["changes", "total, difference", (row) => row.total[1] - row.total[0]]);
    columns.push(["ratio", "self, ratio", (row) => ratio(...row.self)]);
  }
  at("heads").replaceChildren(document.createElement("tr"));
  for (const [key, text] of columns) {
    const head = document.createElement("th"), button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => { view.sort = key; table(); });
    if (key === view.sort) head.setAttribute("aria-sort", key === "name" ? "ascending" : "descending");
    head.append(button);
    at("heads").firstChild.append(head);
  }
  const of = columns.find(([key]) => key === view.sort)[2];
  const wanted = at("search").value.toLowerCase();
  const shown = [...rows.values()].filter((row) =>
    row.name.toLowerCase().includes(wanted) && [...row.self, ...row.total].some(Boolean));
  shown.sort((a, b) => {
    const one = of(a), other = of(b);
    return typeof one === "string" ? one.localeCompare(other) : Math.abs(other) - Math.abs(one);
  });
  at("all").hidden = view.all || shown.length <= FEWEST;
  at("rows").replaceChildren(...shown.slice(0, view.all ? undefined : FEWEST).map((row) => {
    const line = document.createElement("tr");
    for (const [, , value] of columns) {
      const cell = document.createElement("td"), own = value(row);
      cell.textContent = typeof own === "string" ? own : number(own);
      line.append(cell);
    }
    return line;
  }));
}

function change(more) {
  view = { ...view, ...more };
  build();
  draw();
  table();
}

function go(node) {
  const button = node && at("icicle").querySelector(`[data-node="${node.number}"]`);
  if (button) { select(button); button.focus(); }
}

at("icicle").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  change({ root: Number(button.dataset.node) });
  go(tree[view.root]);
});
at("icicle").addEventListener("focusin", (event) => select(event.target));
at("icicle").addEventListener("pointerover", (event) => {
  if (event.target.dataset.node) at("status").textContent = describe(tree[event.target.dataset.node]);
});
at("icicle").addEventListener("keydown", (event) => {
  const node = tree[event.target.dataset.node];
  if (!node) return;
  const around = node.parent >= 0 ? tree[node.parent].children : [node];
  const here = around.indexOf(node);
  const target = {
    ArrowDown: node.children[0], ArrowUp: tree[node.parent],
    ArrowLeft: around[here - 1], ArrowRight: around[here + 1],
  }[event.key];
  if (event.key.startsWith("Arrow")) { event.preventDefault(); go(target); }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { at("search").value = ""; change({ root: 0 }); go(tree[0]); }
  if (event.key === "/" && event.target.tagName !== "INPUT") { event.preventDefault(); at("search").focus(); }
});
for (const name of ["event", "phase", "width"]) {
  at(name).addEventListener("change", (event) =>
    change({ [name]: Number(event.target.value), ...(name === "phase" ? { root: 0 } : {}) }));
}
at("search").addEventListener("input", () => { draw(); table(); });
at("all").addEventListener("click", () => { view.all = true; table(); });
addEventListener("resize", draw);
option(at("event"), data.events.map((one) => `${one.name} (${one.unit})`), 0);
option(at("phase"), data.phases.map((one) => one.name), 0);
option(at("width"), data.systems.map((one) => one.name), last);
at("width").parentElement.hidden = !two;
at("phase").parentElement.hidden = data.phases.length < 2;
change({});
