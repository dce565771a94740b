/** Makes elements. Text becomes text nodes and never markup, whoever wrote it. */

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) {
      node.setAttribute(key, value === true ? "" : String(value));
    }
  }
  node.append(...children);
  return node;
}

export const byId = (id) => document.getElementById(id);

const WORD_START = "▁";

/** A word or piece to look at; the mark of a word's beginning is faint. */
export function shown(text) {
  if (!text.startsWith(WORD_START)) return [text];
  return [el("span", { class: "faint", "aria-hidden": "true" }, WORD_START), text.slice(1)];
}

/** The same word for the ear and for sentences. */
export const spoken = (text) => (text.length > 1 ? text.replace(/^▁/, "") : text);

export const percent = (share) => String(Math.round(share * 100));

/** A box that scrolls sideways by itself, by keyboard too. */
export function scroller(name, ...children) {
  return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name }, ...children);
}

/** Of several elements one takes Tab, and the arrow keys move among them; `move(key, at)` says where to. */
export function roving(elements, move) {
  elements.forEach((element, at) => {
    element.tabIndex = at === 0 ? 0 : -1;
    element.addEventListener("focus", () => {
      for (const other of elements) if (other.tabIndex === 0) other.tabIndex = -1;
      element.tabIndex = 0;
    });
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const to = move(event.key, at);
      if (to === undefined) return;
      event.preventDefault();
      elements[to]?.focus();
    });
  });
}
