// The page's data: a small part as JSON, the rest packed in blocks that are unpacked when looked at.

const { html, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } = vendor;

const report = JSON.parse(document.getElementById("report").textContent);
const design = report.design;
const isChoice = design.paradigm === "choice";

const unpacked = new Map();

/** Unpack a block of data (gzip in base64), once. */
function load(name) {
  if (!unpacked.has(name)) unpacked.set(name, unpack(document.getElementById(`block-${name}`)));
  return unpacked.get(name);
}

async function unpack(element) {
  const packed = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  element.textContent = "";
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** The value of a promise that depends on `keys`; null until it is there. */
function usePromise(make, keys) {
  const [state, setState] = useState({ keys: null, value: null });
  useEffect(() => {
    let wanted = true;
    make().then((value) => wanted && setState({ keys, value }));
    return () => {
      wanted = false;
    };
  }, keys);
  const current = state.keys && state.keys.every((key, place) => key === keys[place]);
  return current ? state.value : null;
}

/** One value of a column written as its different values and their places. */
const at = (column, place) => column.levels[column.codes[place]];
