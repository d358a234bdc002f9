/**
 * Decides when a certificate is renewed: in the window that the authority suggests (ACME Renewal
 * Information, RFC 9773), else by its lifetime.
 */

import { X509Certificate } from 'node:crypto';
import type { Certificate } from './certificate.ts';
import { askAuthority, within } from './order.ts';

/** A renewal is due when this part of the lifetime is left … */
const LEFT = 1 / 3;
/** … or up to this part earlier, so that many servers do not renew at once. */
const JITTER = 1 / 20;
/** A suggested time is capped at this part of the lifetime before the end. */
const LEFT_LEAST = 1 / 10;
/** Bounds of the pause between questions, ms; within them the authority chooses (section 4.3). */
const PAUSE_MIN_MS = 60_000;
const PAUSE_MAX_MS = 86_400_000;
const PAUSE_MS = 6 * 3_600_000;
/** The time limit of a question, ms. */
const QUESTION_TIME_MAX_MS = 120_000;
/** The pause after a question without an answer, ms. */
const FAILED_PAUSE_MS = 3_600_000;

/** Returns a number from 0 to 1 that is the same for every process with this certificate. */
const partOf = ({ fingerprint }: Certificate) =>
  Number.parseInt(fingerprint.slice(0, 8), 16) / 0x1_0000_0000;

/** Returns when a certificate is due by its lifetime, UTC ms. */
export function renewalTimeMs(certificate: Certificate): number {
  const { startsAtMs, expiresAtMs } = certificate;
  const lifeMs = expiresAtMs - startsAtMs;
  return Math.round(expiresAtMs - lifeMs * (LEFT + JITTER * partOf(certificate)));
}

/** The authority's suggestion for a certificate. */
interface Suggestion {
  fingerprint: string;
  /** When it is due, UTC ms; null: by its lifetime. */
  dueAtMs: number | null;
  askedAtMs: number;
  askAgainMs: number;
}

export class Renewal {
  #last: Suggestion | null = null;

  constructor(
    private readonly directory: string,
    private readonly timeMaxMs: number = QUESTION_TIME_MAX_MS,
  ) {}

  /** Asks the authority if a question is due. Returns when the certificate is due, UTC ms. */
  async dueAtMs(certificate: Certificate, nowMs: number): Promise<number> {
    const { fingerprint } = certificate;
    const known = this.#last?.fingerprint === fingerprint ? this.#last : null;
    const isFresh = known !== null && nowMs >= known.askedAtMs && nowMs < known.askAgainMs;
    this.#last = isFresh
      ? known
      : { ...(await this.#ask(certificate, nowMs, known?.dueAtMs ?? null)), askedAtMs: nowMs };
    return this.#last.dueAtMs ?? renewalTimeMs(certificate);
  }

  #read(url: string): ReturnType<typeof askAuthority> {
    return within(this.timeMaxMs, askAuthority(url));
  }

  async #ask(
    certificate: Certificate,
    nowMs: number,
    knownMs: number | null,
  ): Promise<Omit<Suggestion, 'askedAtMs'>> {
    const { expiresAtMs, fingerprint, startsAtMs } = certificate;
    const id = renewalId(certificate);
    try {
      const { renewalInfo } = (await this.#read(this.directory)).body;
      if (id === null || typeof renewalInfo !== 'string') {
        return { fingerprint, dueAtMs: null, askAgainMs: nowMs + PAUSE_MAX_MS };
      }
      const { body, headers } = await this.#read(`${renewalInfo.replace(/\/$/, '')}/${id}`);
      const [startMs, endMs] = windowIn(body);
      const latestMs = expiresAtMs - (expiresAtMs - startsAtMs) * LEFT_LEAST;
      const suggestedMs = Math.round(startMs + (endMs - startMs) * partOf(certificate));
      const dueAtMs = Math.min(suggestedMs, latestMs);
      return { fingerprint, dueAtMs, askAgainMs: nowMs + pauseIn(headers['retry-after']) };
    } catch {
      // The last suggested window still applies (section 4.3).
      return { fingerprint, dueAtMs: knownMs, askAgainMs: nowMs + FAILED_PAUSE_MS };
    }
  }
}

/** Reads the window. Throws if it is invalid. */
function windowIn({ suggestedWindow }: Record<string, unknown>): [startMs: number, endMs: number] {
  const { start, end } = suggestedWindow as Record<string, unknown>;
  const [startMs, endMs] = [Date.parse(String(start)), Date.parse(String(end))];
  if (!(startMs < endMs)) throw new RangeError('the suggested window ends before it begins');
  return [startMs, endMs];
}

function pauseIn(retryAfter: unknown): number {
  const seconds = Number(retryAfter);
  const wishedMs = seconds > 0 ? seconds * 1_000 : PAUSE_MS;
  return Math.min(Math.max(wishedMs, PAUSE_MIN_MS), PAUSE_MAX_MS);
}

/** DER of the extension's name 2.5.29.35, authorityKeyIdentifier. */
const KEY_IDENTIFIER_OID = Buffer.from('0603551d23', 'hex');

/**
 * Returns the identifier of a certificate for its authority (RFC 9773, section 4.1): the key
 * identifier of the authority and the serial number, both in base64url; null: it has no such key
 * identifier.
 */
export function renewalId({ cert }: Pick<Certificate, 'cert'>): string | null {
  const leaf = new X509Certificate(cert);
  const keyId = keyIdentifierIn(leaf.raw);
  if (keyId === null) return null;
  const digits = leaf.serialNumber;
  const serial = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  // A positive integer of DER begins with a zero bit.
  const signed = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${keyId.toString('base64url')}.${signed.toString('base64url')}`;
}

/** Finds `[0] keyIdentifier` at the head of the extension; all lengths there are below 128. */
function keyIdentifierIn(der: Buffer): Buffer | null {
  const at = der.indexOf(KEY_IDENTIFIER_OID);
  if (at < 0) return null;
  // OCTET STRING { SEQUENCE { [0] … } }
  const head = der.subarray(at + KEY_IDENTIFIER_OID.length);
  const isForm = head[0] === 0x04 && head[2] === 0x30 && head[4] === 0x80;
  const length = head[5] ?? 0;
  return isForm && length > 0 && length < 0x80 ? head.subarray(6, 6 + length) : null;
}
