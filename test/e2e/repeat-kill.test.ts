/**
 * Orders are repeated with their keys until they are answered, by several callers at once, while
 * the servers are killed: each makes one link, and all answers to it are the same.
 */

import { expect, test } from 'bun:test';
import { call } from '../support/app.ts';
import { startServe } from '../support/process.ts';
import { openShop } from '../support/shop.ts';
import { useProcesses } from '../support/use-processes.ts';

const ORDERS = 60;
/** Callers of one order. */
const CALLERS = 3;
/** A server is killed whenever so many orders more were answered. */
const BETWEEN_KILLS = 20;

useProcesses();

test('an order makes one link, however often it comes and whatever is killed', async () => {
  const { dataDir, own, servers } = await openShop({ serverCount: 2, limits: [] });
  const answers = Array.from({ length: ORDERS }, () => new Set<string>());
  let answered = 0;

  async function order(n: number, caller: number): Promise<void> {
    const query = { install_limit: 1, note: `order ${n}`, idempotency_key: `order-${n}` };
    for (let attempt = caller; ; attempt++) {
      const server = servers[attempt % servers.length];
      try {
        const { text, json } = await call(server ?? { url: '' }, '/api/add-install', own, query);
        if (json === null) throw new Error('half an answer');
        answers[n]?.add(text);
        answered += 1;
        return;
      } catch {
        // Gives the restart a turn.
        await Bun.sleep(5);
      }
    }
  }

  async function killInTurn(): Promise<void> {
    for (let kill = 0; kill < 4; kill++) {
      while (answered < (kill + 1) * BETWEEN_KILLS) await Bun.sleep(1);
      const which = kill % servers.length;
      expect((await servers[which]?.stop('SIGKILL'))?.signal).toBe('SIGKILL');
      servers[which] = await startServe({ dataDir });
    }
  }

  async function caller(number: number): Promise<void> {
    for (let n = 0; n < ORDERS; n++) await order(n, number);
  }
  await Promise.all([killInTurn(), ...Array.from({ length: CALLERS }, (_, n) => caller(n))]);

  for (const texts of answers) expect([...texts]).toHaveLength(1);
  const [server] = servers;
  const listed = await call(server ?? { url: '' }, '/api/list-install', own);
  expect(listed.json.data).toHaveLength(ORDERS);
  expect(new Set(answers.flatMap((texts) => [...texts])).size).toBe(ORDERS);
});
