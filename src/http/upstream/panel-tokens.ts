/**
 * Tokens for the APIs of panels: from a file, or by signing in with the account in a file. A token
 * that ends is renewed before. After a refused sign-in the account is tried again only once its
 * file changed: panels ban who tries on, and Marzban sends the password to its admin's chat.
 */

import type { Clock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { secretIn } from '../../base/permissions.ts';
import { readAccessHeaders } from '../../core/panel/access-headers.ts';
import { type PanelAccount, readAccount, tokenEndMs } from '../../core/panel/account.ts';
import { Silent } from '../../core/panel/api.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { UpstreamClient } from './client.ts';
import { callPanel } from './panel-call.ts';
import type { PanelSource } from './panel-source.ts';
import { notesIn, type SignInNotes } from './sign-in-notes.ts';

interface Deps {
  clock: Clock;
  /** Returns the secret in a file of the settings; null: there is none. */
  secretOf(file: string): string | null;
  notes: SignInNotes;
}

/** The code of a sign-in that the panel refused, now or before. */
export const SIGN_IN_REFUSED = 'SIGN_IN_REFUSED';
/** The code of a file without an account. */
const NO_ACCOUNT = 'NO_ACCOUNT';

/** The time of a sign-in, ms: panels hash passwords slowly. */
const SIGN_IN_MAX_MS = 10_000;
/** The pause after a sign-in that no server answered, ms. */
const PAUSE_MS = 60_000;
/** The pause after one that was answered, ms: panels may tell their admins of each. */
const ANSWERED_PAUSE_MS = 600_000;
/** A token is renewed after this part of its life. */
const RENEWED_AFTER = 0.8;
/** The longest life that is believed, ms: a longer one is renewed when the panel refuses it. */
const LIFE_MAX_MS = 30 * 86_400_000;
/** The most accounts in memory: more than the settings may name. */
const ACCOUNTS_MAX = 128;

interface Account {
  token: string | null;
  /** Steady times, ms. */
  renewAtMs: number;
  notBeforeMs: number;
  /** The code of the last failure. */
  code: string;
  signingIn: Promise<string> | null;
}

export class PanelTokens {
  readonly #accounts = new Map<string, Account>();

  constructor(private readonly deps: Deps) {}

  /** Returns whether the settings give a token, or an account for one. */
  has({ accountFile, tokenFile }: PanelSource): boolean {
    return accountFile !== '' || this.deps.secretOf(tokenFile) !== null;
  }

  /** Returns the headers for an access gateway in front of an API. */
  accessOf({ headersFile }: PanelSource): Readonly<Record<string, string>> {
    return readAccessHeaders(this.deps.secretOf(headersFile) ?? '') ?? {};
  }

  /** Returns the token for an API. Throws {@link Silent} if there is none now. */
  async of(source: PanelSource): Promise<string> {
    const { clock, secretOf } = this.deps;
    if (source.accountFile === '') {
      const token = secretOf(source.tokenFile);
      if (token === null) throw new Silent(NO_ACCOUNT, true);
      return token;
    }
    const account = this.#accountOf(source);
    const { token } = account;
    if (token !== null && clock.steadyMs() < account.renewAtMs) return token;
    account.signingIn ??= this.#signIn(source, account).finally(() => {
      account.signingIn = null;
    });
    if (token === null) return account.signingIn;
    // The old token does until then.
    account.signingIn.catch(() => {});
    return token;
  }

  /**
   * Notes that the API refused a token. Returns true if another one may be had at once: the token
   * of an account, which the panel may have ended.
   */
  refused(source: PanelSource, token: string): boolean {
    if (source.accountFile === '') return false;
    const account = this.#accountOf(source);
    if (account.token !== token) return account.token !== null;
    account.token = null;
    return this.deps.clock.steadyMs() >= account.notBeforeMs;
  }

  #accountOf({ accountFile, url }: PanelSource): Account {
    const name = `${accountFile}\n${url}`;
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    if (this.#accounts.size >= ACCOUNTS_MAX) this.#accounts.clear();
    const none = Number.NEGATIVE_INFINITY;
    const account = { token: null, renewAtMs: none, notBeforeMs: none, code: '', signingIn: null };
    this.#accounts.set(name, account);
    return account;
  }

  async #signIn(source: PanelSource, account: Account): Promise<string> {
    const { clock, notes } = this.deps;
    const { accountFile, url } = source;
    if (notes.isRefused(accountFile, url)) throw new Silent(SIGN_IN_REFUSED, true);
    // A file that changed after a refusal is tried at once.
    if (account.code !== SIGN_IN_REFUSED && clock.steadyMs() < account.notBeforeMs) {
      throw new Silent(account.code, true);
    }
    const fail = (pauseMs: number, code: string) => {
      account.code = code;
      account.notBeforeMs = clock.steadyMs() + pauseMs;
      return new Silent(code, true);
    };
    const read = accountIn(accountFile);
    if (read === null) throw fail(PAUSE_MS, NO_ACCOUNT);
    let given: Given;
    try {
      given = await askForToken(source, read, this.accessOf(source));
    } catch (fault) {
      if (fault instanceof Silent) throw fail(PAUSE_MS, fault.code);
      throw fault;
    }
    if ('token' in given) {
      this.#take(account, given.token);
      return given.token;
    }
    const { status } = given;
    if (status === 429 || status >= 500) throw fail(ANSWERED_PAUSE_MS, `SIGN_IN_${status}`);
    notes.note(accountFile, url);
    throw fail(ANSWERED_PAUSE_MS, SIGN_IN_REFUSED);
  }

  #take(account: Account, token: string): void {
    const { clock } = this.deps;
    const nowMs = clock.steadyMs();
    const lifeMs = (tokenEndMs(token) ?? Number.POSITIVE_INFINITY) - clock.nowMs();
    // By a clock that is wrong a token may be over at once: the panel says when it is.
    const isBelieved = lifeMs > 0 && lifeMs < LIFE_MAX_MS;
    account.token = token;
    account.renewAtMs = nowMs + (isBelieved ? lifeMs * RENEWED_AFTER : Number.POSITIVE_INFINITY);
    account.code = 'API_401';
    account.notBeforeMs = nowMs + Math.min(ANSWERED_PAUSE_MS, isBelieved ? lifeMs / 2 : Infinity);
  }
}

