/** Stores of one text: in a file, and in a browser. */

import type { Store } from './state.ts';

/** Returns a store in a file, for Node, Bun and Deno. Throws in a browser. */
export function fileStore(path: string): Store {
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  if (fs === undefined) throw new Error('This runtime has no files: use another store.');
  return {
    read: () => (fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : null),
    write(text) {
      // The token in it reads the messages of the device.
      const file = fs.openSync(`${path}.new`, 'w', 0o600);
      try {
        fs.writeFileSync(file, text);
        fs.fsyncSync(file);
      } finally {
        fs.closeSync(file);
      }
      fs.renameSync(`${path}.new`, path);
    },
  };
}

/** Returns a store in `localStorage` of a browser. */
export const browserStore = (key: string): Store => ({
  read: () => localStorage.getItem(key),
  write: (text) => localStorage.setItem(key, text),
});
