/** Greedy decoding to step through: what was read, what could follow, what was chosen. */

import { brief, el, label, percent } from "./dom.js";
import { light } from "./links.js";
import { addColumns } from "./attention.js";
import { say } from "./words.js";

const PACE = 1200; // milliseconds a step while it plays

export class Steps {
  constructor(root) {
    this.root = root;
    this.trace = null;
    this.sources = [];
    this.at = 0;
    this.timer = null;
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** `sources`: groups of the source's pieces to show where a step looked. */
  show(trace, sources) {
    if (trace !== this.trace) {
      this.stop();
      this.at = 0;
    }
    this.trace = trace;
    this.sources = sources;
    this.draw();
  }

  hide() {
    this.stop();
    this.trace = null;
    this.root.replaceChildren();
  }

  get count() {
    return this.trace === null ? 0 : this.trace.steps.length;
  }

  go(to) {
    this.at = Math.min(Math.max(to, 0), this.count - 1);
    this.update();
  }

  key(event) {
    if (!this.count || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const to = {
      ArrowLeft: this.at - 1,
      ArrowRight: this.at + 1,
      Home: 0,
      End: this.count - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.stop();
    this.go(to);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }

  /** Stops where it is. */
  pause() {
    if (this.timer === null) return;
    this.stop();
    this.update(false);
  }

  play() {
    if (this.timer !== null) {
      this.pause();
      return;
    }
    if (this.at === this.count - 1) this.at = 0;
    this.timer = setInterval(() => {
      if (this.at + 1 >= this.count - 1) this.stop();
      this.go(this.at + 1);
    }, PACE);
    this.update();
  }

  draw() {
    if (!this.count) {
      this.root.replaceChildren();
      return;
    }
    const act = {
      first: () => this.go(0),
      previous: () => this.go(this.at - 1),
      next: () => this.go(this.at + 1),
      last: () => this.go(this.count - 1),
    };
    this.buttons = {};
    for (const [name, go] of Object.entries(act)) {
      const button = el("button", { type: "button", "data-step": name }, say(name));
      button.addEventListener("click", () => {
        this.stop();
        go();
      });
      this.buttons[name] = button;
    }
    this.playButton = el("button", { type: "button", "data-step": "play" });
    this.playButton.addEventListener("click", () => this.play());
    this.where = el("p", { class: "where" });
    this.said = el("p", { class: "hidden", role: "status" });
    this.body = el("div");
    const bar = el("div", { class: "row" }, ...Object.values(this.buttons), this.playButton, this.where);
    this.root.replaceChildren(bar, this.said, this.body);
    this.update(false);
  }

  update(announce = true) {
    const step = this.trace.steps[this.at];
    const numbers = { n: this.at + 1, total: this.count };
    // aria-disabled and not disabled: a button that is switched off would lose the focus
    const ends = { first: 0, previous: 0, next: this.count - 1, last: this.count - 1 };
    for (const [name, end] of Object.entries(ends)) {
      this.buttons[name].setAttribute("aria-disabled", String(this.at === end));
    }
    this.playButton.textContent = say(this.timer === null ? "play" : "pause");
    this.where.textContent = say("stepOf", numbers);
    this.body.replaceChildren(
      el("h3", {}, say("read")),
      el("p", { class: "chips read", lang: "ko", translate: "no" }, ...step.read.map(chip)),
      el("h3", {}, say("candidates")),
      candidates(step),
      el("h3", {}, say("lookedAt"), el("span", { class: "muted small" }, ` ${say("lookedAtHint")}`)),
      this.looked(step),
      el("h3", {}, say("soFar")),
      el("p", { class: "sofar", lang: step.text ? "ko" : null }, step.text || say("nothingYet")),
    );
    if (announce) {
      const best = step.candidates.find((candidate) => candidate.piece === step.chosen);
      const share = best ? percent(best.probability) : "?";
      this.said.textContent = say("stepSays", { ...numbers, piece: brief(step.chosen), percent: share });
    }
  }

  looked(step) {
    const weights = addColumns(step.looked, this.sources);
    const chips = this.sources.map((group, at) => {
      const chipped = chip(group.text);
      chipped.append(el("span", { class: "share" }, ` ${percent(weights[at])} %`));
      return chipped;
    });
    light(chips, weights);
    return el("p", { class: "chips looked", lang: "en", translate: "no" }, ...chips);
  }
}

const chip = (text) => el("span", { class: "chip" }, label(text));

function candidates(step) {
  const rows = step.candidates.map(({ piece, probability }) => {
    const fill = el("span", { class: "fill" });
    fill.style.inlineSize = `${Math.min(Math.max(probability, 0), 1) * 100}%`;
    const chosen = piece === step.chosen;
    return el(
      "tr",
      { class: chosen ? "chosen" : null },
      el("th", { scope: "row", lang: "ko", translate: "no" }, label(piece)),
      el("td", {}, el("span", { class: "track", "aria-hidden": "true" }, fill)),
      el("td", { class: "number", "data-value": probability }, `${(probability * 100).toFixed(1)} %`),
      el("td", { class: "mark" }, chosen ? `✓ ${say("chosen")}` : ""),
    );
  });
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, say("piece")),
    el("td"),
    el("th", { scope: "col" }, say("probability")),
    el("th", { scope: "col" }, say("chosen")),
  );
  return el(
    "table",
    { class: "candidates", "aria-label": say("candidates") },
    el("thead", {}, head),
    el("tbody", {}, ...rows),
  );
}