/** Makes the tokens of a process that may sign in; its data directory has the notes. */
export const tokensIn = (dataDir: string | null, clock: Clock, secretOf: Deps['secretOf']) =>
  new PanelTokens({ clock, secretOf, notes: notesIn(dataDir) });

/** A token, or the status of an answer without one. */
type Given = { token: string } | { status: number };

/** Reads the account again each time: a changed file needs no reload. */
function accountIn(file: string): PanelAccount | null {
  try {
    return readAccount(secretIn(file));
  } catch (fault) {
    if (fault instanceof OperatorError) return null;
    throw fault;
  }
}

/** Signs in once. Throws {@link Silent} without an answer. */
async function askForToken(
  source: PanelSource,
  account: PanelAccount,
  headers: Readonly<Record<string, string>>,
): Promise<Given> {
  const { signIn } = PANEL_TRAITS[source.panel].api;
  if (signIn === null) throw new Silent(NO_ACCOUNT, true);
  const client = new UpstreamClient(source.url);
  const signal = AbortSignal.timeout(SIGN_IN_MAX_MS);
  const { path } = signIn;
  const call = { path, headers, signal, timeoutMs: SIGN_IN_MAX_MS, form: signIn.formOf(account) };
  try {
    const response = await callPanel(client, call);
    const { status } = response;
    const text = await response.text();
    const token = status === 200 ? signIn.tokenIn(jsonIn(text)) : null;
    return token === null ? { status } : { token };
  } finally {
    client.close();
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
