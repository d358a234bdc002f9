/** Nodes, the processes on a shared database: their records and their part of the port. */

/** The facts of a node. */
export interface NodeFacts {
  /** Name for people; not unique. */
  name: string;
  /** URL that it listens on. */
  address: string;
  version: string;
  startedAtMs: number;
}

export interface NodeRecord extends NodeFacts {
  id: number;
  /** Version of the schema that its program needs. */
  schema: number;
  /** Time of its last `noteNode`, by the database's clock. */
  seenAtMs: number;
  /** Time that has passed since, ms. */
  silentMs: number;
  /** Time by which the database's clock is ahead of the node's, ms. */
  clockOffsetMs: number;
}

export interface NodeStore {
  /**
   * Returns a new unique name for a worker of this process, the owner of its leases. On a store
   * that detects the end of a process, its leases are free within a second.
   */
  nameWorker(): Promise<string>;
  /** Records that this process serves. Does nothing if no other machine shares the store. */
  noteNode(node: NodeFacts): Promise<void>;
  /** Records that this process has stopped serving. */
  removeNode(): Promise<void>;
  /**
   * Lists the nodes by name and start, a killed one until an hour after it was last seen. Returns
   * null if no other machine shares the store.
   */
  listNodes(): Promise<NodeRecord[] | null>;
}
