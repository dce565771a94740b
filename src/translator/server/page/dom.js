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

/** The same word as a screen reader should say it. */
export const spoken = (text) => (text.length > 1 ? text.replace(/^▁/, "") : text);

const LONG = 16; // characters: from here on a label may be cut by the style, and tells all of itself when hovered
const BRIEF = 32; // characters of a word within a sentence

/** A word or piece as a label. All of it is in the text; the style may cut what is shown. */
export const label = (text) =>
  el("span", { class: "label", title: text.length > LONG ? spoken(text) : null }, ...shown(text));

/** A text with its middle left out if it has more than `most` characters. */
export function shortened(text, most) {
  const all = [...text];
  if (all.length <= most) return text;
  const tail = Math.floor(most / 3);
  return `${all.slice(0, most - tail - 1).join("")}…${all.slice(-tail).join("")}`;
}

/** A word within a sentence that says something of it. */
export const brief = (text) => shortened(spoken(text), BRIEF);

export const percent = (share) => String(Math.round(share * 100));

/** Tells the style whether something stands beyond the right edge. */
const hint = (box) =>
  box.classList.toggle("more", box.scrollWidth - box.clientWidth - Math.ceil(box.scrollLeft) > 1);
const sizes = new ResizeObserver((changes) => changes.forEach(({ target }) => hint(target)));

/** A box that scrolls sideways by itself, by keyboard too. */
export function scroller(name, ...children) {
  const box = el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": name }, ...children);
  box.addEventListener("scroll", () => hint(box), { passive: true });
  sizes.observe(box);
  return box;
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
