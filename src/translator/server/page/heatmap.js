/** Draws a map as a real table whose cells can be walked through with the arrow keys. */

import { paint } from "./color.js";
import { brief, el, label as named, percent, roving, scroller } from "./dom.js";
import { say } from "./words.js";

/**
 * rows, columns: [{text, special}]; cell(r, c) -> {text, label, share?, kind?};
 * inspect(label) is called with the label of the cell that is pointed at, or with "" when none is.
 */
function grid({ name, title, rows, columns, cell, upright, inspect }) {
  const head = (group, scope, index) =>
    el(
      "th",
      { scope, class: group.special ? "special" : null, "data-index": index, translate: "no" },
      named(group.text),
    );
  const table = el("table", { class: upright ? "heat upright" : "heat", role: "grid", "aria-label": name });
  const corner = el("td", { class: "corner" }, el("span", {}, say("corner")));
  table.append(
    el("thead", {}, el("tr", {}, corner, ...columns.map((group, c) => head(group, "col", c)))),
  );
  const body = el("tbody");
  const cells = [];
  rows.forEach((group, r) => {
    const tr = el("tr", { "data-index": r }, head(group, "row", r));
    columns.forEach((_, c) => {
      const { text, label, share, kind } = cell(r, c);
      const td = el("td", { "aria-label": label, title: label, class: kind, "data-value": share }, text);
      if (share !== undefined) paint(td, share);
      td.addEventListener("focus", () => inspect?.(label));
      cells.push(td);
      tr.append(td);
    });
    body.append(tr);
  });
  table.append(body);
  // pointermove and not pointerenter: a page that scrolls under a resting mouse points at nothing
  table.addEventListener("pointermove", (event) => {
    const label = event.target.closest("td")?.getAttribute("aria-label");
    if (label) inspect?.(label);
  });
  table.addEventListener("pointerleave", () => inspect?.(""));
  roving(cells, (key, at) => step(key, at, columns.length, cells.length));
  const caption = title ? [el("p", { class: "caption" }, title)] : [];
  return el("div", { class: "map" }, ...caption, scroller(name, table));
}

/** Where an arrow key leads in a grid; nowhere at its edge. width: its columns, count: its cells. */
function step(key, at, width, count) {
  const column = at % width;
  const to = {
    ArrowLeft: column > 0 ? at - 1 : at,
    ArrowRight: column < width - 1 ? at + 1 : at,
    ArrowUp: at >= width ? at - width : at,
    ArrowDown: at + width < count ? at + width : at,
    Home: at - column,
    End: at - column + width - 1,
  };
  return to[key];
}

/** A map of weights. In the decoder's self-attention what comes later is blocked. */
export function weightMap({ weights, rows, columns, causal, ...rest }) {
  const cell = (r, c) => {
    const names = { query: brief(rows[r].text), key: brief(columns[c].text) };
    if (causal && c > r) return { text: "", label: say("cellBlocked", names), kind: "blocked" };
    const share = weights[r][c];
    return { text: percent(share), label: say("cell", { ...names, percent: percent(share) }), share };
  };
  return grid({ ...rest, rows, columns, cell });
}

/** A picture of a mask: true may be looked at. */
export function maskMap({ mask, rows, columns, ...rest }) {
  const cell = (r, c) => {
    const names = { query: brief(rows[r].text), key: brief(columns[c].text) };
    return mask[r][c]
      ? { text: "●", label: say("cellAllowed", names), kind: "allowed" }
      : { text: "×", label: say("cellBlocked", names), kind: "blocked" };
  };
  return grid({ ...rest, rows, columns, cell });
}
