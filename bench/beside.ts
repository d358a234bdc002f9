/** Reads and writes of one process while a second one writes without a pause. */

import { loadConfig } from '../src/config/load.ts';
import type { Core } from '../src/core/core.ts';
import { addProvider } from '../src/core/provider.ts';
import { NO_TERMS } from '../src/core/slot.ts';
import { nextTurn } from '../src/core/turn.ts';
import { openCore } from '../src/parts/open-core.ts';
import type { Case } from './driver.ts';
import { spawnKept } from './process.ts';

const CODE = 'BENCH001';
const WRITERS = 8;

function open(dataDir: string): Promise<Core> {
  return openCore(loadConfig({ dataDir, configFile: 'none' }, {}).config, true);
}

/** Adds links until it is stopped, each of its commits as large as those of an import. */
async function writeOn(core: Core, batch: number): Promise<never> {
  const provider = await core.store.findProvider(CODE);
  if (provider === null) throw new Error('there is no provider to write for');
  const act = { actor: core.actor(), atMs: Date.now() };
  const add = () =>
    core.store.addLink(
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
  for (;;) await Promise.all(Array.from({ length: batch }, add));
}

interface Row {
  what: string;
  readsPerSecond: number;
  writesPerSecond: number;
  longestWriteMs: number;
}

async function measure(what: string, core: Core, seconds: number): Promise<Row> {
  let [reads, writes, longestWriteMs] = [0, 0, 0];
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
  await Promise.all([read(), ...Array.from({ length: WRITERS }, write)]);
  const perSecond = (count: number) => Math.round(count / seconds);
  return {
    what,
    readsPerSecond: perSecond(reads),
    writesPerSecond: perSecond(writes),
    longestWriteMs: Math.round(longestWriteMs),
  };
}

export const beside: Case = {
  about:
    'reads and writes through the store beside a second process that adds --batch links in each commit, as beside an import or another server',
  options: { seconds: '5', batch: '200' },
  run: async (bench) => {
    const dataDir = bench.place('data');
    const core = await open(dataDir);
    const draft = {
      name: 'bench',
      plan: 'basic',
      activeUntilMs: null,
      installCountMax: null,
      code: CODE,
    } as const;
    await addProvider(core, draft, Date.now());
    const seconds = bench.number('seconds');
    const rows = [await measure('alone', core, seconds)];
    const words = [process.execPath, import.meta.path, dataDir, bench.text('batch')];
    const child = spawnKept(words);
    await child.stdout.getReader().read();
    rows.push(await measure('beside a writer', core, seconds));
    child.kill('SIGKILL');
    await child.exited;
    console.table(rows);
    await core.store.close();
    return undefined;
  },
};

if (import.meta.main) {
  const [dataDir = '', batch = ''] = process.argv.slice(2);
  await writeOn(await open(dataDir), Number(batch));
}
