// Accept, edit, reject: the form below a dialogue, and its keys.

/** What was typed and not sent yet; it outlives a closed tab. */
function useDraft(key) {
  const empty = { mode: null, scope: null, reasons: [], comment: "", texts: {} };
  const read = () => {
    try {
      return { ...empty, ...JSON.parse(remembered(localStorage, key) ?? "{}") };
    } catch {
      return empty;
    }
  };
  const [draft, setDraft] = useState({ key, ...read() });
  const current = draft.key === key ? draft : { key, ...read() };
  const change = (changes) => {
    const next = { ...current, ...changes };
    remember(localStorage, key, JSON.stringify({ ...next, key: undefined }));
    setDraft(next);
  };
  const clear = () => {
    remember(localStorage, key, null);
    setDraft({ key, ...empty });
  };
  return [current, change, clear];
}

function Scope({ sheet, scope, onChange }) {
  const scopes = [null, ...sheet.wordings.map((line) => line.wording).filter((w) => w !== "0")];
  return html`<fieldset class="scope">
    <legend>About <${Key}>W<//></legend>
    ${scopes.map(
      (entry) => html`<label class=${entry === scope ? "on" : ""}>
        <input type="radio" name="scope" checked=${entry === scope} onChange=${() => onChange(entry)} />
        ${entry === null ? "the whole dialogue" : `wording ${entry}`}
      </label>`,
    )}
  </fieldset>`;
}

function Reasons({ reasons, chosen, onToggle }) {
  return html`<fieldset class="reasons">
    <legend>Why? One or more</legend>
    ${reasons.map(
      ([key, words], place) => html`<label>
        <input type="checkbox" checked=${chosen.includes(key)} onChange=${() => onToggle(key)} />
        <${Key}>${place + 1}<//> <span>${words}</span>
      </label>`,
    )}
  </fieldset>`;
}

/** The texts as they are now, which an edit starts from. */
function textsNow(sheet, scope) {
  const verdict = sheet.verdicts.find((entry) => entry.wording === (scope ?? "0"));
  const fields = scope === null ? ["question", "follower", "violator"] : ["question"];
  return Object.fromEntries(fields.map((field) => [field, verdict.texts[field]]));
}

function Edits({ texts, onChange }) {
  const first = useRef(null);
  useEffect(() => first.current?.focus(), []);
  return html`<div class="edits">
    ${Object.entries(texts).map(
      ([field, text], place) => html`<label class="field">
        <span>${field}</span>
        <textarea ref=${place === 0 ? first : undefined} rows="2" value=${text} onInput=${(event) => onChange(field, event.target.value)} />
      </label>`,
    )}
    <p class="hint">${"{questioner}"} and ${"{responder}"} stand for the names of the speakers. An edited answer holds in every wording.</p>
  </div>`;
}

