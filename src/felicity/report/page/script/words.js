// Texts of models and of studies are shown as they are, and can do nothing to the page.

// Characters that show nothing or turn the text about them: controls, bidi marks, zero widths.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const codeOf = (character) =>
  `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** A text with what cannot be seen named, apart from its surroundings in direction. */
function Words({ text }) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    parts.push(text.slice(from, match.index));
    parts.push(html`<span class="unseen" title="a character that is not shown">${codeOf(match[0])}</span>`);
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return html`<bdi dir="auto">${parts}</bdi>`;
}

/** A reply with the place marked that its value was read from; places count whole characters. */
function Marked({ text, span }) {
  if (!span) return html`<${Words} text=${text} />`;
  const letters = Array.from(text);
  const piece = (start, end) => letters.slice(start, end).join("");
  return html`<bdi dir="auto">
    <${Words} text=${piece(0, span[0])} /><mark title="the value was read here"
      ><${Words} text=${piece(span[0], span[1])} /></mark
    ><${Words} text=${piece(span[1])} />
  </bdi>`;
}

/** A number with a sign that lines up with figures in print. */
function signed(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

const fixed = (value, digits = 2) =>
  value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−");

const spoken = (name) => name.replaceAll("_", " ");

const counted = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
