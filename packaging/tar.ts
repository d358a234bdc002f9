/** Writes tar archives (ustar) that depend on nothing but their entries and one time. */

/** A file, or a folder where `content` is null. */
export interface TarEntry {
  /** Relative, without a slash at its end; 100 bytes at most. */
  path: string;
  content: Uint8Array | null;
  /** Permissions; absent: 755 for folders, 644 for files. */
  mode?: number;
  /** The number of user and group; absent: 0. */
  owner?: number;
}

const BLOCK_BYTES = 512;
/** ustar keeps sizes as eleven octal digits. */
const FILE_BYTES_MAX = 8 ** 11 - 1;

/** Returns the archive: entries by path, with the folders above them, all of one time. */
export function tarOf(entries: readonly TarEntry[], epochSeconds: number): Uint8Array<ArrayBuffer> {
  const blocks = withFolders(entries).flatMap((entry) => {
    const content = entry.content ?? new Uint8Array();
    const rest = (BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES;
    return [headOf(entry, content.length, epochSeconds), content, new Uint8Array(rest)];
  });
  return new Uint8Array(Buffer.concat([...blocks, new Uint8Array(2 * BLOCK_BYTES)]));
}

/** Adds the folders that are not named; sorts, so that a folder precedes its content. */
function withFolders(entries: readonly TarEntry[]): TarEntry[] {
  const byPath = new Map<string, TarEntry>();
  for (const { path } of entries) {
    const parts = path.split('/');
    for (let length = 1; length < parts.length; length += 1) {
      const folder = parts.slice(0, length).join('/');
      byPath.set(folder, { path: folder, content: null });
    }
  }
  for (const entry of entries) byPath.set(entry.path, entry);
  return [...byPath.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

function headOf(entry: TarEntry, bytes: number, epochSeconds: number): Uint8Array {
  const { path, content, owner = 0 } = entry;
  const isFolder = content === null;
  const name = Buffer.from(isFolder ? `${path}/` : path);
  if (name.length > 100 || bytes > FILE_BYTES_MAX) {
    throw new RangeError(`${path} has a path of more than 100 bytes, or more than 8 GiB`);
  }
  const head = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number, at: number) =>
    head.write(value.toString(8).padStart(digits, '0'), at);
  name.copy(head);
  octal(entry.mode ?? (isFolder ? 0o755 : 0o644), 7, 100);
  octal(owner, 7, 108);
  octal(owner, 7, 116);
  octal(bytes, 11, 124);
  octal(epochSeconds, 11, 136);
  head.write(isFolder ? '5' : '0', 156);
  head.write('ustar\u000000', 257);
  // The sum of all bytes, its own field counted as blanks.
  head.fill(' ', 148, 156);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return head;
}
