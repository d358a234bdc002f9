/** The settings for operators: the current ones, and the example file. */

import { DEFAULT, type LoadedConfig, originOf } from './load.ts';
import { settingRows } from './settings/index.ts';
import { heading, type TableKey, writtenKeys } from './tables.ts';
import type { ValueForm } from './value-form.ts';

const MASK = '********';

export interface ShownSetting {
  key: string;
  variable: string;
  /** Text of the value; a secret is masked. */
  value: string;
  /** A flag, a variable, `file:line` or `default`. */
  origin: string;
}

/** Lists every setting with its effective value and its origin; tables key by key. */
export function shownSettings({ sources }: LoadedConfig): ShownSetting[] {
  return settingRows.flatMap(([name, { key, env: variable, isSecret, mask, tables }]) => {
    const { text, origin } = sources[name];
    if (tables && text !== '') {
      return writtenKeys(tables, text).map(({ place, text: value, isDefault }) => ({
        key: `${key}.${place}`,
        variable,
        value,
        origin: isDefault ? DEFAULT : originOf(sources[name], place),
      }));
    }
    const value = isSecret && text !== '' ? MASK : (mask?.(text) ?? text);
    return [{ key, variable, value, origin }];
  });
}

/** Returns a file that explains every setting; it sets those with a value for new installations. */
export function exampleFile(): string {
  const head = [
    '# The configuration of Gatepost. Lines that are commented out show the defaults.',
    '# Flags and environment variables override this file. Files of the folder beside it, such as',
    '# gatepost.d/20-gate.toml, are read after it.',
    '# `gatepost config` prints the effective values and their origins.',
    '# "SIGHUP" marks settings that `systemctl reload gatepost` applies without a restart.',
  ];
  return `${[head, ...bySection().map(([, rows]) => rows)]
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}

function bySection(): [string, string[]][] {
  const sections = new Map<string, string[]>();
  for (const [, row] of settingRows) {
    const path = row.key.split('.');
    const name = path.pop() ?? '';
    const section = path.join('.');
    const lines = sections.get(section) ?? (section === '' ? [] : [`[${section}]`]);
    if (lines.length > 1) lines.push('');
    lines.push(...comment(row, row.isLive ? ' SIGHUP.' : ''));
    if (row.tables) {
      lines.push(`#${heading(row.key, row.tables)}`);
      lines.push(...Object.values(row.tables.keys).flatMap(tableKeyLines));
    } else if (row.fresh !== undefined) lines.push(`${name} = ${asToml(row, row.fresh)}`);
    else lines.push(`#${name} = ${asToml(row, row.default)}`);
    sections.set(section, lines);
  }
  return [...sections];
}

function tableKeyLines(row: TableKey<unknown>): string[] {
  return [...comment(row), `#${row.key} = ${asToml(row, row.example ?? row.default ?? '')}`];
}

function comment({ about }: ValueForm<unknown>, end = ''): string[] {
  return wrapped(plain(about.join(' ')) + end).map((line) => `# ${line}`);
}

function asToml({ types: [type] }: ValueForm<unknown>, value: string): string {
  if (type === 'array')
    return `[${value === '' ? '' : value.split(',').map((item) => JSON.stringify(item))}]`;
  // A command is JSON, which is TOML.
  return type === 'string' ? JSON.stringify(value) : value;
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}

const COLUMNS = 90;

function wrapped(text: string, columns = COLUMNS): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
