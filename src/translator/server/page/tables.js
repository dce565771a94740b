/** The masks, the comparison of the three attentions and the shapes, from the answer of /trace. */

import { single } from "./attention.js";
import { byId, el, scroller } from "./dom.js";
import { maskMap } from "./heatmap.js";
import { say } from "./words.js";

const ORDER = ["encoder", "decoder", "cross"];
const shapeOf = (sizes) => `(${sizes.join(", ")})`;

/** Labels as groups of one; special are those in angle brackets. */
export const labelled = (labels) =>
  single(labels, []).map((group) => ({ ...group, special: /^<[^<>]+>$/.test(group.text) }));

export function drawMasks(trace) {
  const source = labelled(trace.source);
  const target = labelled(trace.target);
  // as in the maps: a row of cross-attention is named after what was written there
  const written = labelled(trace.steps.map((step) => step.chosen));
  const rows = { encoder: source, decoder: target, cross: written.length === target.length ? written : target };
  const columns = { encoder: source, decoder: target, cross: source };
  const maps = ORDER.map((kind) => {
    const map = maskMap({
      name: say("maskName", { kind: say(kind) }),
      title: say(kind),
      mask: trace.masks[kind],
      rows: rows[kind],
      columns: columns[kind],
      upright: true,
    });
    map.dataset.kind = kind;
    return map;
  });
  byId("masks").replaceChildren(...maps);
}

export function drawComparison(trace) {
  const texts = {
    encoder: ["fromSource", "fromSource", "maskPadding"],
    decoder: ["fromTarget", "fromTarget", "maskFuture"],
    cross: ["fromTarget", "fromMemory", "maskSource"],
  };
  const rows = ORDER.map((kind) => [
    say(kind),
    ...texts[kind].map((key) => say(key)),
    el("span", {}, shapeOf(trace.weights[kind]), el("span", { class: "muted small" }, ` ${say("axes")}`)),
  ]);
  const head = ["attention", "queryFrom", "keyFrom", "mask", "weightShape"].map((key) => say(key));
  byId("compared").replaceChildren(scroller(say("compared"), plainTable(say("compared"), head, rows)));
}

export function drawShapes(trace) {
  const code = (text) => el("code", { translate: "no" }, text);
  const all = (shapes) => code(shapes.map(shapeOf).join("  "));
  const rows = trace.shapes.map((row) => [code(row.module || "model"), code(row.class), all(row.inputs), all(row.outputs)]);
  const head = ["module", "class", "inputs", "outputs"].map((key) => say(key));
  const table = plainTable(say("shapes"), head, rows);
  const box = scroller(say("shapes"), table);
  box.classList.add("tall");
  byId("shapes-table").replaceChildren(box);
  document.querySelector("#shapes summary").textContent = say("shapesOpen", { n: rows.length });
}

function plainTable(name, head, rows) {
  const line = (cells) =>
    el("tr", {}, el("th", { scope: "row" }, cells[0]), ...cells.slice(1).map((cell) => el("td", {}, cell)));
  return el(
    "table",
    { class: "plain", "aria-label": name },
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...rows.map(line)),
  );
}
