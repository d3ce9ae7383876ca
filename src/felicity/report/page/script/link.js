// What is looked at, as the part of the address after "#": a link shows the same to anybody.

const SECTIONS = ["summary", "figures", "tables"];
const PLAIN = ["item", "prompting", "model", "vs", "only", "outcome", "status", "agree", "sort", "score", "q"];

/** Read an address: a section of the report, or what the item browser shows. */
function readLink(hash) {
  const text = hash.replace(/^#/, "");
  if (!text || SECTIONS.includes(text)) return { view: "report", section: text, factors: {} };
  const given = new URLSearchParams(text);
  const link = { view: "items", factors: {} };
  for (const [key, value] of given) {
    if (key.startsWith("f.")) link.factors[key.slice(2)] = value;
    else if (PLAIN.includes(key)) link[key] = value;
  }
  return link;
}

function writeLink(link) {
  if (link.view === "report") return `#${link.section || "summary"}`;
  const pairs = [["item", link.item ?? ""]];
  for (const key of PLAIN.slice(1)) if (link[key]) pairs.push([key, link[key]]);
  for (const [name, level] of Object.entries(link.factors)) {
    if (level) pairs.push([`f.${name}`, level]);
  }
  return `#${new URLSearchParams(pairs)}`;
}

/** The address as state. `go(change)` makes a step in the history, `stay(change)` none. */
function useLink() {
  const [link, setLink] = useState(() => readLink(location.hash));
  const latest = useRef(link);
  useEffect(() => {
    const follow = () => {
      latest.current = readLink(location.hash);
      setLink(latest.current);
    };
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    };
  }, []);
  const change = (method) => (changes) => {
    latest.current = { ...latest.current, ...changes };
    history[method](null, "", writeLink(latest.current));
    setLink(latest.current);
  };
  const [go] = useState(() => change("pushState"));
  const [stay] = useState(() => change("replaceState"));
  return { link, go, stay };
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from disk may not reach the clipboard that way.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "offscreen";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

/** A button that copies and says so. */
function CopyButton({ label, text }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await copyText(typeof text === "function" ? text() : text);
    setDone(true);
    setTimeout(() => setDone(false), 1600);
  };
  return html`<button class="quiet" onClick=${copy} aria-live="polite">
    ${done ? "Copied" : label}
  </button>`;
}
