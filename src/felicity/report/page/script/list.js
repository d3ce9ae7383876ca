// The list of items: only the rows in sight are in the page, however many there are.

const ROW = 58;
const SPARE = 6;

/** A row's answer in a glance. */
function Outcome({ read, row, score, items, name }) {
  if (!row) return html`<span class="outcome none" title=${`${name}: not asked`}>–</span>`;
  if (!isChoice) {
    const people = items.people[row.item];
    const said = `${name}: mean ${fixed(row.mean)} of ${counted(row.values.length, "reply", "replies")}`;
    return html`<span class="outcome mean" title=${said}>
      <b>${fixed(row.mean, 1)}</b>
      ${people && html`<small>people ${fixed(people[0], 1)}</small>`}
    </span>`;
  }
  const letter = outcomeOf(read, row, score);
  const margin = numberOf(read, row, score);
  const { mark, word } = OUTCOMES[letter];
  return html`<span class=${`outcome ${{ r: "right", w: "wrong" }[letter] ?? "none"}`} title=${`${name}: ${word}`}>
    <b aria-hidden="true">${mark}</b><span class="offscreen">${word}</span>
    ${margin !== null && html`<small>${signed(margin)}</small>`}
  </span>`;
}

function List({ rows, items, read, other, link, score, cursor, setCursor, open, box }) {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const measure = new ResizeObserver(() => setHeight(box.current.clientHeight));
    measure.observe(box.current);
    return () => measure.disconnect();
  }, []);
  useLayoutEffect(() => {
    // The row under the cursor stays in sight.
    const list = box.current;
    const [from, to] = [cursor * ROW, (cursor + 1) * ROW];
    if (from < list.scrollTop) list.scrollTop = from;
    else if (to > list.scrollTop + list.clientHeight) list.scrollTop = to - list.clientHeight;
  }, [cursor, rows]);
  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + SPARE);
  const one = names[placeOf(link.model)] ?? names[0];
  return html`<div class="list" ref=${box} tabindex="0" role="listbox" aria-label="Items"
    aria-activedescendant=${rows[cursor] ? `row-${cursor}` : undefined}
    onScroll=${(event) => setTop(event.target.scrollTop)}>
    <div style=${{ height: `${rows.length * ROW}px` }}>
      ${rows.slice(first, last).map((row, offset) => {
        const place = first + offset;
        const isOpen = link.item === items.id[row.item] && (link.prompting ?? "") === (row.prompting ?? "");
        return html`<div key=${row.key} id=${`row-${place}`} role="option"
          class=${`row${place === cursor ? " cursor" : ""}${isOpen ? " open" : ""}`}
          aria-selected=${place === cursor} aria-posinset=${place + 1} aria-setsize=${rows.length}
          style=${{ transform: `translateY(${place * ROW}px)` }}
          onClick=${() => {
            setCursor(place);
            open(row);
          }}>
          <span class="about">
            <span class="excerpt"><${Words} text=${excerpt(items, row)} /></span>
            <span class="levels">${levelsOf(items, row)}</span>
          </span>
          <${Outcome} read=${read} row=${row} score=${score} items=${items} name=${one} />
          ${other &&
          html`<${Outcome} read=${other} row=${other.byKey.get(row.key)} score=${score} items=${items} name=${link.vs} />`}
        </div>`;
      })}
    </div>
    ${rows.length === 0 && html`<p class="nothing">No item is like that.</p>`}
  </div>`;
}

function excerpt(items, row) {
  if (isChoice) return at(items.question, row.item);
  const { attribute, scenario } = items.factors;
  return `${spoken(at(attribute, row.item))} · ${spoken(at(scenario, row.item))}`;
}

function levelsOf(items, row) {
  // A factor of many levels is an id: it says little in a line.
  const few = design.filters.filter(({ levels }) => levels.length <= 12).map(({ name }) => name);
  const shown = few.filter((name) => isChoice || !["attribute", "scenario"].includes(name));
  const levels = shown.map((name) => {
    const level = at(items.factors[name], row.item);
    return /^\d+$/.test(level) ? `${spoken(name)} ${level}` : spoken(level);
  });
  return [...levels, row.prompting].filter(Boolean).join(" · ");
}
