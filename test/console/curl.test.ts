/** Commands that the page copies: a shell reads each value as it was. */

import { expect, test } from 'bun:test';
import { type ApiCall, curlText } from '../../src/console/parts/curl-text.ts';

/** The words of the command as a shell hands them to curl. */
async function wordsOf(call: ApiCall): Promise<string[]> {
  const command = curlText('https://g.example', 'AbCdEfGh', call);
  const child = Bun.spawn(['sh', '-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], {
    env: { GATEPOST_KEY: 'the-key', BOT_TOKEN: 'the-token' },
  });
  return (await new Response(child.stdout).text()).split('\0').slice(0, -1);
}

const HOSTILE = `it's "a" $(id) \`id\` \\ ; & 'x' \n#`;

test('parameters of a GET are encoded by curl, null is left out', async () => {
  const params = { install_limit: 3, note: HOSTILE, status: null };
  expect(await wordsOf({ path: '/api/add-install', params })).toEqual([
    ...['-G', 'https://g.example/api/add-install'],
    ...['--data-urlencode', 'provider_code=AbCdEfGh', '--data-urlencode', 'install_limit=3'],
    ...['--data-urlencode', `note=${HOSTILE}`, '--data-urlencode', 'auth_key=the-key'],
  ]);
});

test('secrets are read from the shell', async () => {
  const call = {
    path: '/api/webhook-add',
    params: { chat: '-1' },
    secrets: { bot_token: 'BOT_TOKEN' },
  };
  expect((await wordsOf(call)).slice(-4)).toEqual([
    ...['--data-urlencode', 'bot_token=the-token', '--data-urlencode', 'auth_key=the-key'],
  ]);
});

test('the body of a POST is JSON, the credentials stay in the query', async () => {
  const body = { action_type: 'import-data', import_data: HOSTILE };
  expect(await wordsOf({ path: '/remote/command', body })).toEqual([
    'https://g.example/remote/command?provider_code=AbCdEfGh&auth_key=the-key',
    ...['-H', 'content-type: application/json', '--data-raw', JSON.stringify(body)],
  ]);
});
