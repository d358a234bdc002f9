/** The bill of materials: valid, complete, and the same each time. */

import { expect, test } from 'bun:test';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import packageJson from '../../package.json';
import { packagesInside } from '../../packaging/parts.ts';
import { billOfMaterials } from '../../packaging/sbom.ts';
import { committedFiles, importsOf } from '../support/tree.ts';

const date = new Date('2026-11-20T00:00:00Z');
const bill = () => billOfMaterials('1.2.3', date);

test('it is valid CycloneDX 1.6', async () => {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(await bill())).toBeNull();
});

test('the same sources give the same bytes', async () => {
  expect(await bill()).toBe(await bill());
});

test('every package that the sources import is in it, with version, licence and checksum', async () => {
  const inside = await packagesInside();
  const versions = Object.fromEntries(inside.map(({ name, version }) => [name, version]));
  const imported = committedFiles()
    .filter((path) => path.startsWith('src/') && path.endsWith('.ts'))
    .flatMap(importsOf)
    .filter(({ file, isTypeOnly }) => file === null && !isTypeOnly)
    .map(({ specifier }) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '')
    .filter((name) => !/^(?:node|bun):/.test(name));
  const pinned: Record<string, string> = packageJson.dependencies;
  for (const name of new Set(imported)) {
    expect(`${name} ${versions[name]}`).toBe(`${name} ${pinned[name]}`);
  }
  expect(inside.filter((part) => !/^[0-9a-f]{128}$/.test(part.sha512))).toEqual([]);
  expect(inside.filter((part) => part.license === '')).toEqual([]);
  for (const tool of ['typescript', '@biomejs/biome', 'fast-check', 'drizzle-kit', 'bun-types']) {
    expect(versions[tool]).toBeUndefined();
  }
});

test('the runtime is in it, with the libraries that it holds', async () => {
  const { components } = JSON.parse(await bill());
  const bun = components.find(({ name }: { name: string }) => name === 'bun');
  expect(bun.version).toBe(packageJson.devDependencies.bun);
  const names = bun.components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['boringssl', 'sqlite', 'webkit', 'zlib']));
});
