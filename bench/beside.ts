/**
 * Reads and writes of one process while a second one writes without a pause, as beside an import or
 * another server: through the store as it is opened. Prints one table, keeps no file.
 *
 *   bun bench/beside.ts [--seconds 5] [--batch 200]
 *
 * `--batch`: how many links the second process adds in one commit.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/config/load.ts';
import type { Core } from '../src/core/core.ts';
import { addProvider } from '../src/core/provider.ts';
import { NO_TERMS } from '../src/core/slot.ts';
import { nextTurn } from '../src/core/turn.ts';
import { openCore } from '../src/open-core.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    batch: { type: 'string', default: '200' },
    /** Given to the second process: the data directory. */
    beside: { type: 'string' },
  },
});
const CODE = 'BENCH001';
const WRITERS = 8;

function open(dataDir: string): Promise<Core> {
  return openCore(loadConfig({ dataDir, configFile: 'none' }, {}).config, true);
}

/** Adds links until it is stopped, each of its commits as large as those of an import. */
async function writeOn(core: Core): Promise<never> {
  const provider = await core.store.findProvider(CODE);
  if (provider === null) throw new Error('there is no provider to write for');
  const act = { actor: core.actor(), atMs: Date.now() };
  const add = () =>
    core.store.addInstall(
      {
        ...NO_TERMS,
        providerId: provider.id,
        installLimit: 1,
        note: null,
        createdAtMs: act.atMs,
        installCode: crypto.randomUUID().replaceAll('-', '').slice(0, 12),
        installCountMax: Number.MAX_SAFE_INTEGER,
      },
      act,
    );
  console.log('writing');
  for (;;) await Promise.all(Array.from({ length: Number(options.batch) }, add));
}

interface Row {
  what: string;
  readsPerSecond: number;
  writesPerSecond: number;
  longestWriteMs: number;
}

async function measure(what: string, core: Core, writers: number): Promise<Row> {
  let [reads, writes, longestWriteMs] = [0, 0, 0];
  const seconds = Number(options.seconds);
  const endMs = performance.now() + seconds * 1000;
  const goesOn = () => performance.now() < endMs;
  const read = async () => {
    for (; goesOn(); reads++) {
      await core.store.findProvider(CODE);
      await nextTurn();
    }
  };
  const write = async () => {
    for (; goesOn(); writes++) {
      const askedMs = performance.now();
      await core.store.checkWritable();
      longestWriteMs = Math.max(longestWriteMs, performance.now() - askedMs);
    }
  };
  await Promise.all([read(), ...Array.from({ length: writers }, write)]);
  const perSecond = (count: number) => Math.round(count / seconds);
  return {
    what,
    readsPerSecond: perSecond(reads),
    writesPerSecond: perSecond(writes),
    longestWriteMs: Math.round(longestWriteMs),
  };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-bench-'));
  const dataDir = join(folder, 'data');
  const core = await open(dataDir);
  const draft = {
    name: 'bench',
    plan: 'basic',
    activeUntilMs: null,
    installCountMax: null,
  } as const;
  await addProvider(core, { ...draft, code: CODE }, Date.now());
  const rows = [await measure('alone', core, WRITERS)];
  const words = ['--beside', dataDir, '--batch', options.batch];
  const child = Bun.spawn([process.execPath, import.meta.path, ...words], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  await child.stdout.getReader().read();
  rows.push(await measure('beside a writer', core, WRITERS));
  child.kill('SIGKILL');
  await child.exited;
  console.table(rows);
  await core.store.close();
  rmSync(folder, { recursive: true });
}

if (options.beside === undefined) await main();
else await writeOn(await open(options.beside));
