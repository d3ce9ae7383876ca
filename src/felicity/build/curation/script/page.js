// The whole page: who sits here, how far they are, one dialogue at a time.

function AskName({ desk }) {
  const [name, setName] = useState("");
  const enter = (event) => {
    event.preventDefault();
    if (name.trim()) desk.rename(name.trim());
  };
  return html`<form class="card name" onSubmit=${enter}>
    <h1>Who are you?</h1>
    <p class="hint">Your decisions are kept under this name; use the same one each time. Nobody who annotates sees what the others decide.</p>
    <label class="field"><span>Name</span><input autofocus value=${name} onInput=${(event) => setName(event.target.value)} autocomplete="name" maxlength="80" /></label>
    <div class="acts"><button class="button">Begin</button></div>
  </form>`;
}

function Progress({ overview, open, onOpen }) {
  const done = overview.dialogues.filter((entry) => DONE.has(entry.state)).length;
  const words = ROLE === "adjudicator" ? "settled" : "judged";
  return html`<div class="progress">
    <p><b>${done}</b> of ${overview.dialogues.length} ${words}</p>
    <div class="strip">
      ${overview.dialogues.map(
        (entry, place) => html`<button class=${`mark is-${entry.state}`} aria-current=${entry.id === open ? "true" : undefined}
          aria-label=${`Dialogue ${place + 1}, ${STATES[entry.state]}`} title=${`${place + 1}: ${STATES[entry.state]}`} tabindex="-1" onClick=${() => onOpen(entry.id)}></button>`,
      )}
    </div>
  </div>`;
}

const HELP = [
  ["1 2", "choose an answer; reasons"],
  ["A", "accept"],
  ["E", "edit"],
  ["R", "reject"],
  ["W", "what it is about"],
  ["C", "comment"],
  ["Ctrl Enter", "send the form"],
  ["Esc", "leave a field, a form"],
  ["U", "undo"],
  ["← →", "other dialogues"],
];

function Sitting({ desk }) {
  const { overview, sheet, go, send, setNotice } = desk;
  const [taken, setTaken] = useState(null);
  const place = overview.dialogues.findIndex((entry) => entry.id === sheet?.id);
  const step = (by) => {
    const next = overview.dialogues[place + by];
    if (!next) return;
    setNotice(null);
    go(next.id);
    scrollTo(0, 0);
  };
  const undo = async () => {
    if (!overview.last) {
      setNotice("There is nothing to undo.");
      return;
    }
    const { number, dialogue } = overview.last;
    if (!(await send("api/undo", { number }))) return;
    setNotice("Taken back.");
    await go(dialogue);
  };
  const judged = async (kind, told) => {
    const between = told.between.length > 0 ? " Another tab had decided here since this one looked; yours is the later and holds." : "";
    const state = told.overview.dialogues.find((entry) => entry.id === sheet.id)?.state;
    if (kind === "choose") {
      setNotice(between || null);
      return;
    }
    setTaken(null);
    setNotice(`Saved: ${KINDS[kind]}.${between}`);
    if (!DONE.has(state)) return;
    const next = nextOpen(told.overview.dialogues, sheet.id);
    if (next) {
      await go(next);
      scrollTo(0, 0);
    } else setNotice(`Saved: ${KINDS[kind]}. That was the last one.${between}`);
  };
  if (!overview.dialogues.length) {
    return html`<div class="card"><h1>${ROLE === "adjudicator" ? "Nothing is disputed" : "There is no dialogue yet"}</h1>
      <p class="hint">${ROLE === "adjudicator" ? "Dialogues come here when annotators differ. Who annotates sees only those that they have judged themselves." : "Write one."}</p></div>`;
  }
  return html`<${Progress} overview=${overview} open=${sheet?.id} onOpen=${go} />
    ${sheet &&
    html`<article class="card" aria-label="Dialogue">
      <header class="over">
        <h1>${ROLE === "adjudicator" ? "Settle" : "Dialogue"} ${place + 1} <span class="aside">of ${overview.dialogues.length}${sheet.told ? ` · ${sheet.id}` : ""}</span></h1>
        <span class="steps">
          <button class="quiet" onClick=${() => step(-1)} disabled=${place <= 0} aria-label="Previous dialogue">←</button>
          <button class="quiet" onClick=${() => step(1)} disabled=${place < 0 || place >= overview.dialogues.length - 1} aria-label="Next dialogue">→</button>
          <button class="quiet" onClick=${undo} disabled=${!overview.last} aria-keyshortcuts="U">Undo <${Key}>U<//></button>
        </span>
      </header>
      <${Judge} key=${sheet.id} desk=${desk} sheet=${sheet} taken=${taken} place=${setTaken} onStep=${step} onJudged=${judged} onUndo=${undo} />
    </article>`}
    <ul class="help" aria-label="Keys">${HELP.map(([key, words]) => html`<li><kbd>${key}</kbd> ${words}</li>`)}</ul>`;
}

function Page() {
  const desk = useDesk();
  const { theme, toggle } = useTheme();
  const { overview, trouble, notice } = desk;
  useEffect(() => {
    if (overview) document.title = `${overview.set.title} · Felicity`;
  }, [overview?.set.title]);
  const views = [["judge", "./", "Judge"], ["adjudicate", "adjudicate", "Adjudicate"], ["write", "write", "Write"]];
  const content = () => {
    if (!desk.known) return null;
    if (!overview) return desk.name ? null : html`<${AskName} desk=${desk} />`;
    return VIEW === "write" ? html`<${Write} desk=${desk} />` : html`<${Sitting} desk=${desk} />`;
  };
  return html`<header class="top">
      <span class="brand">Felicity</span>
      <nav aria-label="Parts">
        ${views.map(([view, address, words]) => html`<a href=${address} aria-current=${view === VIEW ? "page" : undefined}>${words}</a>`)}
      </nav>
      ${overview && html`<span class="who">${overview.person.name}</span>`}
      <button class="quiet theme" onClick=${toggle} aria-label=${`Switch to ${theme === "dark" ? "light" : "dark"} colours`}>${THEMES[theme === "dark" ? "light" : "dark"]}</button>
    </header>
    <main class="curation" aria-busy=${desk.waiting}>
      ${trouble && html`<p class="trouble" role="alert"><${Words} text=${trouble.text} />
        ${!overview && desk.name && html` <button class="quiet" onClick=${() => desk.rename(null)}>Another name</button>`}</p>`}
      <p class="notice" role="status">${notice}</p>
      ${content()}
    </main>`;
}

render(html`<${Page} />`, document.getElementById("root"));
