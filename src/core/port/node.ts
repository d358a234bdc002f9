/** The part of the port that knows which processes serve the same data. */

/** A process that serves, as it tells the others of itself. */
export interface NodeFacts {
  /** Name for people; several may have the same. */
  name: string;
  /** URL that it listens on. */
  address: string;
  version: string;
  startedAtMs: number;
}

export interface NodeRecord extends NodeFacts {
  id: number;
  /** Schema that its program is made for. */
  schema: number;
  /** Latest time at which it saved that it serves, by the database's clock. */
  seenAtMs: number;
  /** Time that has passed since, ms. */
  silentMs: number;
  /** Time that the database's clock is ahead of its machine's, ms. */
  clockOffsetMs: number;
}

export interface NodeStore {
  /**
   * Names a worker of this process, by which its leases are told from those of all others. Where
   * the store knows that a process has ended, what its workers held is free within a second.
   */
  nameWorker(): Promise<string>;
  /** Notes that this process serves. A store that no other machine shares keeps nothing. */
  noteNode(node: NodeFacts): Promise<void>;
  /** Notes that this process serves no more. */
  removeNode(): Promise<void>;
  /**
   * Lists the processes that serve, in the order of names and starts; of one that was killed until
   * an hour after it was last seen. Null: no other machine shares the store.
   */
  listNodes(): Promise<NodeRecord[] | null>;
}
