/** `gatepost domain …`: hosts are hashed as bindings are, and the core's rules hold. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await line.run('provider', 'add', '--name', 'Shop', '--code', 'Provide1');
});
afterEach(() => line.close());

const list = async (...words: string[]) =>
  JSON.parse((await line.run('domain', 'list', '--json', ...words)).stdout);

const entries = async () =>
  JSON.parse((await line.run('audit', 'list', '--json', '--provider', 'Provide1')).stdout);

test('add binds the hash of the host, whatever its case, and names it after the host', async () => {
  expect(await line.run('domain', 'add', 'Sub.Example.COM')).toEqual({
    code: 0,
    stdout: 'domain 1 bound: sub.example.com\n',
    stderr: '',
  });
  expect(await list()).toEqual([
    {
      id: 1,
      provider_code: 'Provide1',
      domain_name: 'sub.example.com',
      domain_hash: hostHash('sub.example.com'),
      active: true,
      created_at: expect.stringMatching(/Z$/),
    },
  ]);
  expect((await line.run('domain', 'add', 'sub.example.com')).stdout).toBe(
    'domain 1 bound already: sub.example.com\n',
  );
});

test('an international name is hashed in its ASCII form, a hash is taken as it is', async () => {
  await line.run('domain', 'add', 'пример.example');
  const hash = hostHash('example.org');
  expect((await line.run('domain', 'add', hash, '--name', 'shop')).code).toBe(0);
  expect(await list()).toMatchObject([
    { domain_name: 'shop', domain_hash: hash },
    { domain_name: 'xn--e1afmkfd.example', domain_hash: hostHash('xn--e1afmkfd.example') },
  ]);
});

test.each(['https://example.com', 'example.com/sub', '[::1]', ''])('no host: %j', async (host) => {
  expect(await line.run('domain', 'add', host)).toMatchObject({ code: 2, stdout: '' });
});

test('remove takes host, hash or id; the domain stays in the list and add binds it again', async () => {
  await line.run('domain', 'add', 'example.com', '--name', 'shop');
  for (const name of ['example.com', hostHash('example.com'), '1', '#1']) {
    expect(await line.run('domain', 'remove', name)).toMatchObject({ code: 0, stderr: '' });
    expect(await list()).toMatchObject([{ id: 1, active: false }]);
    expect((await line.run('domain', 'add', 'example.com')).stdout).toContain('bound again');
  }
  // Without --name it keeps the name that it had.
  expect(await list()).toMatchObject([{ id: 1, active: true, domain_name: 'shop' }]);
  const { code, stderr } = await line.run('domain', 'remove', 'example.org');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "gatepost: there is no domain 'example.org': see 'gatepost domain list'\n",
  });
});

test('the audit log has the operator, for the provider', async () => {
  await line.run('domain', 'add', 'example.com');
  await line.run('domain', 'remove', 'example.com');
  expect((await entries()).slice(0, 2)).toMatchObject([
    { action: 'domain.delete', who: 'operator', provider: 'Provide1' },
    { action: 'domain.add', who: 'operator', provider: 'Provide1' },
  ]);
});

test('of several providers one has to be named; the error lists them', async () => {
  await line.run('provider', 'add', '--name', 'Second', '--code', 'Provide2');
  const { code, stderr } = await line.run('domain', 'add', 'example.com');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'gatepost: there are several providers, so give --provider: Provide1 (Shop), Provide2 (Second)\n',
  });
  await line.run('domain', 'add', 'example.com', '--provider', 'Provide2');
  expect(await list('--provider', 'Provide1')).toEqual([]);
  expect(await list('--provider', 'Provide2')).toHaveLength(1);
});

test('without a provider the error says how to make one', async () => {
  await line.run('provider', 'remove', 'Provide1', '--yes');
  const { stderr } = await line.run('domain', 'list');
  expect(stderr).toContain("'gatepost provider add --name NAME' creates one");
});
