// What the list of items is narrowed down by.

function Select({ label, value, options, onChange, none = "all" }) {
  return html`<label class="field">
    <span>${label}</span>
    <select aria-label=${label} value=${value ?? ""} onChange=${(event) => onChange(event.target.value)}>
      ${none !== null && html`<option value="">${none}</option>`}
      ${options.map(([key, word]) => html`<option value=${key}>${word}</option>`)}
    </select>
  </label>`;
}

/** Names of the participants, and which of them a link means. */
const names = report.participants.map((participant) => participant.name);
const placeOf = (name) => names.indexOf(name);

function Filters({ link, stay, read, other, search, shown }) {
  const factor = (name) => (level) => stay({ factors: { ...link.factors, [name]: level } });
  const set = (key) => (value) => stay({ [key]: value });
  const statuses = useMemo(() => [...new Set(read.rows.flatMap((row) => row.statuses))].sort(), [read]);
  const promptings = useMemo(
    () => [...new Set(read.rows.map((row) => row.prompting).filter(Boolean))],
    [read],
  );
  const sorts = Object.entries(SORTS).filter(
    ([name, sort]) => (sort.choice === null || sort.choice === isChoice) && (name !== "apart" || other),
  );
  const outcomes = Object.entries(OUTCOMES).filter(([key]) => key !== "s" || read.run.asked);
  const given = [link.outcome, link.status, link.agree, link.only, ...Object.values(link.factors)];
  const active = given.filter(Boolean).length;
  const narrowed = link.q || active > 0;
  return html`<form class="filters" onSubmit=${(event) => event.preventDefault()} aria-label="Filters">
    <${Select} label="Model" value=${names[placeOf(link.model)] ?? names[0]} none=${null}
      options=${names.map((name) => [name, name])} onChange=${set("model")} />
    ${names.length > 1 &&
    html`<${Select} label="Compare with" value=${link.vs} none="nobody"
      options=${names.filter((n) => n !== (link.model || names[0])).map((name) => [name, name])}
      onChange=${(name) => stay({ vs: name, agree: "", sort: name ? link.sort : "" })} />`}
    <label class="field search">
      <span>Search <kbd>/</kbd></span>
      <input type="search" ref=${search} value=${link.q ?? ""} placeholder="words of an item or reply"
        onInput=${(event) => stay({ q: event.target.value })} />
    </label>
    <details class="more" open=${innerWidth > 900}>
      <summary>Filters and order${active > 0 && ` (${active} set)`}</summary>
      <div class="grid">
        ${design.filters.map(
          ({ name, levels }) => html`<${Select} label=${spoken(name)} value=${link.factors[name]}
            options=${levels.map((level) => [level, design.glosses?.[level] ?? spoken(level)])}
            onChange=${factor(name)} />`,
        )}
        ${promptings.length > 1 &&
        html`<${Select} label="prompting" value=${link.only}
          options=${promptings.map((name) => [name, name])} onChange=${set("only")} />`}
        ${isChoice &&
        html`<${Select} label="outcome" value=${link.outcome}
          options=${outcomes.map(([key, { word }]) => [key, word])} onChange=${set("outcome")} />`}
        ${statuses.length > 1 &&
        html`<${Select} label="status" value=${link.status}
          options=${statuses.map((name) => [name, spoken(name)])} onChange=${set("status")} />`}
        ${other && isChoice &&
        html`<${Select} label="the two models" value=${link.agree} none="whatever they do"
          options=${[["same", "agree"], ["differ", "differ"]]} onChange=${set("agree")} />`}
        ${read.run.kind === "scores" &&
        html`<${Select} label="score" value=${link.score || report.score || design.scores[0]} none=${null}
          options=${design.scores.map((name) => [name, SCORES[name]])} onChange=${set("score")} />`}
        <${Select} label="order" value=${link.sort} none="As in the study"
          options=${sorts.map(([key, { word }]) => [key, word])} onChange=${set("sort")} />
      </div>
    </details>
    <p class="count" role="status">
      ${counted(shown, "item", "items")} of ${read.rows.length.toLocaleString("en")}
      ${narrowed &&
      html` · <button class="quiet" type="button"
          onClick=${() => stay({ factors: {}, q: "", outcome: "", status: "", agree: "", only: "" })}>
          Clear filters
        </button>`}
    </p>
  </form>`;
}
