/** Nodes: none are kept, as the database is a file of this machine. */

import type { NodeStore } from '../../core/port/node.ts';

export function nodeStore(): NodeStore {
  return {
    noteNode: async () => undefined,
    removeNode: async () => undefined,
    listNodes: async () => null,
  };
}
