/** HTML put together without a way to forget the escaping. */

/** Text that may stand in a page as it is. */
export class Html {
  constructor(readonly text: string) {}
}

export type Part = string | number | Html | readonly Part[];

/** A template whose values are escaped, unless they are {@link Html} themselves. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(written)));
}

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(written).join('');
  return String(part).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A sentence in which `code` stands between backticks. */
export function prose(text: string): Html {
  const pieces = text.split('`');
  return html`${pieces.map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;
}

/** Paragraphs of {@link prose}, parted by empty lines. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}`;
}

/** A table; rows with nothing in them make none. */
export function table(heads: readonly string[], rows: readonly (readonly Part[])[]): Html {
  if (rows.length === 0) return html``;
  const cells = (row: readonly Part[]) =>
    row.map((cell, at) => html`<td data-head="${heads[at] ?? ''}">${cell}</td>`);
  return html`<table><thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>\n`)}</tbody></table>`;
}
