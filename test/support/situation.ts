/** Situations of an installation, and what `gatepost doctor` says of them. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../src/base/finding.ts';
import { loadConfig } from '../../src/config/load.ts';
import { holdNote, noteSettings } from '../../src/config/server-note.ts';
import { freshFolder } from './app.ts';
import { addProviders, NOW_MS } from './backup.ts';
import { runHere } from './command-line.ts';

/** Where a situation is made: a folder with the data of an installation that is well. */
export interface Scene {
  folder: string;
  dataDir: string;
  /** Runs at the end, the last first. */
  ends: (() => unknown)[];
}

/** How the doctor is asked. */
export interface Asked {
  args?: readonly string[];
  env?: Record<string, string>;
  /** Default: {@link NOW_MS}. */
  nowMs?: number;
  /** False: no server runs, or a real one. Default: a stand-in holds the lock of a server. */
  standIn?: boolean;
}

export interface Situation {
  situation: string;
  /** All findings that are not `ok`, in their order. */
  says: readonly string[];
  /** Words of the first of them. */
  words?: string | RegExp;
  /** Words of a finding that is `ok`. */
  fine?: RegExp;
  /** Words of its remedy. */
  todo?: string | RegExp;
  /** False: this machine cannot make it. */
  isPossible?: boolean;
  // biome-ignore lint/suspicious/noConfusingVoidType: most situations need no other way to ask.
  make(scene: Scene): Asked | void | Promise<Asked | void>;
}

/** What every scene lacks, because a test has no room for it, as for a durable PostgreSQL. */
const USUAL = ['warning backups_not_scheduled'];

/** Settings of a scene: nothing of this machine counts. */
const ENV = { GATEPOST_PORT: '0', GATEPOST_STREAMS_MAX: '100' };

/** A healthy installation in a folder of its own. */
async function makeScene(): Promise<Scene> {
  const folder = freshFolder();
  const dataDir = join(folder, 'data');
  await addProviders(dataDir, 1);
  return { folder, dataDir, ends: [() => rmSync(folder, { recursive: true, force: true })] };
}

async function endScene({ ends }: Scene): Promise<void> {
  for (const end of ends.toReversed()) await end();
}

/** Holds the lock of a server that runs with these settings. */
export function standIn({ dataDir, ends }: Scene, env: Record<string, string> = {}): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { named, ...loaded } = loadConfig({ dataDir }, { ...ENV, GATEPOST_CONFIG: 'none', ...env });
  noteSettings({ ...loaded, named }, { startedAtMs: NOW_MS, url: null });
  ends.push(holdNote(dataDir));
}

interface Said {
  /** `PROBLEM name` or `warning name` of all findings that are not `ok`, but for the usual ones. */
  says: string[];
  code: number;
  findings: Finding[];
}

/** Asks the doctor as an operator does. */
async function askDoctor({ dataDir }: Scene, asked: Asked): Promise<Said> {
  const { args = [], env = {}, nowMs = NOW_MS } = asked;
  const words = ['doctor', '--json', '--names', '--data', dataDir, ...args];
  const { code, stdout } = await runHere(words, { env: { ...ENV, ...env }, nowMs });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  const says = findings
    .filter(({ level }) => level !== 'ok')
    .map(({ level, name }) => `${level === 'problem' ? 'PROBLEM' : level} ${name}`)
    .filter((text) => !USUAL.includes(text) && !/ postgres_/.test(text));
  return { says, code, findings };
}

/** Tests a table of situations: what the doctor says of each, all of it, and its exit code. */
export function testSituations(situations: readonly Situation[]): void {
  let scene: Scene;
  beforeEach(async () => {
    scene = await makeScene();
  });
  afterEach(() => endScene(scene));

  for (const { situation, says, words, fine, todo, isPossible = true, make } of situations) {
    test.skipIf(!isPossible)(situation, async () => {
      const asked = (await make(scene)) ?? {};
      if (asked.standIn !== false) standIn(scene, asked.env);
      const said = await askDoctor(scene, asked);
      expect(said.says).toEqual([...says]);
      const hasProblem = said.findings.some(({ level }) => level === 'problem');
      expect(said.code).toBe(hasProblem ? 1 : 0);
      const [first] = said.findings.filter(({ name }) => says[0]?.endsWith(` ${name}`));
      if (words !== undefined) expect(first?.what).toMatch(words);
      if (todo !== undefined) expect(first?.todo).toMatch(todo);
      const good = said.findings.filter(({ level }) => level === 'ok').map(({ what }) => what);
      if (fine !== undefined) expect(good.filter((text) => fine.test(text))).toHaveLength(1);
      const idle = said.findings.filter(({ level, todo }) => level !== 'ok' && !todo);
      expect(idle).toEqual([]);
    });
  }
}
