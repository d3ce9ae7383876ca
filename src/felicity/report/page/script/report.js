// What was run, what was found, what to be careful about; then figures and tables.

/** Call back once the first screen is up and the browser idle, or before the page is printed. */
function onIdle(call) {
  addEventListener("beforeprint", call);
  const wait = window.requestIdleCallback ? requestIdleCallback(call) : setTimeout(call, 500);
  return () => {
    removeEventListener("beforeprint", call);
    (window.cancelIdleCallback ?? clearTimeout)(wait);
  };
}

/** A figure, drawn when near the window or once all is idle; marks say what they show when pointed at. */
function Figure({ figure }) {
  const place = useRef(null);
  const [near, setNear] = useState(false);
  const [told, setTold] = useState(null);
  useEffect(() => {
    const watch = new IntersectionObserver(
      (seen) => seen.some((entry) => entry.isIntersecting) && setNear(true),
      { rootMargin: "400px" },
    );
    watch.observe(place.current);
    // What is out of sight is wanted too: by "find in page", on paper, in a saved copy.
    const cancel = onIdle(() => setNear(true));
    return () => {
      watch.disconnect();
      cancel();
    };
  }, []);
  const drawing = usePromise(async () => (near ? load(`figure-${figure.name}`) : null), [near]);
  const marks = () => [...place.current.querySelectorAll('.role-mark [role="graphics-symbol"]')];
  useEffect(() => {
    // One stop for the keyboard; arrows go from mark to mark.
    const first = drawing && marks()[0];
    if (first) first.setAttribute("tabindex", "0");
  }, [drawing]);
  const tell = (event) => {
    const mark = event.target.closest?.('[role="graphics-symbol"][aria-label]');
    if (!mark || !mark.closest(".role-mark")) return setTold(null);
    const box = mark.getBoundingClientRect();
    const frame = place.current.getBoundingClientRect();
    const left = Math.min(Math.max(box.left + box.width / 2 - frame.left, 90), frame.width - 90);
    setTold({ left, top: box.top - frame.top, lines: mark.getAttribute("aria-label").split("; ") });
  };
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const all = step ? marks() : [];
    const next = all[all.indexOf(event.target) + step];
    if (event.key === "Escape") setTold(null);
    if (!next) return;
    event.preventDefault();
    event.target.removeAttribute("tabindex");
    next.setAttribute("tabindex", "0");
    next.focus();
  };
  return html`<figure class="figure" id=${`figure-${figure.name}`}>
    <h3>${figure.title}</h3>
    <div
      class="drawing"
      ref=${place}
      onPointerOver=${tell}
      onFocusIn=${tell}
      onPointerLeave=${() => setTold(null)}
      onFocusOut=${() => setTold(null)}
      onKeyDown=${move}
    >
      ${drawing
        ? html`<div class="paper" dangerouslySetInnerHTML=${{ __html: drawing }}></div>`
        : html`<div class="paper waiting" aria-busy="true"></div>`}
      ${told &&
      html`<div class="tip" role="status" style=${{ left: `${told.left}px`, top: `${told.top}px` }}>
        ${told.lines.map((line) => html`<div>${line}</div>`)}
      </div>`}
    </div>
    <figcaption>${figure.caption}</figcaption>
  </figure>`;
}

function Report() {
  return html`<main class="report" id="main">
    <section id="summary">
      <h1>${report.title}</h1>
      <div class="headline">${report.headline.map((text) => html`<p>${text}</p>`)}</div>
      ${report.cautions.length > 0 &&
      html`<aside class="cautions" aria-labelledby="careful">
        <h2 id="careful">Be careful about</h2>
        <ul>
          ${report.cautions.map((text) => html`<li>${text}</li>`)}
        </ul>
      </aside>`}
      <h2>What was run</h2>
      <${SortableTable} table=${report.ran} titled=${false} />
      ${names.length > 0 && html`<p class="onward"><a class="button" href="#item=">Look at every item and response</a></p>`}
    </section>
    ${report.figures.length > 0 &&
    html`<section id="figures">
      <h2>Figures</h2>
      <p class="hint">Point at a mark, or reach it with Tab and the arrow keys, for its numbers.</p>
      <div class="figures">
        ${report.figures.map((figure) => html`<${Figure} key=${figure.name} figure=${figure} />`)}
      </div>
    </section>`}
    <section id="tables">
      <h2>Tables</h2>
      ${report.tables.map((table) => html`<${SortableTable} key=${table.name} table=${table} />`)}
    </section>
    <section id="methods">
      <div class="over">
        <h2>Methods</h2>
        <span>
          <${CopyButton} label="Copy text" text=${report.methods} />
          <${CopyButton} label="Copy BibTeX" text=${report.citations} />
        </span>
      </div>
      <div class="methods">
        ${report.methods.split(/\n{2,}/).map((text) => html`<p>${text}</p>`)}
      </div>
    </section>
  </main>`;
}
