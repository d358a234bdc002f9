/** The container image: layout and digests of OCI, its bytes, and (long) run in a prepared root. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Architecture, imageArchive, imageFiles } from '../../packaging/image.ts';
import { type TarEntry, tarOf } from '../../packaging/tar.ts';
import { freshFolder } from '../support/app.ts';
import { binary } from '../support/process.ts';
import { IS_LONG } from '../support/scale.ts';
import { MAY_MOUNT } from '../support/small-disk.ts';

setDefaultTimeout(300_000);

const EPOCH = 1_700_000_000;
const machine: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
const folder = freshFolder();
const executable = join(folder, 'executable');
const layout = join(folder, 'layout');
afterAll(() => rmSync(folder, { recursive: true }));

interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

const make = () => imageArchive(machine, imageFiles(machine, executable), EPOCH);
const pathOf = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'));
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const sha256 = (content: Uint8Array) =>
  `sha256:${new Bun.CryptoHasher('sha256').update(content).digest('hex')}`;

let archive: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  writeFileSync(executable, '#!/bin/sh\n');
  archive = make();
  await Bun.$`mkdir ${layout} && tar -x -C ${layout} < ${archive}`;
});

/** Reads a blob by its descriptor, which must be right. */
function blobOf({ digest, size }: Blob): Buffer {
  const content = readFileSync(pathOf(digest));
  expect([sha256(content), content.length]).toEqual([digest, size]);
  return content;
}

test('the layout of OCI: index, manifest, configuration and layer, by their digests', () => {
  expect(read(join(layout, 'oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' });
  const index = read(join(layout, 'index.json'));
  expect([index.schemaVersion, index.manifests.length]).toEqual([2, 1]);
  const manifest = JSON.parse(blobOf(index.manifests[0]).toString());
  expect([manifest.schemaVersion, manifest.layers.length]).toEqual([2, 1]);
  const types = [index.manifests[0], manifest.config, manifest.layers[0]].map(
    ({ mediaType }: Blob) => mediaType.replace('application/vnd.oci.image.', ''),
  );
  expect(types).toEqual(['manifest.v1+json', 'config.v1+json', 'layer.v1.tar+gzip']);
  const config = JSON.parse(blobOf(manifest.config).toString());
  const layer = Bun.gunzipSync(new Uint8Array(blobOf(manifest.layers[0])));
  expect(config.rootfs).toEqual({ type: 'layers', diff_ids: [sha256(layer)] });
  expect([config.os, config.architecture]).toEqual(['linux', machine]);
  expect(config.created).toBe('2023-11-14T22:13:20Z');
  expect(config.config.User).toBe('65532:65532');
  // No other blob, and the same image for a Docker that does not read the layout.
  expect(readdirSync(join(layout, 'blobs/sha256'))).toHaveLength(3);
  const [legacy] = read(join(layout, 'manifest.json'));
  expect(join(layout, legacy.Config)).toBe(pathOf(manifest.config.digest));
  expect(legacy.Layers.map((path: string) => join(layout, path))).toEqual([
    pathOf(manifest.layers[0].digest),
  ]);
});

test('the same input gives the same bytes, another executable other ones', () => {
  expect(Buffer.from(make()).equals(archive)).toBe(true);
  // Neither the moment nor the rights of the file on the building machine matter.
  writeFileSync(executable, '#!/bin/sh\n');
  chmodSync(executable, 0o700);
  expect(Buffer.from(make()).equals(archive)).toBe(true);
  writeFileSync(executable, '#!/bin/sh\nexit\n');
  expect(Buffer.from(make()).equals(archive)).toBe(false);
});

/** An archive as GNU tar lists it: rights, owner, size, time and path. */
async function listed(tar: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const words = ['tar', '--list', '--verbose', '--numeric-owner', '--full-time', '--utc'];
  const text = await Bun.$`${words} < ${tar}`.text();
  return text
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +/g, ' '));
}

test('the layer: sorted, of one time, of root but for the data', async () => {
  const lines = await listed(tarOf(imageFiles(machine, executable), EPOCH));
  const paths = lines.map((line) => line.split(' ').at(-1) as string);
  expect(paths).toEqual(paths.toSorted());
  expect(lines.filter((line) => !line.includes(' 2023-11-14 22:13:20 '))).toEqual([]);
  const strange = lines.filter((line) => !line.includes(' 0/0 '));
  expect(strange).toEqual(['drwx------ 65532/65532 0 2023-11-14 22:13:20 var/lib/gatepost/']);
  expect(lines.filter((line) => line.startsWith('-rwx')).length).toBe(2);
  expect(lines.filter((line) => /^.{5}w|^.{8}w/.test(line))).toEqual([
    'drwxrwxrwt 0/0 0 2023-11-14 22:13:20 tmp/',
  ]);
});

test('an archive of any entries is unpacked as it was', async () => {
  const entries: TarEntry[] = [0, 1, 511, 512, 513, 5000].map((bytes) => ({
    path: `a/b${bytes}/file`,
    content: Buffer.alloc(bytes, 'x'),
  }));
  const out = join(folder, 'out');
  await Bun.$`mkdir ${out} && tar -x -C ${out} < ${tarOf(entries, 1)}`;
  for (const { path, content } of entries) {
    expect(readFileSync(join(out, path)).equals(Buffer.from(content ?? ''))).toBe(true);
  }
  expect(() => tarOf([{ path: 'x'.repeat(101), content: null }], 1)).toThrow('100 bytes');
});

test('a machine without the C library is named with what to install', () => {
  const nowhere = join(folder, 'nowhere');
  expect(() => imageFiles('arm64', executable, nowhere)).toThrow('install libc6-arm64-cross');
});

const runs = IS_LONG && MAY_MOUNT && existsSync('/lib/x86_64-linux-gnu/libc.so.6');
if (IS_LONG && !runs) console.warn('A test is skipped: no image can be run on this machine.');
test.skipIf(!runs)('it runs in a root that holds nothing else (and podman loads it)', async () => {
  const path = join(folder, 'image.tar');
  writeFileSync(path, imageArchive(machine, imageFiles(machine, binary()), EPOCH));
  const script = join(import.meta.dir, '../../packaging/test/image.sh');
  const text = await Bun.$`${script} ${path}`.env({ ...process.env, TMPDIR: folder }).text();
  expect(text).toContain('ok  it is ready by its own health check');
  expect(text).toContain('ok  SIGTERM ends it');
});
