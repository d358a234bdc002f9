/**
 * Asks the panel behind `/gate` for the user of a key before a new device takes a slot, because
 * `/gate` sees no response of the panel. A key without a user, a token from before its user was
 * made, and a revoked token are refused. While the API is away, the device is admitted.
 */

import type { Clock } from '../../base/clock.ts';
import type { Core } from '../../core/core.ts';
import type { SignedToken } from '../../core/key-path.ts';
import { isStatusOfPanel, type PanelApiUser, Silent } from '../../core/panel/api.ts';
import { isProvedBy } from '../../core/panel/proof.ts';
import { panelApiUser } from '../../core/panel/user.ts';
import { subscriptionKeyHash } from '../../core/secret.ts';
import { type PanelApi, type Parts, remember } from './panel-api.ts';
import { type PanelApis, perApi } from './panel-apis.ts';
import type { PanelSource } from './panel-source.ts';

interface Deps {
  core: Core;
  clock: Clock;
  apis: PanelApis;
}

/** A key in a request, with the token that the panel signed for it; null: a plain key. */
interface EntryKey {
  key: string;
  token: SignedToken | null;
}

/** The time for which the answers about a link hold, ms. */
const HOLDS_MS = 3_600_000;
/** The most tokens of a link that are asked about in that time. */
const TOKENS_MAX = 16;

/** The answers of the API about a user. Tokens are distinguished by their times alone. */
interface Said {
  askedAtMs: number;
  /** The time of the first question, by the wall clock. */
  sinceMs: number;
  asked: number;
  isGone: boolean;
  /** Tokens from this time on are valid. */
  validFromMs: number;
  /** Tokens up to this time are not. */
  endedUntilMs: number;
}

const NOTHING: Omit<Said, 'askedAtMs' | 'sinceMs'> = {
  asked: 0,
  isGone: false,
  validFromMs: Number.POSITIVE_INFINITY,
  endedUntilMs: Number.NEGATIVE_INFINITY,
};

/** Decides about a token by what is known; null: it must be asked about. */
function decide({ isGone, validFromMs, endedUntilMs, sinceMs }: Said, token: SignedToken | null) {
  if (token === null) return !isGone;
  const { signedAtMs } = token;
  // Its user was made since.
  if (isGone) return signedAtMs > sinceMs ? null : false;
  if (signedAtMs >= validFromMs) return true;
  return signedAtMs <= endedUntilMs ? false : null;
}

interface Memory {
  api: PanelApi;
  /** The answers by key, the oldest first. */
  said: Map<string, Said>;
  /** Questions in flight, by key and time of the token. */
  asking: Map<string, Promise<boolean>>;
}

export class PanelEntry {
  readonly #memory = perApi((api): Memory => ({ api, said: new Map(), asking: new Map() }));

  constructor(private readonly deps: Deps) {}

  /** Returns whether a new device may take a slot on the link of a key. */
  async admits(source: PanelSource, providerId: number, entry: EntryKey): Promise<boolean> {
    const { clock, core, apis } = this.deps;
    const { key, token } = entry;
    const memory = this.#memory(apis.of(source));
    const before = memory.said.get(key);
    const isFresh = before !== undefined && clock.steadyMs() - before.askedAtMs < HOLDS_MS;
    const known = isFresh ? decide(before, token) : null;
    if (known !== null) return known;
    const name = `${key}\n${token?.signedAtMs}`;
    const begun = memory.asking.get(name);
    if (begun !== undefined) return begun;
    if (!memory.api.isReady() || (isFresh && before.asked >= TOKENS_MAX)) return true;
    // The signature of the panel proves a token.
    if (token === null) {
      const link = await core.store.findTiedLink(providerId, subscriptionKeyHash(key));
      if (link === null || !isProvedBy(source.panel, link)) return true;
    }
    const nowMs = { askedAtMs: clock.steadyMs(), sinceMs: clock.nowMs() };
    const said = isFresh ? before : { ...NOTHING, ...nowMs };
    const asked = this.#ask(memory, entry, said).finally(() => memory.asking.delete(name));
    memory.asking.set(name, asked);
    return asked;
  }

  async #ask({ api, said }: Memory, { key, token }: EntryKey, before: Said): Promise<boolean> {
    try {
      const { panel } = api.source;
      const { user, isValid } = await api.ask(async (parts) => {
        const found = await panelApiUser(panel, key, parts.ask);
        return { user: found, isValid: found !== null && (await isTokenOf(found, token, parts)) };
      });
      const isGone = user === null;
      const after = { ...before, asked: before.asked + 1, isGone };
      const { signedAtMs } = token ?? { signedAtMs: Number.NEGATIVE_INFINITY };
      if (isValid) after.validFromMs = Math.min(before.validFromMs, signedAtMs);
      else if (!isGone) after.endedUntilMs = Math.max(before.endedUntilMs, signedAtMs);
      remember(said, key, after);
      return isValid;
    } catch (fault) {
      if (!(fault instanceof Silent)) throw fault;
      const isAdmitted = { ...before, asked: before.asked + 1 };
      if (!fault.isOfPanel) remember(said, key, isAdmitted);
      return true;
    }
  }
}

/**
 * Returns whether the panel takes a token for its user. The API does not say when the tokens of a
 * user were revoked, so the panel is asked for the token itself, at the address that it gives to a
 * new one. Throws {@link Silent} if it does not take that one either.
 */
async function isTokenOf(
  { createdAtMs, subscriptionUrl }: PanelApiUser,
  token: SignedToken | null,
  { statusOf }: Parts,
): Promise<boolean> {
  if (token === null) return true;
  if (createdAtMs !== null && createdAtMs > token.signedAtMs) return false;
  const fresh = URL.parse(subscriptionUrl, 'http://localhost')?.pathname ?? '';
  const infoOf = (path: string) => statusOf(`${path}/info`);
  const folder = fresh.slice(0, fresh.lastIndexOf('/'));
  const status = await infoOf(`${folder}/${token.text}`);
  if (status === 200) return true;
  if (status !== 404) throw new Silent(`API_${status}`, isStatusOfPanel(status));
  // A server that does not pass this address on to the panel answers 404 to each token.
  if ((await infoOf(fresh)) !== 200) throw new Silent('API_INFO');
  return false;
}
