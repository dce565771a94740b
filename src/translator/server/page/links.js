/** A sentence and its translation as two rows of words that light each other up. */

import { paint, unpaint } from "./color.js";
import { brief, el, label, percent, roving, spoken } from "./dom.js";
import { say } from "./words.js";

/** Weights from here on light up. */
const LIT_FROM = 0.05;

/** Lights up elements by their weights: relative to the greatest, which is outlined too. */
export function light(elements, weights) {
  const greatest = Math.max(...weights);
  elements.forEach((element, at) => {
    const weight = weights[at];
    const lit = weight >= LIT_FROM;
    element.classList.toggle("lit", lit);
    element.classList.toggle("strongest", lit && weight === greatest);
    element.dataset.weight = String(weight);
    if (lit) paint(element, weight / greatest);
    else unpaint(element);
  });
}

function dim(elements) {
  for (const element of elements) {
    element.classList.remove("lit", "strongest");
    delete element.dataset.weight;
    unpaint(element);
  }
}

/** The words of `groups` with their weights, the greatest first. */
function listed(groups, weights) {
  const order = groups.map((_, at) => at).filter((at) => weights[at] >= LIT_FROM);
  order.sort((a, b) => weights[b] - weights[a]);
  return order.map((at) => `${brief(groups[at].text)} ${percent(weights[at])} %`).join(", ");
}

function wordButtons(groups, side, lang) {
  return groups.map((group, at) =>
    el(
      "button",
      {
        type: "button",
        class: group.special ? "word special" : "word",
        lang,
        translate: "no",
        "data-side": side,
        "data-index": at,
        "aria-label": group.text.startsWith("▁") ? spoken(group.text) : null,
      },
      label(group.text),
    ),
  );
}

/**
 * weights [targets][sources]; look(side, index) is called with the word that is pointed at, look(null) when
 * none is; pick() when a word is clicked.
 */
export function linkedSentence({ title, sources, targets, weights, look, pick }) {
  const says = el("p", { class: "says small", "aria-live": "polite" }, say("nothing"));
  const top = wordButtons(sources, "source", "en");
  const bottom = wordButtons(targets, "target", "ko");
  const all = [...top, ...bottom];

  const show = (button) => {
    dim(all);
    for (const other of all) other.classList.toggle("pointed", other === button);
    const at = Number(button.dataset.index);
    const fromTarget = button.dataset.side === "target";
    const shares = fromTarget ? weights[at] : weights.map((row) => row[at]);
    light(fromTarget ? top : bottom, shares);
    const word = brief((fromTarget ? targets : sources)[at].text);
    const list = listed(fromTarget ? sources : targets, shares) || "–";
    says.textContent = say(fromTarget ? "looked" : "lookedBy", { word, list });
    look(button.dataset.side, at);
  };
  const clear = () => {
    const focused = all.find((button) => button === document.activeElement);
    if (focused) {
      show(focused);
      return;
    }
    dim(all);
    for (const button of all) button.classList.remove("pointed");
    says.textContent = say("nothing");
    look(null);
  };
  for (const button of all) {
    // pointermove and not pointerenter: a page that scrolls under a resting mouse points at nothing
    button.addEventListener("pointermove", () => {
      if (!button.classList.contains("pointed")) show(button);
    });
    button.addEventListener("pointerleave", clear);
    button.addEventListener("focus", () => show(button));
    button.addEventListener("blur", () => queueMicrotask(clear));
    button.addEventListener("click", () => {
      pick();
      show(button);
    });
  }
  for (const row of [top, bottom]) {
    roving(row, (key, at) => {
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: row.length - 1 }[key];
      return to === undefined ? undefined : Math.min(Math.max(to, 0), row.length - 1);
    });
  }
  return el(
    "article",
    { class: "card linked", "aria-label": title },
    el("div", { class: "words", role: "group", "aria-label": say("sourceSide") }, ...top),
    el("div", { class: "words target", role: "group", "aria-label": say("targetSide") }, ...bottom),
    says,
  );
}
