/** The examples of docs/webhooks.md verify what is really sent, each in its own language. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newWebhookSecret } from '../../src/core/webhook-key.ts';
import { signedHeaders } from '../../src/webhook/signature.ts';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';
import { readText } from '../support/tree.ts';

const BODY = '{"type":"link.full","timestamp":"2026-11-20T12:00:00.000Z","data":{"note":"привет"}}';
const secret = newWebhookSecret('v1');
const nowMs = () => performance.timeOrigin + performance.now();

interface Sent {
  secret: string;
  headers: Record<string, string>;
  body: string;
}

/** A delivery, and whether its signature is valid. */
function cases(): [name: string, sent: Sent, isGood: boolean][] {
  const at = (agoMs: number) =>
    signedHeaders({ secret, previous: null }, 'evt_7', BODY, nowMs() - agoMs);
  const other = newWebhookSecret('v1');
  const previous = { secret, untilMs: nowMs() + 60_000 };
  const both = signedHeaders({ secret: other, previous }, 'evt_7', BODY, nowMs());
  return [
    ['as it was sent', { secret, headers: at(0), body: BODY }, true],
    ['with two signatures', { secret, headers: both, body: BODY }, true],
    ['changed', { secret, headers: at(0), body: BODY.replace('full', 'fool') }, false],
    ['another id', { secret, headers: { ...at(0), 'webhook-id': 'evt_8' }, body: BODY }, false],
    ['another secret', { secret: other, headers: at(0), body: BODY }, false],
    ['more than five minutes ago', { secret, headers: at(302_000), body: BODY }, false],
  ];
}

const example = (language: string) => {
  const [, code = ''] =
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(readText('docs/webhooks.md')) ?? [];
  return code;
};

let folder: string;
beforeAll(() => {
  folder = freshFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program that reads all that was sent from stdin, and prints what of it is believed. */
function expectVerdicts(...program: string[]): void {
  const all = cases();
  const stdin = Buffer.from(JSON.stringify(all.map(([, sent]) => sent)));
  const run = Bun.spawnSync(program, { stdin });
  expect(run.stderr.toString()).toBe('');
  const verdicts: boolean[] = JSON.parse(run.stdout.toString());
  expect(all.map(([name], n) => [name, verdicts[n]])).toEqual(
    all.map(([name, , isGood]) => [name, isGood]),
  );
}

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('Node.js', () => {
  test.each(cases())('%s', async (_, { secret: key, headers, body }, isGood) => {
    const { verify } = await import(written('verify.mjs', example('js')));
    expect(verify(key, headers, body)).toBe(isGood);
    expect(verify(key, headers, Buffer.from(body))).toBe(isGood);
  });
});

describe('Python', () => {
  testWith('python3')('every case', () => {
    const path = written(
      'verify.py',
      `${example('python')}
import json, sys
print(json.dumps([
    verify(sent["secret"], sent["headers"], sent["body"].encode()) for sent in json.load(sys.stdin)
]))
`,
    );
    expectVerdicts('python3', path);
  });
});

describe('PHP', () => {
  testWith('php')('every case', () => {
    const path = written(
      'verify.php',
      `<?php
${example('php')}
$verdicts = [];
foreach (json_decode(file_get_contents('php://stdin'), true) as $sent) {
    foreach ($sent['headers'] as $name => $value) {
        $_SERVER['HTTP_' . strtoupper(str_replace('-', '_', $name))] = $value;
    }
    $verdicts[] = verify($sent['secret'], $sent['body']);
}
echo json_encode($verdicts);
`,
    );
    expectVerdicts('php', path);
  });
});
