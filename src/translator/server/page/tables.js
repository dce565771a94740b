/** The masks, the comparison of the three attentions and the shapes, from the answer of /trace. */

import { axesOf } from "./attention.js";
import { byId, el, scroller } from "./dom.js";
import { maskMap } from "./heatmap.js";
import { say } from "./words.js";

const ORDER = ["encoder", "decoder", "cross"];
const shapeOf = (sizes) => `(${sizes.join(", ")})`;

/** Rows and columns are those of the maps of pieces. */
export function drawMasks(trace) {
  const axes = axesOf(trace, true);
  const maps = ORDER.map((kind) => {
    const map = maskMap({
      name: say("maskName", { kind: say(kind) }),
      title: say(kind),
      mask: trace.masks[kind],
      ...axes[kind],
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
