"use strict";
// Texts of the survey; everything that goes into markup goes through escaped().

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text) {
  return String(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign]);
}

function say(name, values = {}) {
  return escaped(SURVEY.texts[name].replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole));
}

function paragraphs(texts) {
  return texts.map((text) => `<p class="lines">${escaped(text)}</p>`).join("");
}

// From the address: Prolific's ids, or ?participant=, and ?list= to force a list.
const ADDRESS = new URLSearchParams(window.location.search);

function participantOfAddress() {
  return (ADDRESS.get("PROLIFIC_PID") ?? ADDRESS.get("participant") ?? "").slice(0, 200);
}

function randomId() {
  // crypto.randomUUID is missing where a page comes over plain http from another machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
