// A form for what a person writes: base dialogues, dialogues of a template, rewordings.

const WHAT = {
  base: "a base dialogue",
  dialogue: "a dialogue of a template",
  rewording: "a rewording of a question",
};

function Select({ label, value, options, onChange }) {
  return html`<label class="field"><span>${label}</span>
    <select aria-label=${label} value=${value} onChange=${(event) => onChange(event.target.value)}>
      ${options.map(([key, words]) => html`<option value=${key}>${words}</option>`)}
    </select></label>`;
}

function Write({ desk }) {
  const { overview, sheet, send, go, waiting } = desk;
  const [what, setWhat] = useState("base");
  const [maxim, setMaxim] = useState(overview.maxims[0].key);
  const [template, setTemplate] = useState(overview.templates[0]?.[0] ?? "");
  const ids = [...overview.dialogues.map((entry) => entry.id)].sort(new Intl.Collator("en", { numeric: true }).compare);
  const [dialogue, setDialogue] = useState(ids[0] ?? "");
  const [texts, setTexts] = useState({ question: "", follower: "", violator: "" });
  const [added, setAdded] = useState(null);
  useEffect(() => {
    if (what === "rewording" && dialogue) go(dialogue);
  }, [what, dialogue]);
  const fields = what === "rewording" ? ["question"] : ["question", "follower", "violator"];
  const save = async (event) => {
    event?.preventDefault();
    if (waiting) return;
    const row = Object.fromEntries(fields.map((field) => [field, texts[field]]));
    if (what === "rewording") row.dialogue_id = dialogue;
    else row.maxim = what === "base" ? maxim : overview.templates.find(([id]) => id === template)[1];
    if (what === "dialogue") row.template_id = template;
    const told = await send("api/write", row);
    if (!told) return;
    setAdded(told);
    setTexts({ question: "", follower: "", violator: "" });
    if (what === "rewording") go(dialogue);
  };
  useKeys((key) => key === "send" && (save(), true));
  const chosen = overview.maxims.find((entry) => entry.key === maxim);
  return html`<form class="card write" onSubmit=${save}>
    <h1>Write</h1>
    <div class="pair">
      <${Select} label="What" value=${what} options=${Object.entries(WHAT)} onChange=${setWhat} />
      ${what === "base" && html`<${Select} label="Maxim" value=${maxim} options=${overview.maxims.map((m) => [m.key, m.short])} onChange=${setMaxim} />`}
      ${what === "dialogue" && html`<${Select} label="Template" value=${template} options=${overview.templates.map(([id]) => [id, id])} onChange=${setTemplate} />`}
      ${what === "rewording" && html`<${Select} label="Dialogue" value=${dialogue} options=${ids.map((id) => [id, id])} onChange=${setDialogue} />`}
    </div>
    ${what === "base" && html`<p class="hint">Rule: ${chosen.gloss}. The follower keeps this, the violator breaks it and only it.</p>`}
    ${what === "rewording" && sheet?.id === dialogue &&
    html`<ol class="wordings">${sheet.wordings.map((line) => html`<${Question} sheet=${sheet} line=${line} />`)}</ol>`}
    ${fields.map((field) => html`<label class="field"><span>${field}</span>
      <textarea rows="2" required value=${texts[field]} onInput=${(event) => setTexts({ ...texts, [field]: event.target.value })} /></label>`)}
    <p class="hint">${"{questioner}"} and ${"{responder}"} stand for the names of the speakers. It is kept under your name, ${overview.person.name}.</p>
    <div class="acts"><button class="button" disabled=${waiting}>Add it <kbd>Ctrl Enter</kbd></button></div>
    ${added && html`<div role="status" class="added">
      ${added.added.map((line) => html`<p>${`Added ${line.dialogue}, wording ${line.wording}.`}</p>`)}
      ${added.checks.length > 0 && html`<ul class="checks">${added.checks.map((found) => html`<li><b>${found.check}</b>: <${Words} text=${found.problem} /></li>`)}</ul>`}
    </div>`}
  </form>`;
}
