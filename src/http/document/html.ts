/** HTML templates that escape every value. */

/** Text that needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = string | number | Html | readonly Part[];

/** Fills a template; escapes all values but {@link Html}. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(written)));
}

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(written).join('');
  return String(part).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Renders a sentence with `code` between backticks. */
export function prose(text: string): Html {
  const pieces = text.split('`');
  return html`${pieces.map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;
}

/** Renders paragraphs of {@link prose}, separated by empty lines. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}`;
}

/** Renders a table; without rows, nothing. */
export function table(heads: readonly string[], rows: readonly (readonly Part[])[]): Html {
  if (rows.length === 0) return html``;
  const cells = (row: readonly Part[]) =>
    row.map((cell, at) => html`<td data-head="${heads[at] ?? ''}">${cell}</td>`);
  return html`<table><thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table>`;
}
