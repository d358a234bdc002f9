/** A stub of what changes credentials at panels, and the worker that calls it. */

import type { Core } from '../../src/core/core.ts';
import {
  type CutOrder,
  type CutOutcome,
  type CutUpstream,
  canCut,
} from '../../src/core/panel/cut-off.ts';
import { makeCutter } from '../../src/jobs/cut-off.ts';
import type { TestApp } from './app.ts';

export type Tried = CutOrder & { host: string };

/** What each try comes to; by default it is done. */
export interface CutPanel {
  tried: Tried[];
  next: (order: Tried, deadline: AbortSignal) => Promise<CutOutcome> | CutOutcome;
}

export const DONE: CutOutcome = { is: 'done', interval: 12 };
export const AWAY: CutOutcome = { is: 'failed', why: 'the panel is away', seen: null };

export const cutPanel = (): CutPanel => ({ tried: [], next: () => DONE });

/** Makes the worker of a node, with `core` in place of the app's. */
export function cutterOf(app: TestApp, panel: CutPanel, core: Core = app.core, perHourMax = 20) {
  const upstreams = () => core.limits.gateUpstreams as unknown as readonly CutUpstream[];
  const cutter = makeCutter({
    core,
    clock: app.clock,
    log: app.log,
    settings: { cutsPerHourMax: perHourMax },
    cuts: {
      canCut: (upstream) => canCut(upstream, upstreams()),
      changeCredentials: async ({ host }, order, deadline) => {
        panel.tried.push({ ...order, host });
        return panel.next({ ...order, host }, deadline);
      },
    },
  });
  return {
    ...cutter,
    /** Makes all attempts that are due. */
    run: async () => {
      await cutter.tick();
      await cutter.idle();
    },
  };
}
