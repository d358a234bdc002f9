/**
 * Writes the software bill of materials (CycloneDX 1.6, JSON) to stdout. The same sources give the
 * same bytes. Usage: sbom.ts VERSION DATE
 */

import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { librariesOfBun, packagesInside } from './parts.ts';

/** The bill for a version; `date` is that of its commit. */
export async function billOfMaterials(version: string, date: Date): Promise<string> {
  const { Application, Framework, Library } = Enums.ComponentType;
  const program = component(Application, { name: 'gatepost', version, license: 'MIT' });
  const bun = component(Framework, { name: 'bun', version: Bun.version, license: 'MIT' });
  bun.purl = `pkg:npm/bun@${Bun.version}`;
  for (const library of librariesOfBun()) {
    const inside = component(Library, library);
    inside.bomRef.value = `bun/${library.name}@${library.version}`;
    bun.components.add(inside);
  }
  const bill = new Models.Bom({ version: 1 });
  bill.metadata.component = program;
  bill.metadata.timestamp = date;
  bill.components.add(bun);
  program.dependencies.add(bun.bomRef);
  for (const part of await packagesInside()) {
    const library = component(Library, part);
    library.purl = `pkg:npm/${part.name.replace('@', '%40')}@${part.version}`;
    library.hashes.set(Enums.HashAlgorithm['SHA-512'], part.sha512);
    bill.components.add(library);
    program.dependencies.add(library.bomRef);
  }
  const normalizer = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return new Serialize.JsonSerializer(normalizer).serialize(bill, { sortLists: true, space: 2 });
}

function component(
  type: Enums.ComponentType,
  { name, version, license }: { name: string; version: string; license: string },
): Models.Component {
  const made = new Models.Component(type, name, { version });
  made.bomRef.value = `${name}@${version}`;
  const isOne = /^[\w.-]+$/.test(license);
  made.licenses.add(
    isOne ? new Models.SpdxLicense(license) : new Models.LicenseExpression(license),
  );
  return made;
}

if (import.meta.main) {
  const [version, date] = process.argv.slice(2);
  if (version === undefined || date === undefined) throw new Error('usage: sbom.ts VERSION DATE');
  process.stdout.write(`${await billOfMaterials(version, new Date(date))}\n`);
}
