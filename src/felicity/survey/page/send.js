"use strict";
// Handing rows over to the server, where there is one. A row leaves the queue when it is on the
// server's disk; until then it is tried again, and leaving the page asks first.

const QUEUE = [];
let sending = null;

async function post(path, body) {
  const reply = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status}`);
  return reply.json();
}

function openSession(participant) {
  return post("api/session", { survey: SURVEY.survey, participant });
}

function pause(milliseconds) {
  return new Promise((resolve) => window.setTimeout(resolve, milliseconds));
}

async function empty(session) {
  let wait = 500;
  while (QUEUE.length > 0) {
    const rows = QUEUE.slice(0, 100);
    try {
      await post("api/rows", { session, rows });
      QUEUE.splice(0, rows.length);
      wait = 500;
      document.body.classList.remove("offline");
    } catch {
      document.body.classList.add("offline");
      await pause(wait);
      wait = Math.min(wait * 2, 15000);
    }
  }
}

function send(session, row) {
  QUEUE.push(row);
  sending ??= empty(session).finally(() => {
    sending = null;
  });
  return sending;
}

async function allSent(session) {
  while (sending !== null) await sending;
  if (QUEUE.length > 0) await empty(session);
}

window.addEventListener("beforeunload", (event) => {
  if (QUEUE.length > 0) event.preventDefault();
});
