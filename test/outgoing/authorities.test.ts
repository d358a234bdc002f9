import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import { readAuthorities } from '../../src/outgoing/authorities.ts';
import { selfSigned } from '../support/certificate.ts';
import { callTo, outgoingTo, PATIENT, saying, startStranger } from './stranger.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatepost-authorities-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('without a file the usual authorities are believed', () => {
  expect(readAuthorities('')).toBeNull();
});

test('the authorities of a file are believed', async () => {
  const stranger = await startStranger({ '/ok': saying('ok') });
  const { cert } = await selfSigned('another');
  const path = file('two.pem', `# of the house\n${cert}\n${stranger.ca}\n`);
  const ca = readAuthorities(path) ?? '';
  expect(ca.match(/BEGIN/g)).toHaveLength(2);
  const answer = await outgoingTo({ ca }).send(callTo(stranger.url('/ok')), PATIENT);
  expect(answer).toMatchObject({ status: 200 });
  stranger.stop();
});

test('other authorities are believed from the next call on, or none', async () => {
  const stranger = await startStranger({ '/ok': saying('ok') });
  const outgoing = outgoingTo(null);
  const statusNow = async () => {
    const answer = await outgoing.send(callTo(stranger.url('/ok')), PATIENT);
    return 'status' in answer ? answer.status : answer.kind;
  };
  expect(await statusNow()).toBe('tls');
  outgoing.use({ logins: new Map(), ca: stranger.ca });
  expect(await statusNow()).toBe(200);
  stranger.stop();
});

test.each([
  ['empty.pem', ''],
  ['words.pem', 'no certificate\n'],
  ['broken.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
])('a file without a certificate, %s, is a mistake', (name, text) => {
  const path = file(name, text);
  expect(() => readAuthorities(path)).toThrow(
    new OperatorError(`outgoing.ca_file: ${path} holds no certificate in PEM form`),
  );
});

test('a file that is not there is a mistake', () => {
  expect(() => readAuthorities(join(folder, 'nowhere.pem'))).toThrow(OperatorError);
});
