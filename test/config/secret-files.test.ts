/** Secrets in files: the Provider ID of Happ, and what signs the tokens of a panel. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecretFiles } from '../../src/config/secret-files.ts';
import { readAccessHeaders } from '../../src/core/panel/access-headers.ts';
import { readAccount } from '../../src/core/panel/account.ts';
import { upstreamTo } from '../support/upstream.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatepost-secret-files-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string, mode = 0o600): string {
  const file = join(folder, crypto.randomUUID());
  writeFileSync(file, text, { mode });
  return file;
}

const settings = (gateProviderIdFile: string, providerIdFile = '') => ({
  gateProviderIdFile,
  gateKeySecretFile: '',
  gatePanelTokenFile: '',
  gatePanelAccountFile: '',
  gatePanelHeadersFile: '',
  gateUpstreams: [upstreamTo('http://127.0.0.1:1', 'EXAMPLE1', { providerIdFile })],
});

const ofPanel = (gateKeySecretFile: string, keySecretFile = '') => ({
  gateProviderIdFile: '',
  gateKeySecretFile,
  gatePanelTokenFile: '',
  gatePanelAccountFile: '',
  gatePanelHeadersFile: '',
  gateUpstreams: [upstreamTo('http://127.0.0.1:1', 'EXAMPLE1', { keySecretFile })],
});

test('is read when it is prepared, and applies once it is activated', () => {
  const [gate, upstream] = [fileWith('Abc_12-3\n'), fileWith('Other\nnotes')];
  const ids = new SecretFiles();
  const replace = ids.prepare(settings(gate, upstream));
  writeFileSync(gate, 'Later');
  expect([ids.of(gate), ids.of('')]).toEqual([null, null]);
  replace();
  expect([ids.of(gate), ids.of(upstream), ids.of('')]).toEqual(['Abc_12-3', 'Other', null]);
  ids.prepare(settings(gate))();
  expect([ids.of(gate), ids.of(upstream)]).toEqual(['Later', null]);
});

describe('a file is refused, and its content never shown,', () => {
  test.each([
    ['if other users can read it', () => fileWith('Secret1', 0o644), 'has mode 0644'],
    ['if it is empty', () => fileWith(''), 'is empty'],
    ['if there is none', () => join(folder, 'missing'), 'cannot read'],
    ['if its line is no Provider ID', () => fileWith('Secret1 Secret1'), 'is not 1 to 64'],
    ['if its line is too long', () => fileWith('Secret1'.repeat(10)), 'is not 1 to 64'],
  ])('%s', (_why, make, reason) => {
    const ids = new SecretFiles();
    const before = fileWith('Before');
    ids.prepare(settings(before))();
    const file = make();
    for (const wrong of [settings(file), settings('', file)]) {
      expect(() => ids.prepare(wrong)).toThrow(reason);
      expect(() => ids.prepare(wrong)).not.toThrow('Secret1');
    }
    expect([ids.of(before), ids.of(file)]).toEqual(['Before', null]);
  });
});

test('the secret of a panel has its own rule, in the gate and in an upstream', () => {
  const [gate, upstream] = [fileWith('a'.repeat(64)), fileWith(`${'b'.repeat(16)}\n`)];
  const secrets = new SecretFiles();
  secrets.prepare(ofPanel(gate, upstream))();
  expect([secrets.of(gate), secrets.of(upstream)]).toEqual(['a'.repeat(64), 'b'.repeat(16)]);
  for (const wrong of ['Secret1', `Secret1 ${'c'.repeat(20)}`, `Secret1${'c'.repeat(250)}`]) {
    const file = fileWith(wrong);
    for (const settingsWith of [ofPanel(file), ofPanel('', file)]) {
      const prepare = () => secrets.prepare(settingsWith);
      expect(prepare).toThrow('key_secret_file: the first line of');
      expect(prepare).not.toThrow('Secret1');
    }
  }
});

test("the token of a panel's API has its own rule, in the gate and in an upstream", () => {
  const ofApi = (gatePanelTokenFile: string, panelTokenFile = '') => ({
    gateProviderIdFile: '',
    gateKeySecretFile: '',
    gatePanelTokenFile,
    gatePanelAccountFile: '',
    gatePanelHeadersFile: '',
    gateUpstreams: [upstreamTo('http://127.0.0.1:1', 'EXAMPLE1', { panelTokenFile })],
  });
  const [gate, upstream] = [fileWith('a'.repeat(8)), fileWith(`${'b'.repeat(4_095)}\n`)];
  const secrets = new SecretFiles();
  secrets.prepare(ofApi(gate, upstream))();
  expect([secrets.of(gate), secrets.of(upstream)]).toEqual(['a'.repeat(8), 'b'.repeat(4_095)]);
  for (const settingsWith of [ofApi(fileWith('Secret1')), ofApi('', fileWith('Secret1'))]) {
    expect(() => secrets.prepare(settingsWith)).toThrow('panel_token_file: the first line of');
  }
});

describe('the account of a panel', () => {
  const ofAccount = (gatePanelAccountFile: string, panelAccountFile = '') => ({
    ...settings(''),
    gatePanelAccountFile,
    gateUpstreams: [upstreamTo('http://127.0.0.1:1', 'EXAMPLE1', { panelAccountFile })],
  });

  test('is checked, and not kept in memory', () => {
    const file = fileWith('reader\nSecret1 with blanks\n');
    const secrets = new SecretFiles();
    secrets.prepare(ofAccount(file, file))();
    expect(secrets.of(file)).toBeNull();
    expect(readAccount('reader\r\n a b \r\n')).toEqual({ name: 'reader', password: ' a b ' });
  });

  test.each([
    ['', 'is not two lines'],
    ['Secret1', 'is not two lines'],
    ['Secret1\n', 'is not two lines'],
    ['\nSecret1', 'is not two lines'],
    ['a\nSecret1\nb', 'is not two lines'],
    ['a\nSecret1\u0000', 'is not two lines'],
    [`a\nSecret1${'x'.repeat(250)}`, 'is not two lines'],
  ])('%j is refused, and not shown', (text, reason) => {
    for (const wrong of [ofAccount(fileWith(text)), ofAccount('', fileWith(text))]) {
      const prepare = () => new SecretFiles().prepare(wrong);
      expect(prepare).toThrow(reason);
      expect(prepare).toThrow('panel_account_file: ');
      expect(prepare).not.toThrow('Secret1');
    }
  });

  test('in a file that others can read is refused', () => {
    const open = ofAccount(fileWith('a\nSecret1', 0o644));
    expect(() => new SecretFiles().prepare(open)).toThrow('has mode 0644');
  });
});

describe('headers for the API of a panel', () => {
  const ofGateway = (gatePanelHeadersFile: string, panelHeadersFile = '') => ({
    gateProviderIdFile: '',
    gateKeySecretFile: '',
    gatePanelTokenFile: '',
    gatePanelAccountFile: '',
    gatePanelHeadersFile,
    gateUpstreams: [upstreamTo('http://127.0.0.1:1', 'EXAMPLE1', { panelHeadersFile })],
  });

  test('are all lines of the file, in the gate and in an upstream', () => {
    const text = 'CF-Access-Client-Id: a.access\n\nCF-Access-Client-Secret:  s3cret =\r\n';
    const [gate, upstream] = [fileWith(text), fileWith('Cookie: a=b; c=d')];
    const secrets = new SecretFiles();
    secrets.prepare(ofGateway(gate, upstream))();
    expect(readAccessHeaders(secrets.of(gate) ?? '')).toEqual({
      'cf-access-client-id': 'a.access',
      'cf-access-client-secret': 's3cret =',
    });
    expect(readAccessHeaders(secrets.of(upstream) ?? '')).toEqual({ cookie: 'a=b; c=d' });
  });

  test.each([
    ['', 'is not'],
    ['Secret1', 'is not'],
    ['a b: Secret1', 'is not'],
    ['a:', 'is not'],
    ['a: Secret1\u001b', 'is not'],
    ['a: Secret1\u00e9', 'is not'],
    ['a: Secret1\rb: c', 'is not'],
    ['a: Secret1\nA: Secret1', 'is not'],
    ['Host: Secret1', 'is not'],
    ['transfer-encoding: Secret1', 'is not'],
    ['Proxy-Authorization: Secret1', 'is not'],
    [Array.from({ length: 17 }, (_, n) => `a${n}: Secret1\n`).join(''), 'is not'],
    [`a: Secret1${'x'.repeat(5_000)}`, 'larger than 4096 bytes'],
  ])('%j is refused, and not shown', (text, reason) => {
    for (const wrong of [ofGateway(fileWith(text)), ofGateway('', fileWith(text))]) {
      const prepare = () => new SecretFiles().prepare(wrong);
      expect(prepare).toThrow(reason);
      expect(prepare).toThrow('panel_headers_file: ');
      expect(prepare).not.toThrow('Secret1');
    }
  });

  test('a file that others can read is refused', () => {
    const open = ofGateway(fileWith('a: Secret1', 0o644));
    expect(() => new SecretFiles().prepare(open)).toThrow('has mode 0644');
  });
});
