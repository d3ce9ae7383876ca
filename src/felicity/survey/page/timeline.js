"use strict";
// The trials of one list: in random order, sides balanced at random, checks among them.

function focusMain() {
  document.getElementById("survey").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

function withKeys(keys) {
  return {
    on_load() {
      focusMain();
      document.addEventListener("keydown", keys);
    },
    done() {
      document.removeEventListener("keydown", keys);
    },
  };
}

// As many true as false (one more of either where the count is odd), in random order.
function balanced(random, count) {
  const start = random.sampleWithoutReplacement([0, 1], 1)[0];
  return random.shuffle(Array.from({ length: count }, (_, place) => (place + start) % 2 === 0));
}

function choiceScreen(context, question, texts, place, count, record) {
  const keys = withKeys(choiceKeys);
  return {
    type: vendor.buttons,
    stimulus: choiceHtml(context, question, place, count),
    choices: texts,
    button_html: answerButton,
    button_layout: "flex",
    on_load: keys.on_load,
    on_finish(data) {
      keys.done();
      delete data.stimulus;
      Object.assign(data, record(data.response));
    },
  };
}

function choiceTrial(id, swapped, place, count) {
  const stimulus = SURVEY.stimuli[id];
  const labels = Object.keys(stimulus.answers);
  const order = swapped ? [labels[1], labels[0]] : labels;
  const texts = order.map((label) => stimulus.answers[label]);
  return choiceScreen(stimulus.context, stimulus.question, texts, place, count, (response) => ({
    part: "trial",
    item: id,
    first: order[0],
    chosen: order[response],
  }));
}

function choiceCheck(random, place, count) {
  const words = SURVEY.texts.check_words.split(",").map((word) => word.trim());
  const texts = random.sampleWithoutReplacement(words, 2);
  const wanted = random.sampleWithoutReplacement(texts, 1)[0];
  const line = SURVEY.texts.check_choice.replace("{wanted}", wanted);
  return choiceScreen(line, "", texts, place, count, (response) => ({
    part: "check",
    wanted,
    given: texts[response],
    passed: texts[response] === wanted,
  }));
}

function ratingScreen(scene, questions, place, count, record) {
  const keys = withKeys(ratingKeys);
  const fields = questions.map((text, number) =>
    ratingField(number, text, SURVEY.scale, SURVEY.typed),
  );
  return {
    type: vendor.form,
    preamble: sceneHtml(scene, place, count),
    html: fields.join(""),
    button_label: SURVEY.texts.next,
    on_load: keys.on_load,
    on_finish(data) {
      keys.done();
      const given = questions.map((_, number) => Number(data.response[`r${number}`]));
      delete data.response;
      Object.assign(data, record(given));
    },
  };
}

function ratingTrial(id, attributes, place, count) {
  const stimulus = SURVEY.stimuli[id];
  const texts = Object.fromEntries(stimulus.questions);
  const questions = attributes.map((name) => texts[name]);
  return ratingScreen(stimulus.scene, questions, place, count, (given) => ({
    part: "trial",
    scene: id,
    ratings: Object.fromEntries(attributes.map((name, number) => [name, given[number]])),
  }));
}

function ratingCheck(random, place, count) {
  const wanted = random.randomInt(SURVEY.scale.low, SURVEY.scale.high);
  const line = SURVEY.texts.check_rating.replace("{wanted}", wanted);
  return ratingScreen([], [line], place, count, ([given]) => ({
    part: "check",
    wanted: String(wanted),
    given: String(given),
    passed: given === wanted,
  }));
}

function stimulusTrials(random, ids, count, slots) {
  if (SURVEY.paradigm === "choice") {
    const swapped = balanced(random, ids.length);
    return ids.map((id, number) => choiceTrial(id, swapped[number], slots[number], count));
  }
  const attributes = random.shuffle(Object.values(SURVEY.stimuli)[0].questions.map(([name]) => name));
  return ids.map((id, number) => ratingTrial(id, attributes, slots[number], count));
}

function makeTimeline(random, list) {
  const ids = random.shuffle(SURVEY.lists[list]);
  const count = ids.length + SURVEY.checks;
  // Checks stand evenly spread, never first where there is anything else.
  const at = Array.from({ length: SURVEY.checks }, (_, number) =>
    Math.round(((number + 1) * count) / (SURVEY.checks + 1)),
  );
  const places = Array.from({ length: count }, (_, place) => place);
  const forChecks = new Set();
  for (const wish of at) {
    let place = Math.min(wish, count - 1);
    while (forChecks.has(place)) place = (place + 1) % count;
    forChecks.add(place);
  }
  const slots = places.filter((place) => !forChecks.has(place));
  const trials = new Array(count);
  stimulusTrials(random, ids, count, slots).forEach((trial, number) => {
    trials[slots[number]] = trial;
  });
  const check = SURVEY.paradigm === "choice" ? choiceCheck : ratingCheck;
  for (const place of forChecks) trials[place] = check(random, place, count);
  if (SURVEY.ask.length > 0) trials.push(aboutTrial());
  return trials;
}

function aboutTrial() {
  return {
    type: vendor.form,
    preamble: `<h1>${say("about_you")}</h1><p>${say("about_you_hint")}</p>`,
    html: aboutHtml(SURVEY.ask),
    button_label: SURVEY.texts.next,
    on_load: focusMain,
    on_finish(data) {
      Object.assign(data, { part: "about", about: data.response });
      delete data.response;
    },
  };
}
