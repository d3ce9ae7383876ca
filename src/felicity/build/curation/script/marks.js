// Small parts: keys, chips, texts with speakers' names.

/** A text with the names of the speakers in place of their marks. */
const withNames = (text, [questioner, responder]) =>
  text.replaceAll("{questioner}", questioner).replaceAll("{responder}", responder);

const STATES = {
  new: "to do",
  chosen: "chosen, not judged",
  undecided: "judged in part",
  changed: "changed since you judged",
  accepted: "accepted",
  edited: "edited",
  rejected: "rejected",
  mixed: "judged",
  disputed: "disputed",
};
const KINDS = { accept: "accepted", edit: "edited", reject: "rejected" };

function Chip({ state, words }) {
  return html`<span class=${`chip is-${state}`}>${words ?? STATES[state]}</span>`;
}

function Key({ children }) {
  return html`<kbd aria-hidden="true">${children}</kbd>`;
}

/** A button with its key. */
function Act({ letter, onClick, disabled, pressed, kind, children }) {
  return html`<button class=${`act ${kind ?? ""}`} aria-keyshortcuts=${letter} onClick=${onClick} disabled=${disabled} aria-pressed=${pressed}>
    <span>${children}</span> <${Key}>${letter}<//>
  </button>`;
}

/** What was judged, in words. */
function Judged({ decision, reasons }) {
  const about = decision.wording === null ? "dialogue" : `wording ${decision.wording}`;
  const why = decision.reasons.map((key) => reasons.find(([name]) => name === key)[1]).join("; ");
  return html`<${Chip} state=${KINDS[decision.kind]} words=${`${about} ${KINDS[decision.kind]}`} />
    ${why && html`<span>${why}</span>`}
    ${Object.entries(decision.texts).map(([field, text]) => html`<span>${field}: “<${Words} text=${text} />”</span>`)}
    ${decision.comment && html`<q><${Words} text=${decision.comment} /></q>`}
    ${decision.stale && html`<span class="aside">about texts that have changed since</span>`}`;
}

/** Call `act` for keys, unless somebody types or holds a modifier. */
function useKeys(act) {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const press = (event) => {
      const typing = event.target.matches?.("input:not([type=checkbox], [type=radio]), textarea, select");
      if (event.isComposing || event.altKey) return;
      const sends = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (!sends && (event.ctrlKey || event.metaKey)) return;
      if (typing && !sends && event.key !== "Escape") return;
      if (latest.current(sends ? "send" : event.key, typing)) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
