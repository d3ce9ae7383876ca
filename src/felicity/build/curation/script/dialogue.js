// One dialogue: its wordings, its two answers, and, once chosen, what is known of it.

function Question({ sheet, line, verdict }) {
  const text = verdict ? verdict.texts.question : line.question;
  const before = verdict?.before.question;
  const first = line.wording === "0";
  return html`<li class=${first ? "first" : ""}>
    <div class="over">
      <h3>${first ? `${sheet.names[0]} asks` : `Wording ${line.wording}`}</h3>
      ${verdict && verdict.state !== "undecided" && html`<${Chip} state=${verdict.state} />`}
    </div>
    <p class="question"><${Words} text=${withNames(text, sheet.names)} /></p>
    ${before && html`<p class="before">was: <s><${Words} text=${withNames(before, sheet.names)} /></s></p>`}
  </li>`;
}

function Answer({ sheet, place, onChoose, waiting }) {
  const label = sheet.told ? sheet.labels[place] : null;
  const verdict = sheet.told ? sheet.verdicts[0] : null;
  const text = verdict ? verdict.texts[label] : sheet.answers[place];
  const before = verdict?.before[label];
  const body = html`<span class="head">
      ${!label && html`<${Key}>${place + 1}<//>`}
      ${label && html`<span class=${`label ${label}`}>${label}</span>`}
      ${sheet.told && sheet.chosen === place && html`<span class="aside">chosen as the violator</span>`}
    </span>
    <span class="text"><${Words} text=${withNames(text, sheet.names)} /></span>
    ${before && html`<span class="before">was: <s><${Words} text=${withNames(before, sheet.names)} /></s></span>`}`;
  return sheet.told
    ? html`<div class=${`option ${label}`}>${body}</div>`
    : html`<button class="option" onClick=${() => onChoose(place)} disabled=${waiting} aria-keyshortcuts=${place + 1}
        aria-label=${`Answer ${place + 1}: ${withNames(text, sheet.names)}`}>${body}</button>`;
}

function Dialogue({ sheet, onChoose, waiting }) {
  return html`<ol class="wordings">
      ${sheet.wordings.map((line, place) => html`<${Question} key=${line.wording} sheet=${sheet} line=${line} verdict=${sheet.told ? sheet.verdicts[place] : null} />`)}
    </ol>
    <section aria-label="Answers">
      <h3>${`${sheet.names[1]} answers`}</h3>
      <div class="answers">
        ${[0, 1].map((place) => html`<${Answer} key=${place} sheet=${sheet} place=${place} onChoose=${onChoose} waiting=${waiting} />`)}
      </div>
      ${!sheet.told && html`<p class="ask">Which answer breaks a rule of good conversation?</p>`}
    </section>`;
}

/** What is said only after the choice: the maxim, the choice, checks, the model, the others. */
function Known({ sheet, reasons, onTake }) {
  const { maxim, model } = sheet;
  const right = sheet.chosen !== null && sheet.labels[sheet.chosen] === "violator";
  return html`<section class="known" aria-label="What is known">
    ${sheet.chosen !== null &&
    html`<p class=${right ? "right" : "wrong"}>
      ${right ? "You chose the answer that is meant to break it." : "You chose the answer that is meant to keep it."}
    </p>`}
    <p><b>${maxim.short}</b>: ${maxim.gloss}.</p>
    ${sheet.checks.length > 0
      ? html`<ul class="checks">
          ${sheet.checks.map((found) => html`<li><b>${found.check}</b>${found.wording && ` (wording ${found.wording})`}: <${Words} text=${found.problem} /></li>`)}
        </ul>`
      : html`<p class="hint">The checks find nothing here.</p>`}
    ${model &&
    html`<p class="hint">
      ${model.name}, follower before violator, in nats per token:
      ${Object.entries(model.nats).map(([wording, nats], place) => html`${place > 0 && ", "}${` wording ${wording} `}<b>${signed(nats)}</b>`)}
    </p>`}
    ${sheet.judged.length > 0 &&
    html`<div class="mine"><h3>You have judged</h3>
      <ul>${sheet.judged.map((decision) => html`<li><${Judged} decision=${decision} reasons=${reasons} /></li>`)}</ul></div>`}
    ${sheet.others.length > 0 &&
    html`<div class="others"><h3>Annotators</h3>
      <ul>${sheet.others.map((one) => html`<li>
        <b>${`Annotator ${one.annotator}`}</b>
        ${one.right !== null && html`<span class="aside">${one.right ? "chose the violator" : "chose the follower"}</span>`}
        ${one.judged.map((decision) => html`<span class="verdict"><${Judged} decision=${decision} reasons=${reasons} />
          ${decision.kind === "edit" && html`<button class="quiet" onClick=${() => onTake(decision)}>Use this edit</button>`}</span>`)}
      </li>`)}</ul></div>`}
  </section>`;
}
