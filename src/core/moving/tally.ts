/** The figures of an import's summary. */

const PROBLEMS_MAX = 20;

/** Counts of what became of everything, up to date while an import runs. */
export class Tally {
  /** Links known of so far, and how many of them have been dealt with. */
  linksListed = 0;
  linksDone = 0;
  links = { added: 0, present: 0, different: 0, updated: 0 };
  domains = { added: 0, present: 0, different: 0, updated: 0 };
  slots = { added: 0, present: 0, withoutRoom: 0 };
  /** Links whose code is another provider's here, beyond the cap, or gone from the source. */
  codesTaken = 0;
  overCap = 0;
  vanished = 0;
  /** Bindings beyond the cap. */
  domainsOverCap = 0;
  /** Links whose HWIDs the source did not tell: another attempt may bring them. */
  refused = 0;
  /** Records that cannot be kept as they are, and ones whose texts or times were made fit. */
  unusable = 0;
  mended = 0;
  /** Links and bindings that could not keep their id. */
  newIds = 0;
  /** The lowest ids that the source listed when it lists no further back; null: it listed all. */
  linksEndAtId: number | null = null;
  domainsEndAtId: number | null = null;
  /** Distributions that wait or are in delivery at the source; null: not asked or not told. */
  distributionsWaiting: number | null = null;
  /** The first of what went wrong, in words. */
  readonly problems: string[] = [];

  problem(text: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(text);
  }
}
