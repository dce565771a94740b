/** What a link carries: text, level and language, after the # of the address. */

const STORED = "translator.language";

export function readHash() {
  const values = new URLSearchParams(window.location.hash.slice(1));
  return { text: values.get("text"), level: values.get("level"), lang: values.get("lang") };
}

export function writeHash({ text, level, lang }) {
  const values = new URLSearchParams({ lang, level });
  if (text) values.set("text", text);
  window.history.replaceState(null, "", `#${values}`);
}

/** The language of the link, or else the one chosen last, or else the browser's. */
export function preferredLanguage() {
  const wanted = [readHash().lang, stored()].find((name) => name === "ko" || name === "en");
  return wanted ?? ((navigator.language ?? "").startsWith("ko") ? "ko" : "en");
}

function stored() {
  try {
    return window.localStorage.getItem(STORED);
  } catch {
    return null; // forbidden by the browser: then it is not remembered
  }
}

export function storeLanguage(name) {
  try {
    window.localStorage.setItem(STORED, name);
  } catch {
    // forbidden or full: the language then lives in the address alone
  }
}
