/** Colours for weights: from the card's colour to the accent, in light and in dark. */

const LIGHT = { from: [255, 255, 255], to: [11, 95, 107] };
const DARK = { from: [27, 33, 37], to: [127, 208, 218] };

const dark = window.matchMedia("(prefers-color-scheme: dark)");

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
  const { from, to } = dark.matches ? DARK : LIGHT;
  const part = Math.min(Math.max(share, 0), 1);
  const rgb = from.map((start, i) => Math.round(start + (to[i] - start) * part));
  element.style.backgroundColor = `rgb(${rgb.join(", ")})`;
  element.style.color = luminance(rgb) > 0.179 ? "#000" : "#fff";
}

export function unpaint(element) {
  element.style.backgroundColor = "";
  element.style.color = "";
}
