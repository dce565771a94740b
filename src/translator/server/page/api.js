/** Asks the server. Every failure but a cancelled request becomes a ServerError. */

export class ServerError extends Error {
  /** `kind`: the HTTP status, "network" or "format"; `detail`: what the server said, if anything. */
  constructor(kind, detail = "") {
    super(detail || String(kind));
    this.kind = kind;
    this.detail = detail;
  }
}

const cancelled = (error) => error instanceof DOMException && error.name === "AbortError";

async function ask(path, options) {
  let response;
  let data;
  try {
    response = await fetch(path, options);
  } catch (error) {
    throw cancelled(error) ? error : new ServerError("network");
  }
  try {
    data = await response.json();
  } catch (error) {
    if (cancelled(error)) throw error;
    throw new ServerError(response.ok ? "format" : response.status);
  }
  if (!response.ok) {
    throw new ServerError(response.status, typeof data?.error === "string" ? data.error : "");
  }
  if (typeof data !== "object" || data === null) throw new ServerError("format");
  return data;
}

function post(path, body, key, signal) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(key ? { ...body, api_key: key } : body),
    signal,
  });
}

export const settings = () => ask("frontend/settings");

export async function translate({ q, level, attention }, key, signal) {
  const body = { q, source: "en", target: "ko", format: "text", alternatives: 3, level, attention };
  const answer = await post("translate", body, key, signal);
  if (typeof answer.translatedText !== "string") throw new ServerError("format");
  return answer;
}

export async function trace({ q, level }, key, signal) {
  const answer = await post("trace", { q, level }, key, signal);
  if (!Array.isArray(answer.steps)) throw new ServerError("format");
  return answer;
}
