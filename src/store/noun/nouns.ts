/** The nouns of the store, each written once for both databases. */

import type { Store } from '../../core/port/store.ts';
import type { Backend } from '../backend.ts';
import { distributionNoun } from './distribution.ts';
import { domainNoun } from './domain.ts';
import { eventNoun } from './event.ts';
import type { EventStatements } from './event-notes.ts';
import { figureNoun } from './figure.ts';
import type { FigureCounter } from './figure-counter.ts';
import { linkNoun } from './link.ts';
import { providerNoun } from './provider.ts';

/** What this process has counted, and the statements of the notes of writes. */
export interface NounParts {
  figures: FigureCounter;
  events: EventStatements;
}

export function nounsOf(backend: Backend, { figures, events }: NounParts) {
  return {
    ...providerNoun(backend),
    ...linkNoun(backend),
    ...domainNoun(backend),
    ...distributionNoun(backend),
    ...eventNoun(backend, events),
    ...figureNoun(backend, figures, events),
  } satisfies Partial<Store>;
}
