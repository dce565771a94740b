/** Colours for weights: from the card's colour to the accent, in light and in dark. */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let read = { dark: null, ends: null }; // ends: {from, to}, [r, g, b] of the style, and the scheme that they are of

/** A colour that the style has under this name, as [r, g, b]. */
function ofStyle(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  probe.style.forcedColorAdjust = "none"; // as the cells, which keep their colours where others are forced
  document.body.append(probe);
  const rgb = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
  probe.remove();
  return rgb;
}

export const whenSchemeChanges = (act) => dark.addEventListener("change", act);

function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => {
    const x = part / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Paints an element by a share of 0..1. Black or white, whichever contrasts more, always reaches 4.5:1. */
export function paint(element, share) {
  if (read.dark !== dark.matches) {
    read = { dark: dark.matches, ends: { from: ofStyle("--card"), to: ofStyle("--accent") } };
  }
  const { from, to } = read.ends;
  const part = Math.min(Math.max(share, 0), 1);
  const rgb = from.map((start, i) => Math.round(start + (to[i] - start) * part));
  element.style.backgroundColor = `rgb(${rgb.join(", ")})`;
  element.style.color = luminance(rgb) > 0.179 ? "#000" : "#fff";
}

export function unpaint(element) {
  element.style.backgroundColor = "";
  element.style.color = "";
}
