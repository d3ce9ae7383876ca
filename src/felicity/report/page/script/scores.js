// An item that was scored: its dialogue, both answers token by token, its variants.

// Bits of surprisal at which a darker shade begins.
const SHADES = [1, 2, 4, 6, 8, 11, 15];
const shadeOf = (bits) => SHADES.filter((from) => bits >= from).length;

function Token({ text, bits, wide }) {
  const said = bits === null ? "not finite" : `${bits.toFixed(2)} bits`;
  const shown = text.replace(/^[ \u0120\u2581]/, "");
  return html`<span class=${`token ${bits === null ? "lost" : `s${shadeOf(bits)}`}${shown === text ? "" : " apart"}`}
    title=${`“${text}”: ${said}${wide ? "; holds characters of the context too" : ""}`}>
    <span class="piece"><${Words} text=${shown === "" ? "␣" : shown.replaceAll("\n", "⏎")} /></span>
    <small>${bits === null ? "∞" : bits.toFixed(1)}</small>
  </span>`;
}

function Legend() {
  const words = ["under 1", ...SHADES.map((from, place) => (SHADES[place + 1] ? `${from}–${SHADES[place + 1]}` : `${from} and more`))];
  return html`<div class="legend" aria-label="Surprisal in bits">
    <span>Surprisal, bits</span>
    ${words.map((word, shade) => html`<span class=${`key s${shade}`}>${word}</span>`)}
  </div>`;
}

/** The tokens of one answer for one model. */
function Tokens({ read, row, label, score }) {
  const side = read.run.sides[label];
  const { index } = row;
  const [from, count] = [side.starts[index], side.lengths[index]];
  const places = Array.from({ length: count }, (_, offset) => from + offset);
  const value = side.scores[score][index];
  const status = at(side.status, index);
  return html`<div class="answer-scores">
    <div class="tokens">
      ${places.map(
        (place, offset) => html`<${Token} text=${at(side.tokens, place)} bits=${side.bits[place]}
          wide=${offset === 0 && side.straddles[index]} />`,
      )}
    </div>
    <p class="figures-of">
      ${status === "ok"
        ? html`<b>${fixed(value, 3)}</b> ${UNITS[score]} · ${
            count ? counted(count, "token", "tokens") : "its tokens were not given"
          }${side.scores.log_prob_sum[index] !== null && ` · sum ${fixed(side.scores.log_prob_sum[index])} nats`}`
        : html`<span class="status">${spoken(status)}</span>`}
      ${side.both_ways && html` · each token read with words after it`}
    </p>
  </div>`;
}

/** What stood before the answer, filled in as it was for the model. */
function contextOf(read, items, item) {
  if (read.run.format.context === undefined) return "not known: the scores were computed elsewhere";
  const values = { item_id: items.id[item], question: at(items.question, item) };
  for (const [name, column] of Object.entries(items.factors)) values[name] = at(column, item);
  for (const label of labelsOf(items, item)) values[label] = at(items.answers[label], item);
  return (read.run.format.context ?? "").replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

function Margin({ read, row, score, name }) {
  const letter = outcomeOf(read, row, score);
  const margin = numberOf(read, row, score);
  const { mark, word } = OUTCOMES[letter];
  return html`<p class="margin">
    <span class=${`outcome ${{ r: "right", w: "wrong" }[letter] ?? "none"}`}><b aria-hidden="true">${mark}</b> ${word}</span>
    ${margin !== null && html`<span><b class="big">${signed(margin, 3)}</b> ${UNITS[score]}</span>`}
    <span class="who">${name}: the ${spoken(design.answers[0])} over the ${design.answers.length > 2 ? "best of the others" : spoken(design.answers[1])}</span>
  </p>`;
}

function ScoredItem({ reads, items, row, score, show }) {
  const { item } = row;
  return html`<div class="dialogue">
      <p class="question"><${Words} text=${at(items.question, item)} /></p>
      <${Legend} />
      ${labelsOf(items, item).map(
        (label) => html`<section class="answer" key=${label}>
          <h3>${spoken(label)}</h3>
          <p class="text"><${Words} text=${at(items.answers[label], item)} /></p>
          ${reads.map(({ read, row: theirs, name }) =>
            theirs && read.run.kind === "scores"
              ? html`<div key=${name}>
                  ${reads.length > 1 && html`<h4>${name}</h4>`}
                  <${Tokens} read=${read} row=${theirs} label=${label} score=${score} />
                </div>`
              : null,
          )}
        </section>`,
      )}
    </div>
    <section class="margins">
      <h3>Margin</h3>
      ${reads.map(({ read, row: theirs, name }) =>
        theirs && read.run.kind === "scores" && html`<${Margin} key=${name} read=${read} row=${theirs} score=${score} name=${name} />`)}
    </section>
    ${reads.map(({ read, name }) =>
      read.run.kind === "scores" &&
      html`<details class="sent" key=${name}>
        <summary>Read before the answer: ${name}, format ${read.run.format.name}</summary>
        <pre tabindex="0"><${Words} text=${contextOf(read, items, item) || "nothing"} /></pre>
      </details>`)}
    ${reads.map(({ read, name }) =>
      read.run.kind === "scores" &&
      html`<${Variants} key=${name} read=${read} items=${items} item=${item} score=${score} show=${show}
        name=${reads.length > 1 ? name : ""} />`)}`;
}

/** The same dialogue under its other wordings and names, with the margin of each. */
function Variants({ read, items, item, score, show, name }) {
  const [down, ...across] = design.variants;
  const unit = items.unit.codes[item];
  const rows = useMemo(() => read.rows.filter((row) => items.unit.codes[row.item] === unit), [read, unit]);
  if (!down || rows.length < 2) return null;
  const value = (group, row) => group.map((factor) => at(items.factors[factor], row.item)).join(" & ");
  const columns = [...new Set(rows.map((row) => value(across.flat(), row)))];
  const lines = [...new Set(rows.map((row) => value(down, row)))];
  const margins = rows.map((row) => numberOf(read, row, score)).filter((margin) => margin !== null);
  const wins = rows.filter((row) => outcomeOf(read, row, score) === "r").length;
  const usable = margins.length < rows.length ? `${margins.length} usable of ` : "";
  return html`<section class="variants">
    <h3>The same dialogue under other wordings and names${name && html` <span class="who">${name}</span>`}</h3>
    <p class="hint">
      Right in ${wins} of ${usable}${rows.length}${margins.length > 0 &&
      `; margins from ${signed(Math.min(...margins))} to ${signed(Math.max(...margins))} ${UNITS[score]}`}.
    </p>
    <div class="wide" tabindex="0" role="region" aria-label="Variants">
      <table>
        <thead>
          <tr>
            <th scope="col">${down.map(spoken).join(" & ")}</th>
            ${columns.map((column) => html`<th scope="col" class="amount">${column || "margin"}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${lines.map(
            (line) => html`<tr>
              <th scope="row">${line}</th>
              ${columns.map((column) => {
                const row = rows.find((r) => value(down, r) === line && value(across.flat(), r) === column);
                if (!row) return html`<td></td>`;
                const letter = outcomeOf(read, row, score);
                return html`<td class="amount">
                  <button class=${`variant ${{ r: "right", w: "wrong" }[letter] ?? "none"}`}
                    aria-current=${row.item === item ? "true" : undefined} onClick=${() => show(row)}
                    aria-label=${`${line}, ${column}: ${OUTCOMES[letter].word}`}>
                    <span aria-hidden="true">${OUTCOMES[letter].mark}</span> ${signed(numberOf(read, row, score))}
                  </button>
                </td>`;
              })}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}
