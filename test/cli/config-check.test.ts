/** `gatepost config --check` fails where a reload is refused, by the same sentence. */

import { expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runHere } from '../support/command-line.ts';
import { run, startServe, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const folder = temporaryFolder();
const file = join(folder, 'gatepost.toml');
const write = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const open = join(folder, 'open');
writeFileSync(open, 'a-provider-id', { mode: 0o644 });

const MISTAKES: [what: string, text: string, sentence: string][] = [
  ['invalid TOML', '[log]\n[log]\n', 'gatepost.toml:2: invalid TOML: [log] stands in line 1'],
  ['an unknown setting', '[log]\nlevl = "info"\n', 'gatepost.toml:2: there is no setting log.levl'],
  ['an invalid value', '[log]\nlevel = "loud"\n', "gatepost.toml:2: log.level: 'loud' is not"],
  [
    'settings that exclude each other',
    '[backup]\nat = "03:30"\n[database]\nurl = "postgres://x@127.0.0.1/x"\n',
    'backup.at',
  ],
  ['a secret that is missing', `[gate]\nprovider_id_file = "${folder}/none"\n`, 'cannot read'],
  ['a secret that all users read', `[gate]\nprovider_id_file = "${open}"\n`, 'chmod 600'],
  [
    'a secret that is none',
    `[gate]\nprovider_id_file = "${write('blank', 'two words')}"\n`,
    'is not 1 to 64',
  ],
  ['a page that is missing', `[server]\nstranger_page = "${folder}/none"\n`, 'stranger_page: '],
  ['a gateway', `[gateway.fcm]\nservice_account = "${write('fcm', '{}')}"\n`, 'service_account: '],
  ['half a gateway', '[gateway.webpush]\nkey_file = "/nowhere"\n', 'webpush.subject must be'],
];

test('a mistake is the same sentence to the check and to the log of a reload', async () => {
  write('gatepost.toml', '[log]\nlevel = "info"\n');
  const env = { GATEPOST_CONFIG: file };
  const server = await startServe({ env });
  const logged = () =>
    server.stderr().match(/ config_(?:not_reloaded reason=.*|reloaded changed=.*)$/gm) ?? [];
  const check = (...words: string[]) =>
    run(['config', '--check', '--data', server.dataDir, ...words], { env });
  for (const [what, text, sentence] of MISTAKES) {
    write('gatepost.toml', text);
    const before = logged().length;
    const { code, stdout, stderr } = await check();
    expect({ what, code, stdout }).toEqual({ what, code: 1, stdout: '' });
    expect(stderr).toContain(sentence);
    process.kill(server.pid, 'SIGHUP');
    const [line = ''] = await until('the reload', async () => {
      const lines = logged().slice(before);
      return lines.length > 0 && lines;
    });
    const reason = JSON.parse(/reason=(.*)/.exec(line)?.[1] ?? '""');
    expect({ what, stderr }).toEqual({ what, stderr: `gatepost: ${reason}\n` });
  }
  write('gatepost.toml', '[log]\nlevel = "debug"\n');
  expect(await check()).toEqual({ code: 0, stdout: `${file} is valid\n`, stderr: '' });
  expect(JSON.parse((await check('--json')).stdout)).toEqual({ file, valid: true });
});

test('a check makes no key, and needs the file of the server', async () => {
  const dataDir = temporaryFolder();
  write('gatepost.toml', '[gateway.webpush]\nsubject = "mailto:a@example.com"\n');
  const words = ['config', '--check', '--config', file, '--data', dataDir];
  expect((await runHere(words)).code).toBe(0);
  expect(existsSync(join(dataDir, 'vapid.key'))).toBe(false);
  expect((await runHere([...words, '--config', join(folder, 'none.toml')])).code).toBe(1);
});
