/** The summary of an import. */

const PROBLEMS_MAX = 20;

/** Counts the outcomes of an import while it runs. */
export class Tally {
  /** Links that were listed, and links that were processed. */
  linksListed = 0;
  linksDone = 0;
  links = { added: 0, present: 0, different: 0, updated: 0 };
  domains = { added: 0, present: 0, different: 0, updated: 0 };
  slots = { added: 0, present: 0, withoutRoom: 0 };
  /**
   * Links whose code another provider has, that were removed here, that exceed the cap, or that the
   * source has removed.
   */
  codesTaken = 0;
  codesEnded = 0;
  overCap = 0;
  vanished = 0;
  /** Bindings beyond the cap. */
  domainsOverCap = 0;
  /** Links whose HWIDs the source refused to list; another import may read them. */
  refused = 0;
  /** Malformed records, and records whose texts or times were corrected. */
  unusable = 0;
  mended = 0;
  /** Links and bindings that could not keep their id. */
  newIds = 0;
  /** The lowest listed id if the source lists no older ones; null: it listed all. */
  linksEndAtId: number | null = null;
  domainsEndAtId: number | null = null;
  /** Unfinished distributions of the source; null: not asked or refused. */
  distributionsWaiting: number | null = null;
  /** The first problems as sentences. */
  readonly problems: string[] = [];

  /** Adds a problem. */
  problem(text: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(text);
  }
}