function Judge({ desk, sheet, place, taken, onStep, onJudged, onUndo }) {
  const { overview, waiting, send } = desk;
  const [draft, change, clear] = useDraft(`felicity ${overview.set.name} ${overview.person.name} ${ROLE} ${sheet.id}`);
  const comment = useRef(null);
  const scopes = [null, ...sheet.wordings.map((line) => line.wording).filter((w) => w !== "0")];
  const scope = scopes.includes(draft.scope) ? draft.scope : null;
  const mode = sheet.told ? draft.mode : null;
  const texts = mode === "edit" ? { ...textsNow(sheet, scope), ...pick(draft.texts, textsNow(sheet, scope)) } : {};
  const edited = sheet.told && sheet.judged.some((one) => one.kind === "edit" && one.wording === scope && !one.stale);
  useEffect(() => {
    if (taken) change({ mode: "edit", scope: taken.wording, texts: taken.texts });
  }, [taken]);

  const decide = async (kind, more) => {
    if (waiting) return;
    const body = { dialogue: sheet.id, kind, shown: sheet.shown, seen: sheet.seen, ...more };
    const told = await send("api/decide", body);
    if (!told) return;
    if (kind !== "choose") clear();
    onJudged(kind, told);
  };
  const judge = (kind, more) => decide(kind, { wording: scope, comment: draft.comment.trim(), ...more });
  const sendForm = () => {
    if (mode === "reject" && draft.reasons.length) return judge("reject", { reasons: draft.reasons });
    if (mode === "edit") return judge("edit", { texts });
    return undefined;
  };
  const toggle = (key) =>
    change({ reasons: draft.reasons.includes(key) ? draft.reasons.filter((r) => r !== key) : [...draft.reasons, key] });

  useKeys((key, typing) => {
    const letter = key.length === 1 ? key.toLowerCase() : key;
    if (key === "Escape") {
      document.activeElement?.blur();
      if (!typing) change({ mode: null });
      return true;
    }
    if (key === "send" || (key === "Enter" && mode && document.activeElement === document.body)) {
      sendForm();
      return true;
    }
    if (!sheet.told) {
      if (letter === "1" || letter === "2") decide("choose", { chosen: Number(letter) - 1 });
    } else if (mode === "reject" && overview.reasons[Number(letter) - 1]) {
      toggle(overview.reasons[Number(letter) - 1][0]);
      return true;
    } else if (letter === "a") judge("accept");
    else if (letter === "e" || letter === "r") change({ mode: letter === "e" ? "edit" : "reject" });
    else if (letter === "w") change({ scope: scopes[(scopes.indexOf(scope) + 1) % scopes.length], texts: {} });
    else if (letter === "c") comment.current?.focus();
    if (letter === "u") onUndo();
    if (letter === "ArrowRight" || letter === "j") onStep(1);
    if (letter === "ArrowLeft" || letter === "k") onStep(-1);
    return ["1", "2", "a", "e", "r", "w", "c", "u", "j", "k", "ArrowRight", "ArrowLeft"].includes(letter);
  });

  return html`<${Dialogue} sheet=${sheet} waiting=${waiting} onChoose=${(chosen) => decide("choose", { chosen })} />
    ${sheet.told && html`<${Known} sheet=${sheet} reasons=${overview.reasons} onTake=${place} />`}
    ${sheet.told &&
    html`<section class="judge" aria-label="Judgement">
      <${Scope} sheet=${sheet} scope=${scope} onChange=${(entry) => change({ scope: entry, texts: {} })} />
      <div class="acts">
        <${Act} letter="A" kind="good" onClick=${() => judge("accept")} disabled=${waiting}>${edited ? "Accept without the edit" : "Accept"}<//>
        <${Act} letter="E" pressed=${mode === "edit"} onClick=${() => change({ mode: mode === "edit" ? null : "edit" })} disabled=${waiting}>Edit<//>
        <${Act} letter="R" kind="bad" pressed=${mode === "reject"} onClick=${() => change({ mode: mode === "reject" ? null : "reject" })} disabled=${waiting}>Reject<//>
      </div>
      ${mode === "reject" && html`<${Reasons} reasons=${overview.reasons} chosen=${draft.reasons} onToggle=${toggle} />`}
      ${mode === "edit" && html`<${Edits} key=${scope} texts=${texts} onChange=${(field, text) => change({ texts: { ...draft.texts, [field]: text } })} />`}
      <label class="field"><span>Comment <${Key}>C<//></span>
        <input ref=${comment} value=${draft.comment} onInput=${(event) => change({ comment: event.target.value })} autocomplete="off" /></label>
      ${mode &&
      html`<div class="acts">
        <button class="button" onClick=${sendForm} disabled=${waiting || (mode === "reject" && !draft.reasons.length)}>
          ${mode === "edit" ? "Save the edit" : "Reject"} <kbd>Ctrl Enter</kbd>
        </button>
        <button class="quiet" onClick=${() => change({ mode: null })}>Cancel</button>
      </div>`}
    </section>`}`;
}

const pick = (texts, like) => Object.fromEntries(Object.entries(texts).filter(([field]) => field in like));
