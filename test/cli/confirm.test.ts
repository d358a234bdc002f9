/** Commands that delete for good ask first, and name the records and their number. */

import { afterEach, expect, test } from 'bun:test';
import { addLink, bind, knock, provider } from '../store/contract/fixture.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openEngine } from '../support/delivery.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close();
});

/** A provider with a link for one phone, and an operator at a terminal. */
async function prepared(answers: (string | null)[]): Promise<CommandLine> {
  const engine = await openEngine();
  const line = commandLine({ answers, dataDir: engine.dataDir });
  opened.push(line, engine);
  await line.run('provider', 'add', '--name', 'Shop', '--code', 'Provide1');
  const { id } = await provider(engine.core.store, 'Provide1');
  await addLink(engine.core.store, id);
  await bind(engine.core.store, id);
  await knock(engine.core.store, 'phone');
  return line;
}

const REMOVE = {
  words: ['provider', 'remove', 'Provide1'],
  question: 'Remove Provide1 (Shop) with 1 link, 1 HWID, 1 domain, 0 distributions? [y/N] ',
};
const FORGET = {
  words: ['device', 'forget', 'phone'],
  question:
    'Forget phone (Pixel 9), its slots on 1 link, 0 domains, its messages and receipts, and its refusals by 0 links? [y/N] ',
};
const FORGET_SHORT = { ...FORGET, words: ['forget', 'phone'] };

test.each([REMOVE, FORGET, FORGET_SHORT])(
  '$words: no answer but yes does it',
  async ({ words, question }) => {
    const nays = ['', 'n', 'nay', 'yesterday', null];
    const line = await prepared([...nays, 'y', 'Yes']);
    for (const _ of nays) {
      expect(await line.run(...words)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'gatepost: nothing was changed\n',
      });
    }
    expect(line.questions).toEqual(nays.map(() => question));
    expect(await line.run(...words)).toMatchObject({ code: 0, stderr: '' });
  },
);

test.each([REMOVE, FORGET, FORGET_SHORT])('$words: --yes asks nothing', async ({ words }) => {
  const line = await prepared([]);
  expect(await line.run(...words, '--yes')).toMatchObject({ code: 0, stderr: '' });
  expect(line.questions).toEqual([]);
});
