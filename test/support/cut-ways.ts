/** Ways in which commands about cut-offs come to fail: test/cli/error-codes.test.ts. */

import { ACT } from './actor.ts';
import { makeLink } from './links.ts';

/** Begins an attempt of a cut-off. Returns the words that try to cancel it. */
const runningCut = (dataDir: string): Promise<string[]> =>
  makeLink(dataDir, async ({ store }, { installId, providerId }) => {
    const wanted = { installId, hwid: null, keyHash: null, host: 'h', why: null };
    const act = { ...ACT, atMs: Date.now() };
    await store.askCut(providerId, { ...wanted, isByUser: false }, act);
    const lease = { owner: 'one', nowMs: act.atMs, leaseUntilMs: act.atMs + 600_000 };
    await store.claimCut('h', { ...lease, perHourMax: 1 });
    return ['cuts', 'cancel', '1'];
  });

export const cutWays = (dataDir: () => string) => {
  const on = (words: string[]) => () => makeLink(dataDir(), async () => words);
  return {
    cut_not_found: [on(['cuts', 'cancel', '7'])],
    cut_running: [() => runningCut(dataDir())],
    cut_impossible: [on(['link', 'cut-off', 'LinkCode0001', '--yes'])],
    cuts_not_stopped: [on(['cuts', 'resume', 'sub.example.org'])],
  };
};
