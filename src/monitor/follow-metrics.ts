/** Metrics of the panels that are followed, from their records in the database. */

import { changesOf, standingOf } from '../core/follow-standing.ts';
import type { Follow } from '../core/port/follow.ts';
import { type MetricRow, row, type Snapshot } from './metric-row.ts';

type Pass = NonNullable<Follow['pass']>;

/** Reads a figure of the last whole pass of each panel that had one. */
const ofPass =
  (figure: (pass: Pass) => number) =>
  ({ follows }: Snapshot) =>
    (follows ?? []).flatMap(({ follow, host }) =>
      follow?.pass ? [{ labels: { host }, value: figure(follow.pass) }] : [],
    );

export const FOLLOWS: MetricRow[] = [
  row({
    name: 'gatepost_follow_last_pass_timestamp_seconds',
    type: 'gauge',
    labels: ['host'],
    help: 'Time of the last whole pass of `follow` over the panel of an upstream.',
    read: ofPass(({ atMs }) => atMs / 1000),
  }),
  row({
    name: 'gatepost_follow_users',
    type: 'gauge',
    labels: ['host'],
    help: 'Users of the panel in that pass.',
    read: ofPass(({ userCount }) => userCount),
  }),
  row({
    name: 'gatepost_follow_changes',
    type: 'gauge',
    labels: ['host'],
    help: 'Users that were new, changed or gone in that pass.',
    read: ofPass(changesOf),
  }),
  row({
    name: 'gatepost_follow_failing',
    type: 'gauge',
    labels: ['host'],
    help: 'Whether the panel is not followed now: its passes fail, are late, or wait for the operator: 1 or 0.',
    read: ({ follows, nowMs }) =>
      (follows ?? []).map(({ follow, ...following }) => {
        const standing = standingOf(follow, following, nowMs);
        const isFine = ['begins', 'follows', 'partial'].includes(standing);
        return { labels: { host: following.host }, value: Number(!isFine) };
      }),
  }),
];
