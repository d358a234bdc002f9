/**
 * Limits questions at the public address to one an hour where no person asks, as from a timer: the
 * findings of the last time stand meanwhile, so that none seems over.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../base/finding.ts';
import { giveToOwnerOfFolder } from '../base/permissions.ts';

const FILE = 'gatepost.outside';
const HOUR_MS = 3_600_000;

/** Returns the findings of the last hour in `dataDir`, else asks and keeps them there. */
export async function atMostHourly(
  dataDir: string,
  nowMs: number,
  ask: () => Promise<Finding[]>,
): Promise<Finding[]> {
  const path = join(dataDir, FILE);
  const kept = keptIn(path);
  if (kept !== null && Math.abs(nowMs - kept.atMs) < HOUR_MS) return kept.findings;
  const findings = await ask();
  try {
    writeFileSync(path, JSON.stringify({ atMs: nowMs, findings }), { mode: 0o600 });
    giveToOwnerOfFolder(path);
  } catch {
    // On a full or read-only disk, which another check reports.
  }
  return findings;
}

function keptIn(path: string): { atMs: number; findings: Finding[] } | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
