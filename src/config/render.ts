/** The settings for people: those in force, and the example file. */

import type { LoadedConfig } from './load.ts';
import type { Setting } from './setting.ts';
import { settingRows } from './settings/index.ts';

const MASK = '********';

export interface ShownSetting {
  key: string;
  variable: string;
  /** Text of the value; a secret is masked. */
  value: string;
  /** Origin: a flag, a variable, `file:line` or `default`. */
  origin: string;
}

/** Every setting with its effective value and the origin of that. */
export function shownSettings({ sources }: LoadedConfig): ShownSetting[] {
  return settingRows.map(([name, row]) => {
    const { text, origin } = sources[name];
    const value = row.isSecret && text !== '' ? MASK : text;
    return { key: row.key, variable: row.env, value, origin };
  });
}

/** A file that sets nothing and explains everything. */
export function exampleFile(): string {
  const head = [
    '# The configuration of Gatepost. Every line that is commented out shows the default.',
    '# Flags and environment variables go before this file.',
    '# `gatepost config` prints what holds, and where it comes from.',
    '# "SIGHUP" marks what `systemctl reload gatepost` takes up without a restart.',
  ];
  return `${[head, ...bySection().map(([, rows]) => rows)]
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}

function bySection(): [string, string[]][] {
  const sections = new Map<string, string[]>();
  for (const [, row] of settingRows) {
    const [name = '', section = ''] = row.key.split('.').reverse();
    const lines = sections.get(section) ?? (section === '' ? [] : [`[${section}]`]);
    if (lines.length > 1) lines.push('');
    const about = plain(row.about.join(' ')) + (row.isLive ? ' SIGHUP.' : '');
    lines.push(...wrapped(about).map((line) => `# ${line}`), `#${name} = ${asToml(row)}`);
    sections.set(section, lines);
  }
  return [...sections];
}

function asToml({ types: [type], default: value }: Setting<unknown>): string {
  if (type === 'array')
    return `[${value === '' ? '' : value.split(',').map((item) => JSON.stringify(item))}]`;
  return type === 'string' ? JSON.stringify(value) : value;
}

function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}

const COLUMNS = 90;

export function wrapped(text: string, columns = COLUMNS): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
