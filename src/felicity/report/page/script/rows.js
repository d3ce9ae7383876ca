// A run's columns as rows of the browser: a row for each item, and prompting where there are any.

const OUTCOMES = {
  r: { mark: "✓", word: "right" },
  w: { mark: "✗", word: "wrong" },
  t: { mark: "=", word: "tie" },
  s: { mark: "⇄", word: "split between orders" },
  "-": { mark: "–", word: "no usable response" },
};
const SCORES = {
  log_prob_mean: "mean per token",
  log_prob_sum: "sum",
  bits_per_character: "bits per character",
  pmi: "PMI",
};
const UNITS = {
  log_prob_mean: "nats per token",
  log_prob_sum: "nats",
  bits_per_character: "bits per character",
  pmi: "nats",
};

const keyOf = (id, prompting) => (prompting ? `${id}|${prompting}` : id);

/** Read a run as rows, in the study's order, and by key. */
async function readRun(place) {
  const [items, run] = await Promise.all([load("items"), load(`run-${place}`)]);
  const rows = run.kind === "scores" ? scoreRows(run, items) : replyRows(run, items);
  return { run, rows, byKey: new Map(rows.map((row) => [row.key, row])) };
}

const runsRead = new Map();

function useRun(place) {
  return usePromise(async () => {
    if (place < 0) return { none: true };
    if (!runsRead.has(place)) runsRead.set(place, readRun(place));
    return runsRead.get(place);
  }, [place]);
}

function scoreRows(run, items) {
  const sides = design.answers.map((label) => run.sides[label]);
  for (const side of sides) side.starts = startsOf(side.lengths);
  return run.item.map((item, index) => ({
    key: items.id[item],
    item,
    index,
    statuses: [...new Set(labelsOf(items, item).map((label) => at(run.sides[label].status, index)))],
  }));
}

/** The answers that an item has; of more than two it may lack some. */
const labelsOf = (items, item) => design.answers.filter((label) => at(items.answers[label], item) !== null);

function startsOf(lengths) {
  let sum = 0;
  return lengths.map((length) => (sum += length) - length);
}

function replyRows(run, items) {
  const groups = new Map();
  run.item.forEach((item, index) => {
    const prompting = run.asked ? "" : at(run.prompting, index);
    const key = keyOf(items.id[item], prompting);
    if (!groups.has(key)) groups.set(key, { key, item, prompting, trials: [] });
    groups.get(key).trials.push(index);
  });
  for (const row of groups.values()) {
    row.statuses = [...new Set(row.trials.map((trial) => at(run.status, trial)))];
    row.values = row.trials.map((trial) => run.value[trial]).filter((value) => value !== null);
    row.mean = row.values.length ? row.values.reduce((a, b) => a + b) / row.values.length : null;
  }
  return [...groups.values()];
}

/** Whether the answer that should win does, as a letter of OUTCOMES. */
function outcomeOf(read, row, score) {
  if (!row) return "-";
  if (read.run.kind === "scores") return read.run.outcome[score][row.index];
  if (!read.run.asked) return row.values.length ? "" : "-";
  const picks = row.trials.map((trial) => pickOf(read.run, trial)).filter((pick) => pick !== null);
  if (!picks.length) return "-";
  const right = picks.filter((pick) => pick).length;
  return right === picks.length ? "r" : right ? "s" : "w";
}

/** Whether a reply picks the answer that the question asks for; null where it picks none. */
function pickOf(run, trial) {
  const value = run.value[trial];
  if (value === null) return null;
  return run.right[trial] === value;
}

/** By how much the answer that should win is ahead; of ratings their mean. */
function numberOf(read, row, score) {
  if (!row) return null;
  if (read.run.kind !== "scores") return isChoice ? null : row.mean;
  return read.run.margin[score][row.index];
}

function distanceFromPeople(items, row, mean) {
  const people = items.people[row.item];
  return people && mean !== null ? mean - people[0] : null;
}

/** All words of a row by which it can be searched, in small letters. */
function wordsOf(read, row, items) {
  if (row.words === undefined) {
    const words = [items.id[row.item]];
    if (isChoice) {
      words.push(at(items.question, row.item));
      for (const label of labelsOf(items, row.item)) words.push(at(items.answers[label], row.item));
    } else {
      for (const column of Object.values(items.texts)) words.push(at(column, row.item));
    }
    for (const trial of row.trials ?? []) {
      words.push(at(read.run.text, trial), at(read.run.reasoning, trial) ?? "");
    }
    row.words = words.join("\n").toLowerCase();
  }
  return row.words;
}

/** Choose and order the rows that a link asks for. */
function choose(read, other, items, link, score) {
  const factors = Object.entries(link.factors).filter(
    ([name, level]) => level && items.factors[name],
  );
  const query = (link.q ?? "").trim().toLowerCase();
  const rows = read.rows.filter(
    (row) =>
      factors.every(([name, level]) => at(items.factors[name], row.item) === level) &&
      (!link.only || row.prompting === link.only) &&
      (!link.status || row.statuses.includes(link.status)) &&
      (!link.outcome || outcomeOf(read, row, score) === link.outcome) &&
      (!link.agree || !other || agreement(read, other, row, score) === link.agree) &&
      (!query || wordsOf(read, row, items).includes(query)),
  );
  const measure = SORTS[link.sort]?.measure;
  if (!measure) return rows;
  const keyed = rows.map((row) => [measure(read, other, items, row, score), row]);
  keyed.sort(([one], [two]) => (two ?? -Infinity) - (one ?? -Infinity));
  return keyed.map(([, row]) => row);
}

function agreement(read, other, row, score) {
  const theirs = other.byKey.get(row.key);
  if (!theirs) return "missing";
  return outcomeOf(read, row, score) === outcomeOf(other, theirs, score) ? "same" : "differ";
}

const SORTS = {
  lost: {
    word: "Clearest losses first",
    measure: (read, _other, _items, row, score) => negative(numberOf(read, row, score)),
    choice: true,
  },
  won: {
    word: "Clearest wins first",
    measure: (read, _other, _items, row, score) => numberOf(read, row, score),
    choice: true,
  },
  people: {
    word: "Farthest from people first",
    measure: (_read, _other, items, row) => absolute(distanceFromPeople(items, row, row.mean)),
    choice: false,
  },
  apart: {
    word: "Farthest from the other model first",
    measure: (read, other, _items, row, score) => {
      const theirs = other && numberOf(other, other.byKey.get(row.key), score);
      const ours = numberOf(read, row, score);
      return ours === null || theirs === null ? null : Math.abs(ours - theirs);
    },
    choice: null,
  },
};
const negative = (value) => (value === null ? null : -value);
const absolute = (value) => (value === null ? null : Math.abs(value));
