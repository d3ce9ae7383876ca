// An item that was answered in words: the request as sent, each reply, and what was read from it.

/** How often each value of the scale was given, people's mean and spread above it. */
function Histogram({ row, items, name }) {
  const { low, high } = design.scale;
  const values = Array.from({ length: high - low + 1 }, (_, step) => low + step);
  const counts = values.map((value) => row.values.filter((v) => Math.round(v) === value).length);
  const most = Math.max(1, ...counts);
  const people = items.people[row.item];
  const [step, tall] = [36, 96];
  const x = (value) => (value - low + 0.5) * step;
  const label =
    `${name}: ` + values.map((value, place) => `${value}: ${counts[place]}`).join(", ") +
    (people ? `; people's mean ${fixed(people[0])}, sd ${fixed(people[1])}` : "");
  return html`<figure class="histogram">
    <svg viewBox=${`0 0 ${step * values.length} ${tall + 56}`} role="img" aria-label=${label}>
      ${values.map((value, place) => {
        const height = (counts[place] / most) * tall;
        return html`<g>
          <rect class="bar" x=${x(value) - 13} width="26" y=${32 + tall - height} height=${height} rx="3">
            <title>${value}: ${counts[place]}</title>
          </rect>
          ${counts[place] > 0 && html`<text x=${x(value)} y=${27 + tall - height} class="tally">${counts[place]}</text>`}
          <text x=${x(value)} y=${tall + 49}>${value}</text>
        </g>`;
      })}
      <line class="axis" x1="0" x2=${step * values.length} y1=${32.5 + tall} y2=${32.5 + tall} />
      ${people &&
      html`<g class="people">
        <title>People: mean ${fixed(people[0])}, sd ${fixed(people[1])}, n ${people[2]}</title>
        <line x1=${x(Math.max(low, people[0] - people[1]))} x2=${x(Math.min(high, people[0] + people[1]))} y1="5" y2="5" />
        <path d=${`M${x(people[0])} 0l5 5l-5 5l-5 -5z`} />
      </g>`}
    </svg>
    <figcaption>
      <b>${name}</b> mean ${fixed(row.mean)} of ${row.values.length} usable (of ${row.trials.length})
      ${people && html` · <span class="diamond" aria-hidden="true">◆</span> people ${fixed(people[0])} ± ${fixed(people[1])} (n ${people[2]})`}
    </figcaption>
  </figure>`;
}

function Reply({ run, trial }) {
  const reasoning = at(run.reasoning, trial);
  const error = at(run.error, trial);
  const status = at(run.status, trial);
  const shown = at(run.shown, trial);
  const value = run.value[trial];
  const pick = pickWord(run, trial, shown);
  return html`<article class="reply">
    <header>
      <span>${run.asked ? `order ${run.repeat[trial] + 1}` : `reply ${run.repeat[trial] + 1}`}</span>
      <span class=${`status ${status === "ok" ? "" : "off"}`}>${spoken(status)}</span>
      ${value !== null && html`<b>${pick ?? (Number.isInteger(value) ? value : fixed(value))}</b>`}
      <span class="aside">${at(run.model, trial)}${at(run.finish, trial) !== "stop" ? ` · ${at(run.finish, trial)}` : ""}</span>
    </header>
    ${shown && html`<ol class="shown">${shown.map(([label, text]) => html`<li><b>${label}</b> <${Words} text=${text} /></li>`)}</ol>`}
    ${reasoning &&
    html`<details><summary>Reasoning</summary><div class="text"><${Words} text=${reasoning} /></div></details>`}
    ${error
      ? html`<p class="text off"><${Words} text=${error} /></p>`
      : html`<p class="text"><${Marked} text=${at(run.text, trial)} span=${run.span[trial]} /></p>`}
  </article>`;
}

function pickWord(run, trial, shown) {
  if (!run.asked || !shown || run.value[trial] === null) return null;
  return `${shown[run.value[trial]][0]}, ${pickOf(run, trial) ? "right" : "wrong"}`;
}

