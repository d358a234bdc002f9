/** The work of a job, as it is stored. */

import { isRecord } from '../json-input.ts';
import { type LinkFilter, readLinkFilter } from '../link-filter.ts';
import type { Job, JobKind } from '../port/job.ts';
import type { LinkChange } from '../port/link.ts';

/** A change of many links; absent fields stay. */
export type BulkChange = Omit<LinkChange, 'subscriptionKeyHash'>;

export type JobWork =
  /** `toId`: the newest link when the job was added; later links are not changed. */
  | { kind: 'links.change'; filter: LinkFilter; toId: number; change: BulkChange }
  | { kind: 'links.remove'; filter: LinkFilter; toId: number }
  | { kind: 'link.free'; linkId: number; hwid: string }
  | { kind: 'link.free-all' | 'link.revoke'; linkId: number };

/** Kinds of jobs over many links, and about one link. */
export const BULK_KINDS = ['links.change', 'links.remove'] as const satisfies readonly JobKind[];
export const LINK_KINDS: readonly JobKind[] = ['link.free', 'link.free-all', 'link.revoke'];

/**
 * The number of events waiting for a webhook at which bulk jobs of its provider pause: at 100,000
 * the webhook is disabled.
 */
export const WAITING_EVENTS_MAX = 10_000;

/** Reads the work of a job. Returns null for a form that another version stored. */
export function readWork(job: Pick<Job, 'kind' | 'params'>): JobWork | null {
  try {
    return workOf(job);
  } catch {
    return null;
  }
}

function workOf({ kind, params }: Pick<Job, 'kind' | 'params'>): JobWork {
  const saved: unknown = JSON.parse(params);
  if (!isRecord(saved)) throw new Error('a job without its work');
  const number = (name: string) => {
    const found = saved[name];
    if (typeof found !== 'number') throw new Error(`a job without ${name}`);
    return found;
  };
  switch (kind) {
    case 'links.change':
      return {
        kind,
        toId: number('toId'),
        filter: readLinkFilter(saved['filter']),
        change: saved['change'] as BulkChange,
      };
    case 'links.remove':
      return { kind, toId: number('toId'), filter: readLinkFilter(saved['filter']) };
    case 'link.free':
      return { kind, linkId: number('linkId'), hwid: String(saved['hwid']) };
    case 'link.free-all':
    case 'link.revoke':
      return { kind, linkId: number('linkId') };
  }
}
