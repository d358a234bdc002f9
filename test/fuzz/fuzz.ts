/** One run of the fuzzer: requests, streams, commands and files side by side. */

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, run, temporaryFolder } from '../support/process.ts';
import { startFuzzed, watchLife } from './appliance.ts';
import { Campaign, type Fault } from './campaign.ts';
import { type Files, fuzzCommands } from './commands.ts';
import { FrameGrammar, fuzzFrames } from './frames.ts';
import { anyJson, jsonText } from './grammar.ts';
import { fuzzHttp, HttpGrammar } from './http.ts';
import { addFuzzProviders, type Scene, setScene } from './scene.ts';

const LANES = 4;
const STREAMS = 2;
/** The last one is ended in an orderly way, one before it is killed. */
const LIVES = ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const;

export interface FuzzOptions {
  seconds: number;
  seed: number;
  /** Requests and frames a second, at most. */
  rate: number;
  /** Told of one line a minute. */
  onProgress?: (line: string) => void;
  onFault?: (fault: Fault) => void;
}

export interface FuzzResult {
  faults: readonly Fault[];
  counts: ReadonlyMap<string, number>;
  answers: ReadonlyMap<string, number>;
  /** The longest wait of a polite caller meanwhile, ms. */
  longestMs: number;
}

export async function fuzz({
  seconds,
  seed,
  rate,
  onProgress,
  onFault,
}: FuzzOptions): Promise<FuzzResult> {
  const dataDir = join(temporaryFolder(), 'data');
  const credentials = await addFuzzProviders(dataDir);
  let server = await startFuzzed(dataDir);
  const scene = await setScene(server.url, credentials);
  const source = startEvilSource(seed);
  const files = await makeFiles(dataDir, scene, `http://127.0.0.1:${source.port}`);
  const grammars = { http: new HttpGrammar(scene, seed), frames: new FrameGrammar(scene, seed) };
  const campaign = new Campaign(seed, seconds, onFault);
  const minute = setInterval(() => onProgress?.(campaign.progress()), 60_000);
  let longestMs = 0;
  // Half of the time is the machine's: commands cost more than what they teach.
  const commands = fuzzCommands(campaign, files, (tookMs) =>
    Bun.sleep(Math.min(tookMs, campaign.leftMs)),
  );
  for (const [at, signal] of LIVES.entries()) {
    if (campaign.isOver && at > 0) break;
    const pause = pacer(rate);
    const lifeMs = campaign.leftMs / (LIVES.length - at);
    const waited = await watchLife(campaign, server, scene, lifeMs, signal, ({ isOver }) =>
      Promise.all([
        ...Array.from({ length: LANES }, () =>
          fuzzHttp(campaign, grammars.http, server.port, pause, isOver),
        ),
        ...Array.from({ length: STREAMS }, () =>
          fuzzFrames(campaign, grammars.frames, server.port, pause, isOver),
        ),
      ]),
    );
    longestMs = Math.max(longestMs, waited);
    server = await startFuzzed(dataDir);
  }
  await commands;
  const { code } = await server.stop();
  if (code !== 0) campaign.fault('server', 0, `the last restart ended with ${code}`);
  clearInterval(minute);
  await source.stop(true);
  await cleanUp();
  const { faults, counts, answers } = campaign;
  return { faults, counts, answers, longestMs };
}

/** Callers take turns so that all of them together keep to `rate` a second. */
function pacer(rate: number): () => Promise<void> {
  let nextMs = performance.now();
  return async () => {
    const now = performance.now();
    nextMs = Math.max(nextMs + 1000 / rate, now - 1000);
    if (nextMs > now) await Bun.sleep(nextMs - now);
  };
}

/** A server of the provider API from which commands import: nothing it says can be trusted. */
function startEvilSource(seed: number): ReturnType<typeof Bun.serve> {
  const campaign = new Campaign(seed, Number.MAX_SAFE_INTEGER / 1000);
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => {
      const { random } = campaign.next('source');
      const link = { id: random.int(-1, 9), install_code: 'abcABC123456', install_limit: 5 };
      const data = Array.from({ length: random.int(0, 3) }, () => ({
        ...link,
        ...(random.chance(0.5) ? { install_count: 0, status: 10, created_at: '' } : {}),
        note: anyJson(random),
      }));
      const value = random.chance(0.6) ? { rc: 1, msg: 'Ok', data } : anyJson(random);
      const status = random.chance(0.9) ? 200 : random.pick([204, 301, 401, 404, 429, 500]);
      const body = status === 204 ? null : jsonText(random, value);
      return new Response(body, { status, headers: { location: '/x', 'retry-after': '0' } });
    },
  });
}

async function makeFiles(dataDir: string, scene: Scene, source: string): Promise<Files> {
  const folder = temporaryFolder();
  const made = (name: string) => join(folder, name);
  writeFileSync(made('secret'), 'secret\n', { mode: 0o600 });
  const [first] = scene.credentials;
  const data = ['--data', dataDir];
  const must = async (...words: string[]) => {
    const { code, stdout, stderr } = await run([...words, ...data]);
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  await must('backup', made('one.backup'));
  await must('backup', made('secret.backup'), '--passphrase-file', made('secret'));
  const exported = await must('export', first?.code ?? '');
  writeFileSync(made('one.jsonl'), exported, { mode: 0o600 });
  const configuration = await must('config', '--example');
  await run(['restore', made('one.backup'), '--data', made('pristine')]);
  cpSync(made('pristine'), made('data'), { recursive: true });
  return {
    folder,
    backup: readFileSync(made('one.backup')),
    encrypted: readFileSync(made('secret.backup')),
    exported,
    configuration,
    words: [...scene.codes, ...scene.hwids, ...scene.hashes, first?.code ?? '', '1', '2', 'name'],
    source,
  };
}
