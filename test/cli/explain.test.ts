/** `gatepost explain`: every code that the program gives out has a meaning, found as it is seen. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { FINDINGS } from '../../src/base/finding-names.ts';
import { ERROR_CODES, EXIT_CODES } from '../../src/base/operator-error.ts';
import { explanations } from '../../src/cli/explanations.ts';
import { ACTIONS } from '../../src/core/audit/entry.ts';
import { messages } from '../../src/http/messages.ts';
import { LOG_EVENTS } from '../../src/monitor/log-events.ts';
import { METRICS } from '../../src/monitor/metric-table.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { committedFiles, readText } from '../support/tree.ts';

let line: CommandLine;
beforeAll(() => {
  line = commandLine();
});
afterAll(() => line.close());

const explain = async (...words: string[]) => {
  const { code, stdout, stderr } = await line.run('explain', ...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as { kind: string; code: string; meaning: string }[];
};

test('a code of several kinds has each of its meanings', async () => {
  expect((await explain('gateway_stopped')).map(({ kind }) => kind)).toEqual([
    'finding of gatepost doctor',
    'event of the log, error',
  ]);
  expect((await line.run('explain', 'link_ambiguous')).stdout).toBe(
    'OF                  CODE            MEANING\n' +
      'error of a command  link_ambiguous  Several links fit the name; the message lists them.\n',
  );
});

test('an answer is found by its text and by that of x-error-detail', async () => {
  const { msg, detail = '' } = messages.auth_error;
  for (const text of [msg, `${msg}.`, 'AUTH ERROR', detail, 'auth_error']) {
    expect(await explain(text)).toMatchObject([{ code: 'auth_error', meaning: detail }]);
  }
});

test('an unknown code is an error that names the nearest', async () => {
  const { code, stderr } = await line.run('explain', 'gatway_stopped');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      "gatepost: nothing has the code 'gatway_stopped'; the nearest is gateway_stopped: 'gatepost explain' lists all\n",
  });
});

test('without a code it lists all, once for each kind', async () => {
  const all = await explain();
  const keys = all.map(({ kind, code }) => `${kind} ${code}`);
  expect(new Set(keys).size).toBe(keys.length);
  const tables = [ACTIONS, ERROR_CODES, EXIT_CODES, FINDINGS, LOG_EVENTS, METRICS, messages];
  expect(all).toHaveLength(tables.reduce((sum, table) => sum + Object.keys(table).length, 0));
  for (const { meaning } of all) expect(meaning).toMatch(/^[^[\]]+$/);
});

describe('each code is one of the program', () => {
  const sources = committedFiles().filter((path) => path.startsWith('src/'));
  const tables = [
    'src/base/finding-names.ts',
    'src/monitor/log-events.ts',
    'src/cli/explanations.ts',
  ];
  const text = sources
    .filter((path) => !tables.includes(path))
    .map(readText)
    .join('\n');

  test('findings', () => {
    const isMade = (name: string) =>
      new RegExp(`['"\`]${name}['"\`]`).test(text) ||
      new RegExp(`\\b${name.replace(/^panel_/, '')}: \\{`).test(text);
    expect(Object.keys(FINDINGS).filter((name) => !isMade(name))).toEqual([]);
  });

  test('exit codes', () => {
    const codes = [...readText('src/cli/program.ts').matchAll(/\bEXIT_\w+ = (\d);/g)];
    expect(Object.keys(EXIT_CODES)).toEqual(codes.map(([, code = '']) => code).sort());
  });
});

test('no text is empty, and each event has a meaning without links', () => {
  for (const { about, code, kind } of explanations()) {
    expect({ code, kind, about: about.trim().length > 0 }).toMatchObject({ about: true });
    expect(about).not.toContain('](');
  }
});
