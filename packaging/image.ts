/**
 * Writes a container image as an archive in the layout of OCI, without a container engine. The
 * image holds the executable, the C library, and nothing else; it has no shell. The same executable
 * and C library give the same bytes. `docker load` (of any version) and `podman load` read it.
 *
 *   image.ts ARCHITECTURE EXECUTABLE ARCHIVE      amd64 or arm64
 *
 * | Variable | Meaning |
 * |---|---|
 * | `SOURCE_DATE_EPOCH` | the time of the image and of its files, s |
 * | `LIBRARIES` | the folder with the C library; absent: where Debian has it |
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { version } from '../package.json';
import { type TarEntry, tarOf } from './tar.ts';

const MACHINES = {
  amd64: { triplet: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  arm64: { triplet: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
} as const;
export type Architecture = keyof typeof MACHINES;

/** The libraries that the executable is linked to, and two that resolve host names. */
const LIBRARIES = [
  ...['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'],
  ...['libnss_dns.so.2', 'libresolv.so.2'],
];

/** Above 1024 and known to no host: a volume or a folder must belong to it. */
const USER = 65532;
const DATA = 'var/lib/gatepost';
const PROGRAM = 'usr/bin/gatepost';
const SECOND_NS = 1e9;

/** The configuration of a container; engines that do not know `Healthcheck` ignore it. */
export const CONTAINER = {
  User: `${USER}:${USER}`,
  ExposedPorts: { '8080/tcp': {} },
  Env: [
    'PATH=/usr/bin',
    `GATEPOST_DATA=/${DATA}`,
    // The container is the boundary: other machines reach it by the published port.
    'GATEPOST_HOST=0.0.0.0',
    'GATEPOST_PORT=8080',
  ],
  Entrypoint: [`/${PROGRAM}`],
  Cmd: ['serve'],
  Volumes: { [`/${DATA}`]: {} },
  WorkingDir: `/${DATA}`,
  StopSignal: 'SIGTERM',
  Healthcheck: {
    Test: ['CMD', `/${PROGRAM}`, 'ready'],
    Interval: 30 * SECOND_NS,
    Timeout: 5 * SECOND_NS,
    StartPeriod: 900 * SECOND_NS,
    StartInterval: 2 * SECOND_NS,
  },
} as const;

/** Returns the folder with the C library of an architecture. Throws if this machine has none. */
function librariesOf(architecture: Architecture, given: string | undefined): string {
  const { triplet } = MACHINES[architecture];
  const folders = given ? [given] : [`/lib/${triplet}`, `/usr/${triplet}/lib`];
  const folder = folders.find((path) => existsSync(join(path, 'libc.so.6')));
  if (folder !== undefined) return folder;
  throw new Error(
    `there is no C library for ${architecture} in ${folders.join(' or ')}: install ` +
      `libc6-${architecture}-cross, name its folder in LIBRARIES, or leave this image out (IMAGES)`,
  );
}

/** Returns the files of the image. */
export function imageFiles(
  architecture: Architecture,
  executable: string,
  libraries?: string,
): TarEntry[] {
  const folder = librariesOf(architecture, libraries);
  const { triplet, loader } = MACHINES[architecture];
  const text = (path: string, line: string) => ({ path, content: Buffer.from(`${line}\n`) });
  return [
    { path: PROGRAM, content: readFileSync(executable), mode: 0o755 },
    { path: loader, content: readFileSync(join(folder, basename(loader))), mode: 0o755 },
    ...LIBRARIES.map((name) => ({
      path: `lib/${triplet}/${name}`,
      content: readFileSync(join(folder, name)),
    })),
    text('etc/nsswitch.conf', 'hosts: files dns'),
    text('etc/passwd', `gatepost:x:${USER}:${USER}:Gatepost:/${DATA}:/sbin/nologin`),
    text('etc/group', `gatepost:x:${USER}:`),
    { path: 'tmp', content: null, mode: 0o1777 },
    { path: DATA, content: null, mode: 0o700, owner: USER },
  ];
}

interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

/** Returns the archive of an image of these files. */
export function imageArchive(
  architecture: Architecture,
  files: readonly TarEntry[],
  epochSeconds: number,
): Uint8Array<ArrayBuffer> {
  const created = new Date(epochSeconds * 1000).toISOString().replace('.000Z', 'Z');
  const blobs: TarEntry[] = [];
  const pathOf = (digest: string) => `blobs/${digest.replace(':', '/')}`;
  const add = (kind: string, content: Uint8Array): Blob => {
    const digest = digestOf(content);
    blobs.push({ path: pathOf(digest), content });
    return { mediaType: `application/vnd.oci.image.${kind}`, digest, size: content.length };
  };
  const layer = tarOf(files, epochSeconds);
  const packed = add('layer.v1.tar+gzip', Bun.gzipSync(layer, { level: 9 }));
  const config = add(
    'config.v1+json',
    json({
      architecture,
      os: 'linux',
      created,
      config: { ...CONTAINER, Labels: labels() },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
      history: [{ created, created_by: 'packaging/image.ts' }],
    }),
  );
  const head = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json' };
  const manifest = add('manifest.v1+json', json({ ...head, config, layers: [packed] }));
  const tag = `gatepost:${version}`;
  const named = {
    ...manifest,
    platform: { architecture, os: 'linux' },
    annotations: {
      'io.containerd.image.name': `docker.io/library/${tag}`,
      'org.opencontainers.image.ref.name': version,
    },
  };
  // Docker before version 25 reads manifest.json alone.
  const legacy = {
    Config: pathOf(config.digest),
    RepoTags: [tag],
    Layers: [pathOf(packed.digest)],
  };
  return tarOf(
    [
      ...blobs,
      { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
      { path: 'index.json', content: json({ schemaVersion: 2, manifests: [named] }) },
      { path: 'manifest.json', content: json([legacy]) },
    ],
    epochSeconds,
  );
}

function labels(): Record<string, string> {
  const label = { title: 'Gatepost', version, licenses: 'MIT' };
  return Object.fromEntries(
    Object.entries(label).map(([key, value]) => [`org.opencontainers.image.${key}`, value]),
  );
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function digestOf(content: Uint8Array): string {
  return `sha256:${new Bun.CryptoHasher('sha256').update(content).digest('hex')}`;
}

if (import.meta.main) {
  const [architecture = '', executable = '', archive = ''] = process.argv.slice(2);
  const epoch = Number(process.env['SOURCE_DATE_EPOCH']);
  if (!Object.hasOwn(MACHINES, architecture) || archive === '' || !Number.isSafeInteger(epoch)) {
    console.error('usage: SOURCE_DATE_EPOCH=… image.ts amd64|arm64 EXECUTABLE ARCHIVE');
    process.exit(2);
  }
  try {
    const machine = architecture as Architecture;
    const files = imageFiles(machine, executable, process.env['LIBRARIES']);
    writeFileSync(archive, imageArchive(machine, files, epoch));
    console.log(archive);
  } catch (error) {
    console.error(`no image is made: ${(error as Error).message}`);
    process.exit(1);
  }
}