/** The different requests of a row, as they were sent. */
function Sent({ run, row, name }) {
  const requests = [...new Set(row.trials.map((trial) => at(run.messages, trial)))].map(JSON.parse);
  if (!requests.some((messages) => messages.length)) {
    return html`<p class="hint">${name}: the requests are not known; these replies were collected elsewhere.</p>`;
  }
  return html`<details class="sent">
    <summary>As sent to ${name}${requests.length > 1 ? ` (${requests.length} requests)` : ""}</summary>
    ${requests.map(
      (messages) => html`<div class="request">
        ${messages.map(
          ([role, text]) => html`<div class="message">
            <span class="role">${role}</span>
            <pre tabindex="0"><${Words} text=${text} /></pre>
          </div>`,
        )}
      </div>`,
    )}
  </details>`;
}

function RepliedItem({ reads, items, row, show }) {
  const { item } = row;
  const texts = isChoice ? [] : Object.entries(items.texts).map(([name, column]) => [name, at(column, item)]);
  const replied = reads.filter(({ read, row: theirs }) => theirs && read.run.kind === "replies");
  return html`${isChoice
      ? html`<div class="dialogue"><p class="question"><${Words} text=${at(items.question, item)} /></p></div>`
      : html`<dl class="scene">
          ${texts.filter(([, text]) => text).map(([name, text]) => html`<div><dt>${spoken(name)}</dt><dd><${Words} text=${text} /></dd></div>`)}
        </dl>`}
    ${!isChoice &&
    html`<section>
      <h3>Ratings</h3>
      <div class="side-by-side">
        ${replied.map(({ row: theirs, name }) => html`<${Histogram} key=${name} row=${theirs} items=${items} name=${name} />`)}
      </div>
      <p class="hint">
        ${design.scale.low}${design.scale.low_label && `: ${design.scale.low_label}`},
        ${" "}${design.scale.high}${design.scale.high_label && `: ${design.scale.high_label}`}
      </p>
    </section>`}
    ${replied.map(({ read, row: theirs, name }) => html`<${Sent} key=${name} run=${read.run} row=${theirs} name=${name} />`)}
    ${!isChoice && replied.length > 0 && html`<${Relatives} read=${replied[0].read} items=${items} row=${row} show=${show} />`}
    <div class="side-by-side">
      ${replied.map(
        ({ read, row: theirs, name }) => html`<section class="replies" key=${name}>
          <h3>Replies${reads.length > 1 && html` <span class="who">${name}</span>`}</h3>
          ${theirs.trials.map((trial) => html`<${Reply} key=${trial} run=${read.run} trial=${trial} />`)}
        </section>`,
      )}
    </div>`;
}

/** The same scene's other attributes, under every prompting. */
function Relatives({ read, items, row, show }) {
  const unit = items.unit.codes[row.item];
  const rows = useMemo(() => read.rows.filter((each) => items.unit.codes[each.item] === unit), [read, unit]);
  const columns = [...new Set(rows.map((each) => each.prompting))];
  const lines = [...new Set(rows.map((each) => at(items.factors.attribute, each.item)))];
  if (rows.length < 2) return null;
  return html`<section class="variants">
    <h3>The same scene: all attributes${columns.length > 1 ? " and promptings" : ""}</h3>
    <div class="wide" tabindex="0" role="region" aria-label="The same scene">
      <table>
        <thead>
          <tr>
            <th scope="col">attribute</th>
            ${columns.map((column) => html`<th scope="col" class="amount">${column}</th>`)}
            <th scope="col" class="amount">people</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map((line) => {
            const here = rows.filter((each) => at(items.factors.attribute, each.item) === line);
            const people = items.people[here[0].item];
            return html`<tr>
              <th scope="row">${spoken(line)}</th>
              ${columns.map((column) => {
                const each = here.find((one) => one.prompting === column);
                return html`<td class="amount">
                  ${each &&
                  html`<button class="variant none" aria-current=${each.key === row.key ? "true" : undefined}
                    aria-label=${`${line}, ${column}: mean ${fixed(each.mean)}`} onClick=${() => show(each)}>
                    ${fixed(each.mean, 1)}
                  </button>`}
                </td>`;
              })}
              <td class="amount">${people ? fixed(people[0], 1) : "–"}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
  </section>`;
}
