// The item browser: filters and list at one side, the open item at the other.

function Items({ link, go, stay }) {
  const model = Math.max(0, placeOf(link.model));
  const items = usePromise(() => load("items"), []);
  const read = useRun(model);
  const compared = useRun(placeOf(link.vs) === model ? -1 : placeOf(link.vs));
  if (!items || !read || !compared) return html`<main class="items" id="main"><p class="nothing" role="status">Unpacking …</p></main>`;
  const other = compared.none ? null : compared;
  return html`<${Browser} ...${{ link, go, stay, items, read, other, name: names[model] }} />`;
}

function Browser({ link, go, stay, items, read, other, name }) {
  const score = design.scores?.includes(link.score) ? link.score : report.score || design.scores?.[0];
  const chosen = [link.q, link.only, link.outcome, link.status, link.agree, link.sort];
  const rows = useMemo(
    () => choose(read, other, items, link, score),
    [read, other, score, ...chosen, JSON.stringify(link.factors)],
  );
  const [cursor, showCursor] = useState(-1);
  // Where it is now: keys may come faster than the page is drawn.
  const now = useRef(-1);
  const setCursor = (place) => showCursor((now.current = place));
  const [list, search, detail] = [useRef(null), useRef(null), useRef(null)];
  const row = link.item ? read.byKey.get(keyOf(link.item, link.prompting)) ?? firstOf(read, items, link.item) : null;
  const isOpen = Boolean(link.item);
  const place = (each) => ({ item: items.id[each.item], prompting: each.prompting || "" });
  const open = (each) => (isOpen ? stay : go)(place(each));
  const close = () => {
    stay({ item: "", prompting: "" });
    list.current.focus({ preventScroll: true });
  };
  useEffect(() => setCursor(row ? rows.indexOf(row) : Math.min(now.current, rows.length - 1)), [rows, row]);
  const step = (by) => {
    const next = Math.min(Math.max(now.current + by, 0), rows.length - 1);
    if (!rows[next]) return;
    setCursor(next);
    if (isOpen) stay(place(rows[next]));
  };
  useKeys({ step, now, rows, open, close, isOpen, list, search, detail });
  return html`<main class=${`items${isOpen ? " is-open" : ""}`} id="main">
    <h1 class="offscreen">Items of ${report.title}</h1>
    <div class="side">
      <${Filters} ...${{ link, stay, read, other, search, shown: rows.length }} />
      <${List} ...${{ rows, items, read, other, link, score, cursor, setCursor, open, box: list }} />
      <p class="keys" aria-label="Keys">
        <kbd>↑</kbd><kbd>↓</kbd> or <kbd>k</kbd><kbd>j</kbd> move · <kbd>Enter</kbd> open · <kbd>Esc</kbd> close · <kbd>/</kbd> search
      </p>
    </div>
    <div class="detail" ref=${detail} tabindex="-1" role="region" aria-label="The open item">
      ${!isOpen && html`<p class="nothing">Choose an item to see what was asked and what came back.</p>`}
      ${isOpen && !row &&
      html`<p class="nothing">${name} was not asked the item “${link.item}”.</p>
        <button onClick=${close}>Close</button>`}
      ${row && html`<${Detail} ...${{ link, items, row, read, other, name, score, close, step, cursor, rows }} show=${(each) => stay(place(each))} />`}
    </div>
  </main>`;
}

const firstOf = (read, items, id) => read.rows.find((row) => items.id[row.item] === id);

function Detail({ link, items, row, read, other, name, score, close, step, cursor, rows, show }) {
  const reads = [{ read, row, name }];
  if (other) reads.push({ read: other, row: other.byKey.get(row.key), name: link.vs });
  const factors = Object.keys(items.factors).map((factor) => [factor, at(items.factors[factor], row.item)]);
  const kinds = new Set(reads.filter((each) => each.row).map((each) => each.read.run.kind));
  const address = () => location.href.replace(/#.*/, "") + writeLink({ ...link, model: name });
  return html`<article class="item">
    <header>
      <div class="tools">
        <button onClick=${close} class="quiet back">← All items</button>
        <span class="spacer"></span>
        <button class="quiet" disabled=${cursor <= 0} onClick=${() => step(-1)} aria-label="Previous item">↑</button>
        <button class="quiet" disabled=${cursor >= rows.length - 1} onClick=${() => step(1)} aria-label="Next item">↓</button>
        <${CopyButton} label="Copy link" text=${address} />
      </div>
      <h2><${Words} text=${items.id[row.item]} />${row.prompting && html` <span class="who">${row.prompting}</span>`}</h2>
      <p class="levels">
        ${factors.map(([factor, level]) => html`<span class="level"><span>${spoken(factor)}</span> ${spoken(level)}</span>`)}
      </p>
    </header>
    ${other && !reads[1].row && html`<p class="hint">${link.vs} was not asked this item.</p>`}
    ${kinds.has("scores") && html`<${ScoredItem} ...${{ reads, items, row, score, show }} />`}
    ${kinds.has("replies") && html`<${RepliedItem} ...${{ reads, items, row, show }} />`}
  </article>`;
}

/** Arrows and letters work wherever the focus is, but where text is written. */
function useKeys({ step, now, rows, open, close, isOpen, list, search, detail }) {
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const writing = event.target.closest("input, select, textarea");
      const inList = event.target === list.current || event.target === document.body;
      const page = Math.max(1, Math.floor(list.current.clientHeight / ROW) - 1);
      const moves = { j: 1, k: -1 };
      if (inList) {
        Object.assign(moves, { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length });
      }
      if (event.key === "Escape") {
        if (writing && event.target === search.current) list.current.focus();
        else if (isOpen) close();
        else return;
      } else if (writing) {
        if (event.target === search.current && event.key === "Enter") list.current.focus();
        else return;
      } else if (event.key === "/") {
        search.current.focus();
        search.current.select();
      } else if (event.key === "Enter" && inList && rows[Math.max(0, now.current)]) {
        open(rows[Math.max(0, now.current)]);
        detail.current.focus();
      } else if (moves[event.key]) {
        step(moves[event.key]);
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
