// The set as the server tells it, and what is sent to it. Addresses are relative: the token stays in.

const VIEW = location.pathname.split("/").pop() || "judge";
const ROLE = VIEW === "adjudicate" ? "adjudicator" : "annotator";
const RETRY = 2000;

class Refused extends Error {}

/** Ask the server; throws Refused with its words, or TypeError where it does not answer. */
async function ask(path, body) {
  const options = body && {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const reply = await fetch(path, options || {});
  const text = await reply.text();
  let told;
  try {
    told = JSON.parse(text);
  } catch {
    told = { error: text };
  }
  if (!reply.ok) throw new Refused(told.error || `the server says ${reply.status}`);
  return told;
}

/** What is kept in the browser; where it keeps nothing, for this visit only. */
const memory = new Map();
function remembered(store, key) {
  try {
    return store.getItem(key);
  } catch {
    return memory.get(key) ?? null;
  }
}
function remember(store, key, value) {
  try {
    if (value === null) store.removeItem(key);
    else store.setItem(key, value);
  } catch {
    if (value === null) memory.delete(key);
    else memory.set(key, value);
  }
}
// The name belongs to a tab: two people may use two tabs.
const storedName = () => remembered(sessionStorage, "felicity-annotator");
const storeName = (name) => remember(sessionStorage, "felicity-annotator", name);

const openInHash = () => new URLSearchParams(location.hash.slice(1)).get("dialogue");
const DONE = new Set(["accepted", "edited", "rejected", "mixed"]);

/** The first dialogue after the open one that waits for a judgement, around the end. */
function nextOpen(dialogues, from) {
  const start = dialogues.findIndex((entry) => entry.id === from);
  const around = [...dialogues.slice(start + 1), ...dialogues.slice(0, Math.max(start, 0))];
  return around.find((entry) => !DONE.has(entry.state))?.id ?? null;
}

/** The state of the page: overview and open sheet, what went wrong, what was done. */
function useDesk() {
  const [desk, setDesk] = useState({ known: false, overview: null, sheet: null });
  const [trouble, setTrouble] = useState(null);
  const [notice, setNotice] = useState(null);
  const [waiting, setWaiting] = useState(false);
  const [name, setName] = useState(storedName);
  const open = useRef(openInHash());
  const channel = useMemo(() => new BroadcastChannel(`felicity ${location.pathname.split("/")[1]}`), []);

  const take = (told) => setDesk({ known: true, overview: told.overview, sheet: told.sheet ?? null });
  const show = useCallback(async (dialogue, quiet) => {
    const query = new URLSearchParams({ role: ROLE });
    if (storedName()) query.set("annotator", storedName());
    if (dialogue) query.set("dialogue", dialogue);
    try {
      const told = await ask(`api/show?${query}`);
      if (open.current !== dialogue) return null;
      take(told);
      setTrouble(null);
      return told;
    } catch (error) {
      if (error instanceof Refused || !quiet) setTrouble(wordsOf(error));
      return null;
    }
  }, []);

  const go = useCallback((dialogue) => {
    open.current = dialogue;
    history.replaceState(null, "", dialogue ? `#${new URLSearchParams({ dialogue })}` : "#");
    return show(dialogue);
  }, []);

  /** Send a decision until the server has it; nothing on the page moves before that. */
  const send = useCallback(async (path, body) => {
    setWaiting(true);
    const whole = { annotator: storedName(), role: ROLE, ...body };
    try {
      for (;;) {
        try {
          const told = await ask(path, whole);
          channel.postMessage("changed");
          setTrouble(null);
          take(told);
          return told;
        } catch (error) {
          setTrouble(wordsOf(error));
          if (error instanceof Refused) {
            await show(open.current, true);
            setTrouble(wordsOf(error));
            return null;
          }
          await new Promise((resolve) => setTimeout(resolve, RETRY));
        }
      }
    } finally {
      setWaiting(false);
    }
  }, []);

  useEffect(() => {
    const again = () => document.visibilityState === "visible" && show(open.current, true);
    channel.addEventListener("message", again);
    addEventListener("focus", again);
    document.addEventListener("visibilitychange", again);
    const start = async () => {
      const told = await show(open.current);
      if (told?.overview && !told.sheet && VIEW !== "write") {
        const first = nextOpen(told.overview.dialogues, null) ?? told.overview.dialogues[0]?.id;
        if (first) go(first);
      }
    };
    start();
  }, [name]);

  const rename = (given) => {
    storeName(given);
    setTrouble(null);
    setName(given);
  };
  return { ...desk, trouble, notice, setNotice, waiting, name, rename, go, send };
}

function wordsOf(error) {
  if (error instanceof Refused) return { lost: false, text: error.message };
  return {
    lost: true,
    text: "The server does not answer. What you did last is not saved yet; it is sent again until it is. If the server was stopped, start it again and open the address that it prints: all that was saved is there.",
  };
}
