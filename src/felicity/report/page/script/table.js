// A table that can be sorted and copied.

/** The number that a cell begins with, as it is written in print; null where there is none. */
function leadingNumber(cell) {
  const match = cell.replace("−", "-").match(/^\s*[+-]?(\d+(\.\d+)?|\.\d+)/);
  return match ? Number(match[0]) : null;
}

function compareCells(one, two) {
  const [a, b] = [leadingNumber(one), leadingNumber(two)];
  if (a !== null && b !== null) return a - b;
  if (a !== null || b !== null) return a === null ? 1 : -1;
  return one.localeCompare(two);
}

/** People's rows stay at the end, whatever the order of the others. */
function sortedRows(table, sort) {
  const order = table.rows.map((_, place) => place);
  if (!sort) return order;
  const split = order.length - table.people;
  const models = order.slice(0, split);
  models.sort((a, b) => {
    const difference = compareCells(table.rows[a][sort.column], table.rows[b][sort.column]);
    return sort.down ? -difference : difference;
  });
  return [...models, ...order.slice(split)];
}

function SortableTable({ table, titled = true }) {
  const [sort, setSort] = useState(null);
  const bold = useMemo(() => new Set(table.bold.map(([row, column]) => `${row} ${column}`)), [table]);
  const next = (column) =>
    setSort((old) => {
      const first = column >= table.left;
      if (old?.column !== column) return { column, down: first };
      return old.down === first ? { column, down: !first } : null;
    });
  const kind = (column) => (column < table.left ? "word" : "amount");
  const direction = (column) =>
    sort?.column !== column ? "none" : sort.down ? "descending" : "ascending";
  const firstPeople = table.rows.length - table.people;
  return html`<figure class="table" id=${`table-${table.name}`}>
    ${titled &&
    html`<div class="over">
      <h3>${table.title}</h3>
      <${CopyButton} label="Copy as LaTeX" text=${table.latex} />
    </div>`}
    <div class="wide" tabindex="0" role="region" aria-label=${table.title}>
      <table>
        <thead>
          <tr>
            ${table.header.map(
              (name, column) => html`<th class=${kind(column)} scope="col" aria-sort=${direction(column)}>
                <button onClick=${() => next(column)}>
                  ${name}<span class="arrow" aria-hidden="true"
                    >${{ none: "", ascending: "↑", descending: "↓" }[direction(column)]}</span
                  >
                </button>
              </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${sortedRows(table, sort).map(
            (place) => html`<tr
              key=${place}
              class=${table.people && place === firstPeople ? "first-people" : ""}
            >
              ${table.rows[place].map((cell, column) => {
                const shown = bold.has(`${place} ${column}`) ? html`<b>${cell}</b>` : cell;
                return column
                  ? html`<td class=${kind(column)}>${shown}</td>`
                  : html`<th class="word" scope="row">${shown}</th>`;
              })}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${table.note && html`<figcaption>${table.note}</figcaption>`}
  </figure>`;
}
