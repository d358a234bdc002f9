/** Runs `bun test` and ends with one line that people and machines read the same way. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'gatepost-test-'));
const report = join(folder, 'report.xml');
const run = Bun.spawnSync(
  [
    process.execPath,
    'test',
    '--reporter=junit',
    `--reporter-outfile=${report}`,
    ...process.argv.slice(2),
  ],
  { stdout: 'inherit', stderr: 'inherit' },
);

const total = /<testsuites [^>]*>/.exec(readReport())?.[0] ?? '';
const count = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(total)?.[1] ?? 0);
const failed = count('failures') + count('errors');
const skipped = count('skipped');
const passed = count('tests') - failed - skipped;
rmSync(folder, { recursive: true });

// A crash before the first test is a failure, even if no test says so.
const isBroken = run.exitCode !== 0 && failed === 0;
console.log(
  `${passed} passed, ${failed + (isBroken ? 1 : 0)} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
);
process.exitCode = run.exitCode === 0 && passed > 0 ? 0 : 1;

function readReport(): string {
  try {
    return readFileSync(report, 'utf8');
  } catch {
    return '';
  }
}
