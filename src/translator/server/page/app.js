/** Wires the page: what a visitor does, what the server answers, what is shown. */

import * as api from "./api.js";
import { axesOf } from "./attention.js";
import { whenSchemeChanges } from "./color.js";
import { byId, el } from "./dom.js";
import { KINDS, arrangeMaps, clearInside, drawInside, drawSelected } from "./inside.js";
import { preferredLanguage, readHash, storeLanguage, writeHash } from "./state.js";
import { Steps } from "./steps.js";
import { drawComparison, drawMasks, drawShapes } from "./tables.js";
import { ENDINGS, currentLanguage, say, sayWarning, setLanguage } from "./words.js";

const EXAMPLE = "I am a student.";

const page = {
  settings: {
    charLimit: 2000,
    keyRequired: false,
    attention: true, // false where the server has an exported model, which shows none
    levels: Object.keys(ENDINGS),
    defaultLevel: "formal",
  },
  level: null, // until it is chosen, the settings say which
  translated: "", // the text whose translation is shown
  answer: null, // of /translate
  trace: null, // of /trace, for the selected sentence
  error: null,
  traceError: null,
  selected: 0,
  kind: KINDS[0],
  asking: null, // AbortController of the request that counts; an older one's answer is dropped
  tracing: null,
};
const steps = new Steps(byId("steps"));

const parts = () => page.answer?.attention ?? [];
const level = () => page.level ?? page.settings.defaultLevel;
const view = {
  get parts() {
    return parts();
  },
  get selected() {
    return page.selected;
  },
  get kind() {
    return page.kind;
  },
  get pieces() {
    return byId("pieces").checked;
  },
};

/* Asking */

/** Runs `ask(signal)` in `slot` and cancels what runs there. Calls `done` or `failed`, unless a newer one has begun. */
async function latest(slot, ask, { done, failed }) {
  page[slot]?.abort();
  const mine = new AbortController();
  page[slot] = mine;
  let act;
  try {
    const answer = await ask(mine.signal);
    act = () => done(answer);
  } catch (error) {
    act = () => failed(error);
  }
  if (page[slot] !== mine) return;
  page[slot] = null;
  act();
}

function cancel(slot) {
  page[slot]?.abort();
  page[slot] = null;
}

function translate() {
  const text = byId("text").value;
  forget();
  if (!text.trim()) {
    cancel("asking");
    page.error = { key: "empty" };
    showBusy();
    drawError();
    drawAnswer();
    return;
  }
  const question = { q: text, level: level(), attention: page.settings.attention };
  latest("asking", (signal) => api.translate(question, byId("key").value, signal), {
    done: (answer) => {
      page.answer = answer;
      page.translated = text;
      remember();
      showBusy();
      drawAnswer();
      if (parts().length) trace();
    },
    failed: (error) => {
      page.error = error;
      showBusy();
      drawError();
      drawAnswer();
    },
  });
  showBusy();
}

/** Drops the last answer. What is drawn of it waits, out of reach, for what comes next. */
function forget() {
  cancel("tracing");
  steps.pause();
  Object.assign(page, { answer: null, trace: null, error: null, traceError: null, selected: 0 });
  page.translated = "";
  drawError();
  fence();
}

/** Nobody can use what shows an answer while there is none. */
function fence() {
  byId("inside").inert = parts().length === 0;
}

function trace() {
  if (!parts().length) return;
  const question = { q: parts()[page.selected].text, level: level() };
  page.trace = null;
  page.traceError = null;
  drawTrace();
  latest("tracing", (signal) => api.trace(question, byId("key").value, signal), {
    done: (answer) => {
      page.trace = answer;
      drawTrace();
    },
    failed: (error) => {
      page.traceError = error;
      drawTrace();
    },
  });
}

function remember() {
  writeHash({ text: page.translated, level: level(), lang: currentLanguage() });
}

/* Showing */

function draw() {
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = say(element.dataset.text);
  }
  document.documentElement.lang = currentLanguage();
  document.title = say("title");
  const toggle = byId("language");
  toggle.textContent = say("toggle");
  toggle.lang = currentLanguage() === "ko" ? "en" : "ko";
  drawLevels();
  drawKinds();
  drawCount();
  showBusy();
  drawError();
  drawAnswer();
  drawTrace();
}

function radios(name, values, checked, label, change) {
  return values.map((value) => {
    const input = el("input", { type: "radio", name, value });
    input.checked = value === checked;
    input.addEventListener("change", () => change(value));
    return el("label", { class: "check" }, input, " ", ...label(value));
  });
}

function drawLevels() {
  const label = (level) => [
    el("span", { lang: "ko", translate: "no" }, ENDINGS[level] ?? level),
    el("span", { class: "muted small" }, ` ${level in ENDINGS ? say(level) : ""}`),
  ];
  const change = (level) => {
    page.level = level;
    if (page.answer || page.asking || page.error) translate();
  };
  byId("levels").replaceChildren(...radios("level", page.settings.levels, level(), label, change));
}

function drawKinds() {
  const change = (kind) => {
    page.kind = kind;
    drawInside(view, pick);
  };
  byId("kinds").replaceChildren(...radios("kind", KINDS, page.kind, (kind) => [say(kind)], change));
}

