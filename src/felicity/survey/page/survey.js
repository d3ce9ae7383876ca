"use strict";
// From consent to thanks.

async function consent() {
  const draft = SURVEY.draft ? `<p class="draft" role="note">${say("draft")}</p>` : "";
  const text = `${draft}<h1>${say("consent_title")}</h1>${paragraphs(SURVEY.consent)}`;
  const answer = await ask(text, [
    ["agree", say("agree")],
    ["decline", say("decline")],
  ]);
  return answer === "agree";
}

async function begin() {
  const participant = participantOfAddress();
  if (!SERVED) {
    const forced = Number(ADDRESS.get("list"));
    const count = SURVEY.lists.length;
    const list = Number.isInteger(forced) && forced >= 1 && forced <= count
      ? forced - 1
      : Math.floor(Math.random() * count);
    return { session: randomId(), participant, list };
  }
  for (;;) {
    document.getElementById("survey").innerHTML = `<p role="status">${say("starting")}</p>`;
    try {
      return { participant, ...(await openSession(participant)) };
    } catch {
      await ask(`<p role="alert">${say("no_start")}</p>`, [["again", say("try_again")]]);
    }
  }
}

async function instruct(list) {
  const count = SURVEY.lists[list].length;
  const own = paragraphs([...SURVEY.instructions]);
  const how = `<p>${say(`instructions_${SURVEY.paradigm}`, { count })}</p>`;
  const checks = SURVEY.checks > 0 ? `<p>${say("instructions_checks")}</p>` : "";
  await ask(`<h1>${say("instructions_title")}</h1>${own}${how}${checks}`, [["go", say("begin")]]);
}

function saveAs(jsPsych, kind, session) {
  jsPsych.data.get().localSave(kind, `${SURVEY.study}-${session}.${kind}`);
}

function thank(jsPsych, session, sent) {
  const code = SURVEY.code ? `<p>${say("code")} <strong class="code">${escaped(SURVEY.code)}</strong></p>` : "";
  const url = SURVEY.url
    ? `<p><a class="plain" href="${escaped(SURVEY.url)}">${say("go_back")}</a></p>`
    : "";
  const save = `<p class="buttons">
    <button type="button" class="plain" data-kind="json">${say("download_json")}</button>
    <button type="button" class="plain" data-kind="csv">${say("download_csv")}</button></p>`;
  const main = document.getElementById("survey");
  main.innerHTML = `<div class="text"><h1>${say("thanks_title")}</h1>
    <p role="status">${say(sent ? "thanks_sent" : "thanks_file")}</p>${code}${url}
    ${sent ? "" : save}</div>`;
  for (const button of main.querySelectorAll("button[data-kind]")) {
    button.addEventListener("click", () => saveAs(jsPsych, button.dataset.kind, session));
  }
  main.focus();
}

async function run() {
  document.documentElement.lang = SURVEY.language;
  document.title = SURVEY.title;
  document.body.dataset.offline = SURVEY.texts.no_connection;
  if (!(await consent())) {
    document.getElementById("survey").innerHTML = `<div class="text"><p>${say("declined")}</p></div>`;
    return;
  }
  const consented = new Date().toISOString();
  const { session, participant, list } = await begin();
  await instruct(list);
  document.getElementById("survey").innerHTML = "";
  const jsPsych = vendor.initJsPsych({
    display_element: "survey",
    override_safe_mode: true,
    on_data_update(row) {
      if (SERVED) send(session, row);
    },
  });
  jsPsych.data.addProperties({
    felicity: SURVEY.format,
    survey: SURVEY.survey,
    study: SURVEY.study,
    data_hash: SURVEY.data_hash,
    session,
    participant,
    list,
    prolific_study: ADDRESS.get("STUDY_ID") ?? "",
    prolific_session: ADDRESS.get("SESSION_ID") ?? "",
    consented,
    asked_for: SURVEY.asked_for ?? "",
    checks: SURVEY.checks,
    trials: SURVEY.lists[list].length,
  });
  await jsPsych.run(makeTimeline(jsPsych.randomization, list));
  // The last row says that the session came to its end.
  const last = { ...jsPsych.data.get().last(1).values()[0] };
  const end = { part: "end", trial_index: last.trial_index + 1, time_elapsed: last.time_elapsed };
  for (const name of ["rt", "response", "trial_type", "plugin_version", "item", "scene", "first",
    "chosen", "ratings", "wanted", "given", "passed", "about"]) delete last[name];
  const row = { ...last, ...end };
  jsPsych.data.get().push(row);
  if (SERVED) {
    document.getElementById("survey").innerHTML = `<p role="status">${say("sending")}</p>`;
    send(session, row);
    await allSent(session);
  } else {
    saveAs(jsPsych, "json", session);
  }
  thank(jsPsych, session, SERVED);
}

run();
