"use strict";
// Markup of the screens, and their keys. No screen knows what comes before or after it.

function progressLine(done, count) {
  return `<p class="progress"><progress max="${count}" value="${done}"
    aria-label="${say("progress", { done, count })}"></progress>
    <span aria-hidden="true">${say("progress", { done, count })}</span></p>`;
}

function choiceHtml(context, question, done, count) {
  const text = /[:：]$/.test(context) ? `${context} …` : context;
  return `${progressLine(done, count)}
    <div class="dialogue"><p class="lines">${escaped(text)}</p></div>
    <p class="question" id="question">${escaped(question)}</p>`;
}

function answerButton(text, place) {
  return `<button type="button" class="answer" aria-describedby="question">
    <kbd aria-hidden="true">${place + 1}</kbd><span>${escaped(text)}</span></button>`;
}

// 1 and 2, and the arrows. A key that is held down answers once.
const PLACE_OF_KEY = { 1: 0, 2: 1, ArrowLeft: 0, ArrowRight: 1, ArrowUp: 0, ArrowDown: 1 };

function choiceKeys(event) {
  const place = PLACE_OF_KEY[event.key];
  if (place === undefined || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.querySelectorAll("button.answer")[place]?.click();
}

function ratingField(number, text, scale, typed) {
  const name = `r${number}`;
  if (typed) {
    return `<fieldset class="rating"><legend id="${name}-legend">${escaped(text)}</legend>
      <span class="end">${scale.low} = ${escaped(scale.low_label)}</span>
      <input type="number" name="${name}" required step="1" min="${scale.low}" max="${scale.high}"
        aria-labelledby="${name}-legend">
      <span class="end">${scale.high} = ${escaped(scale.high_label)}</span></fieldset>`;
  }
  const points = [];
  for (let value = scale.low; value <= scale.high; value += 1) {
    const end = value === scale.low ? scale.low_label : value === scale.high ? scale.high_label : "";
    const label = end ? ` aria-label="${value}, ${escaped(end)}"` : "";
    points.push(`<label><input type="radio" name="${name}" value="${value}" required${label}>
      <span aria-hidden="true">${value}</span></label>`);
  }
  return `<fieldset class="rating"><legend>${escaped(text)}</legend>
    <div class="scale"><span class="end" aria-hidden="true">${escaped(scale.low_label)}</span>
    <div class="points">${points.join("")}</div>
    <span class="end" aria-hidden="true">${escaped(scale.high_label)}</span></div></fieldset>`;
}

// A digit answers the question that has the focus, or the first open one, and goes on to the next.
function ratingKeys(event) {
  if (!/^[0-9]$/.test(event.key) || event.repeat) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.type === "number") return;
  const fields = [...document.querySelectorAll("fieldset.rating")];
  const open = fields.filter((field) => !field.querySelector("input:checked"));
  const field = document.activeElement?.closest("fieldset.rating") ?? open[0];
  const wanted = field?.querySelector(`input[value="${event.key}"]`);
  if (!wanted) return;
  event.preventDefault();
  wanted.checked = true;
  wanted.focus();
  const next = open.find((other) => other !== field);
  const goal = next ? next.querySelector("input") : document.querySelector("input[type=submit]");
  goal.focus();
}

function sceneHtml(scene, done, count) {
  return `${progressLine(done, count)}<div class="dialogue">${paragraphs(scene)}</div>`;
}

function aboutHtml(names) {
  const kinds = { age: 'type="number" min="0" max="130" inputmode="numeric"' };
  const fields = names.map(
    (name) => `<p class="field"><label for="about-${name}">${say(name)}</label>
      <input id="about-${name}" name="${name}" ${kinds[name] ?? 'type="text" maxlength="200"'}></p>`,
  );
  return fields.join("");
}

// Show a screen outside of jsPsych and wait for one of its buttons.
function ask(markup, buttons) {
  const main = document.getElementById("survey");
  const row = buttons.map(([name, text]) => `<button type="button" class="plain" data-name="${name}">
    ${text}</button>`);
  main.innerHTML = `<div class="text">${markup}</div><p class="buttons">${row.join("")}</p>`;
  main.focus();
  window.scrollTo(0, 0);
  return new Promise((resolve) => {
    for (const button of main.querySelectorAll("button")) {
      button.addEventListener("click", () => resolve(button.dataset.name), { once: true });
    }
  });
}
