/** What came to a service: counted by receiver and id, the latest kept whole. */

/** A request with what became of it. */
export interface Visit {
  atMs: number;
  to: string | null;
  id: string | null;
  content: unknown;
  headers: Readonly<Record<string, string>>;
  /** As it came, base64. */
  body: string;
  path: string;
  protocol: 'h1' | 'h2';
  connection: number;
  /** Status of the answer, or the misdeed. */
  answer: string;
  delivered: boolean;
}

export interface Totals {
  requests: number;
  /** Requests by status of the answer, or by misdeed. */
  answers: Record<string, number>;
  /** Receivers that got something, pairs of receiver and id, and deliveries. */
  receivers: number;
  pairs: number;
  deliveries: number;
  /** Connections since the start, and those that are open. */
  connections: number;
  open: number;
  /** Requests that are under way, and the most that ever were. */
  underWay: number;
  inFlightMax: number;
  protocols: Record<string, number>;
  /** Time of the first and of the last delivery, ms since 1970. */
  firstAtMs: number | null;
  lastAtMs: number | null;
  /** Time of each thousandth pair, ms since 1970. */
  thousandthsAtMs: number[];
  /** Breaches of the protocol, the first hundred. */
  violations: string[];
  violationCount: number;
}

const VISITS_MAX = 2_000;
const VIOLATIONS_MAX = 100;

export class Ledger {
  /** How many visits are kept whole. */
  keep = VISITS_MAX;
  connections = 0;
  open = 0;
  #visits: Visit[] = [];
  #counts = new Map<string, Map<string, number>>();
  #answers: Record<string, number> = {};
  #protocols: Record<string, number> = {};
  #violations: string[] = [];
  #violationCount = 0;
  #underWay = 0;
  #inFlightMax = 0;
  #requests = 0;
  #deliveries = 0;
  #pairs = 0;
  #thousandthsAtMs: number[] = [];
  #firstAtMs: number | null = null;
  #lastAtMs: number | null = null;

  begin(): void {
    this.#underWay += 1;
    this.#inFlightMax = Math.max(this.#inFlightMax, this.#underWay);
  }

  end(): void {
    this.#underWay -= 1;
  }

  violate(why: string): void {
    this.#violationCount += 1;
    if (this.#violations.length < VIOLATIONS_MAX) this.#violations.push(why);
  }

  note(visit: () => Visit, brief: Pick<Visit, 'to' | 'id' | 'answer' | 'delivered' | 'protocol'>) {
    const { to, id, answer, delivered, protocol } = brief;
    this.#requests += 1;
    this.#answers[answer] = (this.#answers[answer] ?? 0) + 1;
    this.#protocols[protocol] = (this.#protocols[protocol] ?? 0) + 1;
    if (delivered && to !== null) {
      const ids = this.#counts.get(to) ?? new Map<string, number>();
      const before = ids.get(id ?? '') ?? 0;
      this.#counts.set(to, ids.set(id ?? '', before + 1));
      if (before === 0) this.#pairs += 1;
      if (before === 0 && this.#pairs % 1000 === 0) this.#thousandthsAtMs.push(Date.now());
      this.#deliveries += 1;
      this.#firstAtMs ??= Date.now();
      this.#lastAtMs = Date.now();
    }
    if (this.keep === 0) return;
    this.#visits.push(visit());
    if (this.#visits.length > this.keep) this.#visits.shift();
  }

  totals(): Totals {
    return {
      requests: this.#requests,
      answers: this.#answers,
      receivers: this.#counts.size,
      pairs: this.#pairs,
      deliveries: this.#deliveries,
      connections: this.connections,
      open: this.open,
      underWay: this.#underWay,
      inFlightMax: this.#inFlightMax,
      protocols: this.#protocols,
      firstAtMs: this.#firstAtMs,
      lastAtMs: this.#lastAtMs,
      thousandthsAtMs: this.#thousandthsAtMs,
      violations: this.#violations,
      violationCount: this.#violationCount,
    };
  }

  visits(): Visit[] {
    return this.#visits;
  }

  /** Every delivery: receiver, id, how often. */
  deliveries(): [to: string, id: string, count: number][] {
    return [...this.#counts].flatMap(([to, ids]) =>
      [...ids].map(([id, count]): [string, string, number] => [to, id, count]),
    );
  }

  forget(): void {
    this.#visits = [];
    this.#counts.clear();
    this.#answers = {};
    this.#protocols = {};
    this.#violations = [];
    this.#violationCount = 0;
    this.#requests = 0;
    this.#deliveries = 0;
    this.#pairs = 0;
    this.#thousandthsAtMs = [];
    this.#inFlightMax = this.#underWay;
    this.#firstAtMs = null;
    this.#lastAtMs = null;
  }
}
