/** The configuration file: TOML, read with the line of each value so that mistakes can name it. */

import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { settingRows } from './settings/index.ts';

/** A value of the file as it would be written in the environment, with its line. */
export interface FileValue {
  text: string;
  line: number;
}

interface FileContent {
  /** Values by the names of their settings. */
  values: ReadonlyMap<string, FileValue>;
  /** Mistakes as `line: problem`, in the order of the lines. */
  problems: string[];
}

const BY_KEY = new Map(settingRows.map(([name, row]) => [row.key, { name, row }]));
const SECTIONS = new Set(settingRows.map(([, row]) => row.key.split('.').slice(0, -1).join('.')));

/** Reads the text of a configuration file. Never throws; mistakes are in `problems`. */
export function readConfigFile(source: string): FileContent {
  const values = new Map<string, FileValue>();
  const problems: string[] = [];
  let program: AST.TOMLProgram;
  try {
    program = parseTOML(source.replace(/^\uFEFF/, ''));
  } catch (error) {
    // Nesting without end.
    if (error instanceof RangeError) return { values, problems: ['1: no TOML: too deeply nested'] };
    if (!(error instanceof ParseError)) throw error;
    const message = `${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`;
    return { values, problems: [`${error.lineNumber}: no TOML: ${message}`] };
  }
  for (const { path, node, line } of pairs(program)) {
    const found = BY_KEY.get(path);
    const written = found && node ? asText(node, found.row.types) : null;
    if (!found) problems.push(`${line}: ${unknown(path)}`);
    else if (written === null) {
      problems.push(`${line}: ${path} must be ${found.row.types.map(inWords).join(' or ')}`);
    } else values.set(found.name, { text: written, line });
  }
  return { values, problems };
}

interface Pair {
  path: string;
  /** Text of the value; null: a table stands where a value belongs. */
  node: AST.TOMLContentNode | null;
  line: number;
}

/** Every key with a value, with its whole path, and every table that is no section. */
function pairs(program: AST.TOMLProgram): Pair[] {
  return program.body.flatMap((top) =>
    top.body.flatMap((entry): Pair[] => {
      if (entry.type === 'TOMLKeyValue') return keyValue(entry, '');
      const section = pathOf(entry.key);
      const inside = entry.body.flatMap((row) => keyValue(row, section));
      const line = entry.loc.start.line;
      const isSection = SECTIONS.has(section) && entry.kind === 'standard';
      return isSection ? inside : [{ path: section, node: null, line }];
    }),
  );
}

function keyValue(entry: AST.TOMLKeyValue, section: string): Pair[] {
  const path = section === '' ? pathOf(entry.key) : `${section}.${pathOf(entry.key)}`;
  if (entry.value.type === 'TOMLInlineTable' && SECTIONS.has(path)) {
    return entry.value.body.flatMap((row) => keyValue(row, path));
  }
  return [{ path, node: entry.value, line: entry.loc.start.line }];
}

function pathOf(key: AST.TOMLKey): string {
  return key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value)).join('.');
}

/** Text of a value, or null when it is of none of these types. */
function asText(
  node: AST.TOMLContentNode,
  types: readonly ('string' | 'integer' | 'boolean' | 'array')[],
): string | null {
  if (node.type === 'TOMLArray') {
    const items = types.includes('array')
      ? node.elements.map((item) => asText(item, ['string']))
      : [null];
    return items.includes(null) ? null : items.join(',');
  }
  if (node.type !== 'TOMLValue') return null;
  const kind = types.find((type) => type === node.kind);
  return kind === undefined ? null : String(getStaticTOMLValue(node));
}

function inWords(type: string): string {
  return (
    { string: 'a string', integer: 'a whole number', boolean: 'true or false' }[type] ??
    'an array of strings'
  );
}

function unknown(path: string): string {
  if (SECTIONS.has(path)) return `${path} is a section: write [${path}], once`;
  return `there is no setting ${JSON.stringify(path).slice(1, -1)}`;
}
