/** The parts of the executable: the packages with code in it, and Bun. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');

export interface Part {
  name: string;
  version: string;
  /** An SPDX expression, as the package states it. */
  license: string;
  /** The licence and notices that the package comes with; empty: it comes with none. */
  licenseText: string;
  /** SHA-512 of the archive in the registry, hexadecimal, from bun.lock. */
  sha512: string;
}

/** The packages with code in a bundle, by their folders. */
async function packagesIn(source: string, target: 'bun' | 'browser'): Promise<string[]> {
  const built = await Bun.build({
    entrypoints: [join(ROOT, source)],
    target,
    minify: { syntax: true },
    metafile: true,
  });
  if (!built.metafile) throw new Error('the bundler said nothing of what it bundled');
  return Object.values(built.metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [/^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? ''] : [],
    ),
  );
}

/** The npm packages in the executable, the page of the console included, sorted by name. */
export async function packagesInside(): Promise<Part[]> {
  const used = [
    ...(await packagesIn('src/main.ts', 'bun')),
    ...(await packagesIn('src/console/app.tsx', 'browser')),
  ];
  const folders = [...new Set(used)].filter((folder) => folder !== '');
  const lock = readFileSync(join(ROOT, 'bun.lock'), 'utf8');
  return folders
    .map((folder) => partIn(join(ROOT, folder), lock))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function partIn(folder: string, lock: string): Part {
  const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version, license } = facts as Record<string, unknown>;
  if (typeof name !== 'string' || typeof version !== 'string' || typeof license !== 'string') {
    throw new Error(`${folder}/package.json lacks its name, version or licence`);
  }
  const line = lock.split('\n').find((text) => text.includes(`: ["${name}@${version}",`));
  const base64 = /"sha512-([A-Za-z0-9+/=]+)"/.exec(line ?? '')?.[1];
  if (base64 === undefined) throw new Error(`bun.lock has no checksum of ${name}@${version}`);
  const sha512 = Buffer.from(base64, 'base64').toString('hex');
  return { name, version, license, licenseText: licenseIn(folder), sha512 };
}

function licenseIn(folder: string): string {
  const names = readdirSync(folder).filter((name) =>
    /^(?:licen[cs]e|notice)(?:\.\w+)?$/i.test(name),
  );
  return names
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())
    .join('\n\n');
}

/**
 * The parts of the runtime with versions of their own, as Bun names them, and the licences that
 * Bun's LICENSE.md and the parts themselves state. `LicenseRef`: several, in a file of the part.
 */
const RUNTIME_LICENSES: Readonly<Record<string, string>> = {
  ares: 'MIT',
  boringssl: 'LicenseRef-BoringSSL',
  icu: 'Unicode-3.0',
  libarchive: 'LicenseRef-libarchive',
  libdeflate: 'MIT',
  llhttp: 'MIT',
  lolhtml: 'BSD-3-Clause',
  lshpack: 'MIT',
  mimalloc: 'MIT',
  picohttpparser: 'MIT OR Artistic-1.0-Perl',
  sqlite: 'blessing',
  tinycc: 'LGPL-2.1-only',
  usockets: 'Apache-2.0',
  uwebsockets: 'Apache-2.0',
  webkit: 'LGPL-2.0-or-later AND BSD-2-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause OR GPL-2.0-only',
};

/** The libraries inside Bun, of which the executable holds a copy: name, version, licence. */
export function librariesOfBun(): Pick<Part, 'name' | 'version' | 'license'>[] {
  return Object.entries(RUNTIME_LICENSES).flatMap(([name, license]) => {
    const version = process.versions[name];
    return version === undefined ? [] : [{ name, version, license }];
  });
}
