/**
 * The worst that one caller can do with one request, one stream or one file, and what another
 * caller notices of it.
 */

import { heldMs } from './calls.ts';
import { ask, type Bench, type Case, median, startCaller, table, verdict, who } from './driver.ts';
import { environment, processorTimes, writeResult } from './environment.ts';
import { fillThroughApi } from './fill.ts';
import type { Server } from './process.ts';
import { domainHash, providerCode } from './shape.ts';
import { floods, type WorstFlood } from './worst-floods.ts';
import { worstRequests } from './worst-requests.ts';

const WAIT_MAX_MS = 10;
const LINKS = 6_000;
/** A request is over in no time: so often in a row, for another caller's call to meet it. */
const REQUESTS_PER_ROUND = 5;

interface Row {
  endpoint: string;
  what: string;
  answer: string;
  cpuMs: number;
  /** The median over the rounds of the longest wait in each, and the longest of all. */
  waitMs: number;
  longestMs: number;
  grownMib: number;
}

/** A link with as many devices as it may have, and a device that is registered for messages. */
async function settle(bench: Bench, { url }: Server, dataDir: string) {
  const hash = domainHash(1);
  const { install_code: code } = await ask(`${url}/api/add-install?${who()}&install_limit=100`);
  for (let n = 1; n <= 100; n++) {
    const headers = { 'x-hwid': `phone-${n}`, 'x-device-os': 'Android' };
    await ask(`${url}/install?id=${hash}&installid=${code}`, undefined, headers);
  }
  const registration = { hwid: 'phone-1', install_code: code, domain_hash: hash, os: 'android' };
  const { device_token: token } = await ask(`${url}/device/register`, registration);
  // The page of users is on, so that guesses are not cut short.
  bench.command(['provider', 'set', providerCode(1), '--page', 'on', '--data', dataDir]);
  return { who: who(), hash, code, token };
}

const about = (rounds: number) => `The worst single request of each endpoint, stream and file that
is known. Meanwhile another caller asks for a list of one id again and again: "wait ms" is the
longest that one of its calls took, the median of ${rounds} rounds; "longest ms" is the longest of
all rounds, with whatever else the machine did; the row "nothing" is what the machine alone does to
it. "CPU ms" is processor time of the server for one time, with that of the other caller's calls;
"MiB" is how much its resident memory grew over all rounds. Commands run on the core of the other
caller, with the lowest priority. Wanted: no wait over ${WAIT_MAX_MS} ms on a quiet machine.`;

export const worst: Case = {
  about:
    'the worst request of each endpoint, stream and file; writes bench/results/DATE-worst.md; ends with 1 if another caller waits over 10 ms',
  options: { only: '', quick: false },
  run: async (bench) => {
    const rounds = bench.is('quick') ? 3 : 15;
    const before = processorTimes();
    const dataDir = bench.place('data');
    await fillThroughApi(bench, dataDir, {
      providerCount: 1,
      linkCount: LINKS,
      deviceCount: LINKS,
    });
    const server = await bench.serve(dataDir, { GATEPOST_TRUSTED_PROXIES: '127.0.0.1' });
    const place = await settle(bench, server, dataDir);
    const list = `${server.url}/api/list-install?${who()}&id=1`;
    const caller = startCaller(list, { pauseMs: 0.5 });

    const measured = async ({ endpoint, what, send }: WorstFlood, times: number): Promise<Row> => {
      let answer = await send();
      const rssBefore = server.memory().rssKib;
      const cpuBefore = server.cpuSeconds();
      const waits = await heldMs(caller, rounds, async () => {
        for (let time = 0; time < times; time++) answer = await send();
      });
      const cpuMs = ((server.cpuSeconds() - cpuBefore) * 1000) / (rounds + 1) / times;
      const grownMib = (server.memory().rssKib - rssBefore) / 1024;
      return {
        endpoint,
        what,
        answer,
        cpuMs,
        waitMs: median(waits),
        longestMs: Math.max(...waits),
        grownMib,
      };
    };

    // As long as a costly request: what the machine itself makes the other caller wait.
    const quiet = async () => {
      await Bun.sleep(50);
      return '';
    };
    const rows = [await measured({ endpoint: '(none)', what: 'nothing', send: quiet }, 1)];
    const isWanted = (of: { endpoint: string; what: string }) =>
      bench.takes(`${of.endpoint} ${of.what}`);
    for (const { endpoint, what, path, init } of worstRequests(place).filter(isWanted)) {
      const send = async () => {
        const response = await fetch(server.url + path, init);
        const text = await response.text();
        return /^\{"rc":\d+,"msg":"([^"]*)"/.exec(text)?.[1] ?? `status ${response.status}`;
      };
      rows.push(await measured({ endpoint, what, send }, REQUESTS_PER_ROUND));
    }
    const { executable, folder } = bench;
    for (const flood of floods({ ...place, server, executable, dataDir, folder })) {
      if (isWanted(flood)) rows.push(await measured(flood, 1));
    }
    await server.stop();
    const head = ['endpoint', 'what is sent', 'answer', 'CPU ms', 'wait ms', 'longest ms', 'MiB'];
    const lines = rows.map((row) => [
      row.endpoint,
      row.what,
      row.answer.replaceAll('|', ' '),
      row.cpuMs,
      row.waitMs,
      row.longestMs,
      row.grownMib,
      verdict(row.waitMs <= WAIT_MAX_MS),
    ]);
    const facts = environment(bench, before);
    const text = [facts, about(rounds), table([...head, ''], lines)].join('\n\n');
    await writeResult(bench, '-worst', 'Worst requests', text);
    return rows.every(({ waitMs }) => waitMs <= WAIT_MAX_MS);
  },
};
