/** Deeds about cut-offs and bars: see ./deeds.ts. None of them is ever folded. */

import type { Cut } from '../port/cut-off.ts';
import type { Deed } from './entry.ts';

type Facts = Pick<Cut, 'id' | 'installId' | 'state'>;

export const askCut = ({ id, installId, state }: Facts, hwidHash: string | null): Deed => ({
  action: 'cut.ask',
  object: {
    install_id: installId,
    cut: id,
    state,
    ...(hwidHash !== null && { barred_sha256: hwidHash }),
  },
});

export const cancelCut = ({ id, installId }: Facts): Deed => ({
  action: 'cut.cancel',
  object: { install_id: installId, cut: id },
});

export const endCut = ({ id, installId, state }: Facts): Deed => ({
  action: 'cut.end',
  object: { install_id: installId, cut: id, state },
});

export const liftBar = (installId: number, hwidHash: string): Deed => ({
  action: 'bar.lift',
  object: { install_id: installId, barred_sha256: hwidHash },
});

export const resumeCuts = (host: string): Deed => ({ action: 'cut.resume', object: { host } });
