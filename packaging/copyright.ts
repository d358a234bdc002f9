/** Writes the copyright file of the package to stdout: the licences of all parts. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { librariesOfBun, packagesInside } from './parts.ts';

/** A text as a field of a Debian control file: indented, with dots for empty lines. */
function field(text: string): string {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? ' .' : ` ${line.trimEnd()}`))
    .join('\n');
}

async function copyright(): Promise<string> {
  const own = readFileSync(join(import.meta.dir, '../LICENSE'), 'utf8').trim();
  const packages = await packagesInside();
  const libraries = librariesOfBun()
    .map(({ name, version, license }) => `${name} ${version}: ${license}`)
    .join('\n');
  return [
    own,
    '',
    `The executable holds parts by others, each under its own licence.`,
    '',
    `== Bun ${Bun.version}: MIT`,
    field(`Copyright (c) Oven. It holds these libraries:\n\n${libraries}`),
    ...packages.flatMap(({ name, version, license, licenseText }) => [
      '',
      `== ${name} ${version}: ${license}`,
      ...(licenseText === '' ? [] : [field(licenseText)]),
    ]),
    '',
  ].join('\n');
}

process.stdout.write(await copyright());
