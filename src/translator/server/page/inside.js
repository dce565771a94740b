/** The parts of the page that show attention: linked words and maps, from the answer of /translate. */

import { axesOf, choose, grouped } from "./attention.js";
import { paint } from "./color.js";
import { byId, el, shortened } from "./dom.js";
import { weightMap } from "./heatmap.js";
import { linkedSentence } from "./links.js";
import { say } from "./words.js";

export const KINDS = ["cross", "encoder", "decoder"];
const UPRIGHT_FROM = 12; // columns: from here on their names stand upright
const DENSE_FROM = 12; // columns: from here on maps side by side have small cells, their numbers in the tooltip

const OPTION = 80; // characters of a sentence in the choice of sentences

const named = (what, at) =>
  at === "mean" || at === "all" ? say(`${what}${at === "all" ? "All" : "Mean"}`) : say(`${what}N`, { n: at + 1 });

const chosen = (select) =>
  select.value === "" || select.value === "mean" || select.value === "all"
    ? select.value || "mean"
    : Number(select.value);

function fill(select, choices, what) {
  const before = select.value;
  select.replaceChildren(...choices.map((at) => el("option", { value: at }, named(what, at))));
  select.value = choices.some((at) => String(at) === before) ? before : "mean";
}

/**
 * view: {parts, selected, kind, pieces}, always as it is now; pick(index) is called when a sentence is clicked.
 * Without parts there is nothing to draw.
 */
export function drawInside(view, pick) {
  if (!view.parts.length) return;
  drawChoices(view);
  drawLinks(view, pick);
  drawSelected(view);
}

export function clearInside() {
  for (const id of ["sentence", "links", "links-from", "maps", "map-shape", "tensor-shape", "explained"]) {
    byId(id).replaceChildren();
  }
}

/** What depends on the selected sentence; the words stay, with the focus in them. */
export function drawSelected(view) {
  byId("sentence").value = String(view.selected);
  [...byId("links").children].forEach((block, at) => {
    block.classList.toggle("selected", view.parts.length > 1 && at === view.selected);
  });
  drawMaps(view);
}

function drawChoices({ parts, selected, kind }) {
  const weights = parts[selected][kind];
  fill(byId("layer"), ["mean", ...weights.keys()], "layer");
  fill(byId("head"), ["mean", ...weights[0].keys(), "all"], "head");
  const options = parts.map(({ text }, at) => el("option", { value: at, title: text }, `${at + 1}. ${shortened(text, OPTION)}`));
  byId("sentence").replaceChildren(...options);
  byId("sentence-row").hidden = parts.length < 2;
}

/** The links use what the map shows if that is one map of cross-attention, else the mean of all. */
function linksFrom(view) {
  const [layer, head] = [chosen(byId("layer")), chosen(byId("head"))];
  if (view.kind !== "cross") return { layer: "mean", head: "mean" };
  return { layer, head: head === "all" ? "mean" : head };
}

function drawLinks(view, pick) {
  const { layer, head } = linksFrom(view);
  const blocks = view.parts.map((part, at) => {
    const { rows, columns } = axesOf(part, view.pieces).cross;
    return linkedSentence({
      title: say("block", { n: at + 1 }),
      sources: columns,
      targets: rows,
      weights: grouped(choose(part.cross, layer, head), rows, columns),
      look: (side, index) => markMap(at === view.selected ? side : null, index),
      pick: () => pick(at),
    });
  });
  byId("links").replaceChildren(...blocks);
  byId("links-from").textContent = say("linksFrom", { layer: named("layer", layer), head: named("head", head) });
}

/** Marks in the cross-attention maps the row of a Korean word or the column of an English one. */
function markMap(side, index) {
  for (const element of document.querySelectorAll("#maps .marked")) element.classList.remove("marked");
  if (side === null) return;
  const place = side === "target" ? `tbody tr[data-index="${index}"]` : null;
  for (const table of document.querySelectorAll('#maps[data-kind="cross"] table')) {
    if (place) table.querySelector(place)?.classList.add("marked");
    else for (const row of table.rows) row.cells[index + 1].classList.add("marked");
  }
}

function drawMaps(view) {
  const { kind, pieces } = view;
  const part = view.parts[view.selected];
  const { rows, columns } = axesOf(part, pieces)[kind];
  const [layer, head] = [chosen(byId("layer")), chosen(byId("head"))];
  const heads = head === "all" ? [...part[kind][0].keys()] : [head];
  const readout = byId("readout");
  const dense = head === "all" && columns.length >= DENSE_FROM;
  const inspect = (label) => {
    readout.textContent = label || say(dense ? "readoutHintDense" : "readoutHint");
  };
  const maps = heads.map((each) =>
    weightMap({
      name: say("mapName", { kind: say(kind), layer: named("layer", layer), head: named("head", each) }),
      title: head === "all" ? named("head", each) : null,
      weights: grouped(choose(part[kind], layer, each), rows, columns),
      rows,
      columns,
      causal: kind === "decoder",
      upright: head === "all" || columns.length >= UPRIGHT_FROM,
      inspect,
    }),
  );
  const box = byId("maps");
  box.dataset.kind = kind;
  box.classList.toggle("dense", dense);
  box.replaceChildren(...maps);
  arrangeMaps();
  drawShape(part, view);
  byId("explained").textContent = say(`${kind}Says`);
  inspect("");
  drawScale();
}

/** As many maps in each row as in the others: of four that do not fit side by side, two and two. */
export function arrangeMaps() {
  const box = byId("maps");
  const maps = [...box.children];
  if (!maps.length) return;
  box.style.gridTemplateColumns = "max-content"; // so that each has the width that it likes
  const widest = Math.max(...maps.map((map) => map.scrollWidth));
  const gap = parseFloat(getComputedStyle(box).columnGap) || 0;
  const fit = Math.max(1, Math.floor((box.clientWidth + gap) / (widest + gap)));
  let columns = Math.min(fit, maps.length);
  while (maps.length % columns) columns -= 1;
  box.style.gridTemplateColumns = columns > 1 ? `repeat(${columns}, max-content)` : "minmax(0, max-content)";
}

/** The size of the map; for words also how they were made, and the tensor's own shape. */
function drawShape(part, { kind, pieces }) {
  const { rows, columns } = axesOf(part, pieces)[kind];
  const sizes = { q: rows.length, k: columns.length };
  byId("map-shape").textContent = say(pieces ? "shape" : "shapeWords", sizes);
  const [heads] = part[kind];
  const [q, k] = [heads[0].length, heads[0][0].length];
  const shape = `(${[1, heads.length, q, k].join(",\u00a0")})`;
  const joined = [
    ["joinedQuery", q, rows.length],
    ["joinedKey", k, columns.length],
  ].flatMap(([key, n, m]) => (n === m ? [] : [say(key, { n, m })]));
  const made = !pieces && joined.length ? [say("joined", { list: joined.join(say("joinedComma")) })] : [];
  byId("tensor-shape").textContent = [...made, say("tensorShape", { shape })].join(" ");
}

function drawScale() {
  const steps = Array.from({ length: 11 }, (_, at) => {
    const step = el("span");
    paint(step, at / 10);
    return step;
  });
  byId("scale").replaceChildren(...steps);
}