function drawCount() {
  const n = [...byId("text").value].length; // characters, as the server counts them; `length` counts 🍕 twice
  const limit = page.settings.charLimit;
  byId("count").textContent = say("count", { n, limit });
  byId("count").classList.toggle("over", n > limit);
}

function showBusy() {
  const busy = page.asking !== null;
  byId("answer").setAttribute("aria-busy", String(busy));
  document.body.classList.toggle("waiting", busy);
  byId("busy").textContent = busy ? say("busy") : "";
}

function drawError() {
  byId("alert").replaceChildren(...told(page.error));
}

/** An error in plain words, with the server's own if it gave some. */
function told(error) {
  if (error === null) return [];
  if (error.key) return [el("p", {}, say(error.key))];
  if (!(error instanceof api.ServerError)) console.error(error);
  const kind = error instanceof api.ServerError ? error.kind : "format";
  const near = { 401: 403, 422: 400 }[kind] ?? kind;
  const known = [400, 403, 408, 413, 429, 503, "network", "format"].includes(near) ? near : near < 500 ? 400 : 500;
  const detail = error.detail
    ? [el("p", { class: "small" }, `${say("serverSays")} `, el("span", { lang: "en" }, error.detail))]
    : [];
  return [el("p", {}, say(`error${known}`)), ...detail];
}

function drawAnswer() {
  const result = byId("result");
  const text = page.answer?.translatedText ?? "";
  result.classList.toggle("muted", !text);
  result.lang = text ? "ko" : currentLanguage();
  result.textContent = text || (page.asking || page.error ? "" : say("placeholder"));
  list("others", "alternatives", (page.answer?.alternatives ?? []).map((text) => ({ text })));
  list("cautions", "warnings", (page.answer?.warnings ?? []).map(sayWarning));
  byId("inside").hidden = parts().length === 0;
  fence();
  if (parts().length) {
    drawInside(view, pick);
    return;
  }
  clearInside();
  drawTrace();
}

function list(box, items, said) {
  byId(items).replaceChildren(...said.map(({ text, lang }) => el("li", { lang }, text)));
  byId(box).hidden = said.length === 0;
}

function drawTrace() {
  const { trace: traced, traceError } = page;
  drawTraceError(traceError);
  drawOtherWay();
  for (const id of ["masks", "compared", "shapes-table"]) byId(id).replaceChildren();
  byId("compared-title").hidden = byId("shapes").hidden = byId("steps").hidden = traced === null;
  if (traced === null) {
    steps.hide();
    return;
  }
  drawMasks(traced);
  drawComparison(traced);
  drawShapes(traced);
  drawSteps();
}

function drawTraceError(error) {
  const box = document.querySelector(".trace-alert");
  box.replaceChildren(...told(error));
  if (error === null) return;
  const again = el("button", { type: "button" }, say("retry"));
  again.addEventListener("click", trace);
  box.append(again);
}

/** What the trace shows was decoded greedily, and need not be what stands above. */
function drawOtherWay() {
  const greedy = page.trace?.translation;
  const other = page.trace !== null && greedy !== parts()[page.selected].translation;
  byId("other-way").hidden = !other;
  byId("other-way").replaceChildren(
    ...(other ? [`${say("otherWayHere")} `, el("span", { lang: "ko", translate: "no" }, greedy)] : []),
  );
}

function drawSteps() {
  if (page.trace === null) return;
  steps.show(page.trace, axesOf(page.trace, byId("pieces").checked).cross.columns);
}

/* What a visitor does */

function pick(at) {
  if (at === page.selected || !parts().length) return;
  page.selected = at;
  drawSelected(view);
  trace();
}

function toggleLanguage() {
  setLanguage(currentLanguage() === "ko" ? "en" : "ko");
  storeLanguage(currentLanguage());
  remember();
  draw();
}

/** Takes text, level and language from the address; a text is translated at once. */
function obeyHash() {
  const { text, level: wanted } = readHash();
  setLanguage(preferredLanguage());
  if (page.settings.levels.includes(wanted)) page.level = wanted;
  if (text !== null) byId("text").value = text;
  draw();
  if (text?.trim()) translate();
}

function listen() {
  const text = byId("text");
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    translate();
  });
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    translate();
  });
  text.addEventListener("input", drawCount);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // what follows # is the state of the page
    byId("main").focus();
  });
  byId("language").addEventListener("click", toggleLanguage);
  byId("sentence").addEventListener("change", (event) => pick(Number(event.target.value)));
  byId("pieces").addEventListener("change", () => {
    drawInside(view, pick);
    drawSteps();
  });
  for (const id of ["layer", "head"]) {
    byId(id).addEventListener("change", () => {
      drawInside(view, pick);
    });
  }
  window.addEventListener("hashchange", obeyHash);
  window.addEventListener("resize", arrangeMaps);
  whenSchemeChanges(draw);
}

async function start() {
  setLanguage(preferredLanguage());
  byId("text").value = EXAMPLE;
  draw();
  listen();
  try {
    page.settings = { ...page.settings, ...(await api.settings()) };
  } catch (error) {
    page.error = error;
  }
  byId("key-row").hidden = !page.settings.keyRequired;
  byId("no-attention").hidden = page.settings.attention;
  byId("version").textContent = page.settings.version ?? "";
  obeyHash();
}

start();
