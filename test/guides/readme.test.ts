/** README does what it shows, from a fresh clone. */

import { expect, test } from 'bun:test';
import { freePort } from '../support/free-port.ts';
import { clone } from '../support/installed.ts';
import { testWith } from '../support/needs.ts';
import { runPages, stepsOf } from '../support/transcript.ts';
import { readText } from '../support/tree.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

testWith(
  'bash',
  'curl',
  'git',
  'make',
  'sha256sum',
)('from a fresh clone', async () => {
  const port = freePort();
  const env = { GATEPOST_PORT: String(port), GATEPOST_MONITOR_PORT: '0', GATEPOST_CONFIG: 'none' };
  const instead: [string, string][] = [
    ['127.0.0.1:8080', `127.0.0.1:${port}`],
    ['curl -H', 'curl --silent -H'],
  ];
  expect(await runPages(['README.md'], { env, instead, cwd: clone() })).toEqual([]);
});

test.each(['ru', 'zh-CN', 'fa'])('the lines in %s are those in English', (language) => {
  const commandsOf = (path: string) =>
    stepsOf(readText(path)).map(({ command }) => command.replace(/ +#.*/, ''));
  expect(commandsOf(`docs/README.${language}.md`)).toEqual(commandsOf('README.md'));
});
