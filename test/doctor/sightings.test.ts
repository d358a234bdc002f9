/** The doctor explains what servers have seen at panels. */

import { expect, test } from 'bun:test';
import type { SeenSighting, SightingKind } from '../../src/core/port/sighting.ts';
import { checkSightings } from '../../src/doctor/sightings.ts';

const HOST = 'sub.example.org';
const LAST_MS = Date.UTC(2026, 10, 20, 12);

const seen = (kind: SightingKind, subject: string, count = 2, host = HOST): SeenSighting => ({
  host,
  kind,
  subject,
  count,
  firstSeenAtMs: 0,
  lastSeenAtMs: LAST_MS,
});

test('one finding for a kind at a host, with its subjects, their counts and the last time', () => {
  const sightings = [
    seen('page_with_servers', 'trojan', 1),
    { ...seen('page_with_servers', 'vless', 7), lastSeenAtMs: LAST_MS + 1_000 },
  ];
  expect(checkSightings(sightings, [HOST])).toEqual([
    {
      name: 'panel_page_with_servers',
      subject: HOST,
      check: 'gate',
      level: 'warning',
      what: `pages of ${HOST} list servers (trojan 1 time, vless 7 times): each browser that has the address gets them without a slot; last seen 2026-11-20T12:00:01Z`,
      todo: `set browsers = "refuse" for it in gate.upstream, and reach the panel's page on a host name of its own`,
    },
  ]);
});

test('the lines to add are whole', () => {
  const todoOf = (kind: SightingKind, ...subjects: string[]) =>
    checkSightings(
      subjects.map((subject) => seen(kind, subject)),
      [HOST],
    ).map(({ todo }) => todo);
  expect(todoOf('keys_are_uuids', '/CL/{key}')[0]).toContain('key = "hiddify"');
  const dropped = todoOf('dropped_header', 'new-domain b.example', 'new-url b.example');
  expect(dropped[0]).toContain('hosts = ["b.example"]');
});

test('a panel that serves made-up keys is a problem', () => {
  expect(checkSightings([seen('stranger_served', '')], [HOST])[0]?.level).toBe('problem');
});

test('hosts of no upstream are left out', () => {
  const sightings = [
    seen('alternative_hwid', '', 1, 'old.example.org'),
    seen('alternative_hwid', ''),
  ];
  expect(checkSightings(sightings, [HOST])).toHaveLength(1);
  expect(checkSightings(sightings, [])).toEqual([]);
});
