/**
 * Asks panels with keys that no user has. A panel that serves one would serve each guess, and each
 * would get a link.
 */

import { panelOf, signedForm } from '../../core/panel/kind.ts';
import { strangersKeys } from '../../core/panel/token.ts';
import { Failure } from './exchange.ts';
import { type Probe, probe } from './probe.ts';
import { isProof, proofIn } from './proof.ts';
import type { Upstream } from './settings.ts';

export interface StrangerAnswer {
  /** The template. */
  text: string;
  /** The status, or the failure. */
  outcome: number | Failure;
  /** True if the response would give a new device a link. */
  makesLink: boolean;
}

/**
 * Asks all templates at once, with each form of key that the panel could take. `timeoutMs`: see
 * {@link Probe}.
 */
export function askAsStranger(upstream: Upstream, timeoutMs?: number): Promise<StrangerAnswer[]> {
  const keys = strangersKeys(signedForm(upstream.key));
  return Promise.all(
    upstream.keyPaths.flatMap(({ text }) =>
      keys.map(async (key) => {
        const path = text.replace('{key}', key);
        return { text, ...(await responseTo(upstream, { method: 'GET', path, timeoutMs })) };
      }),
    ),
  );
}

/** Returns the path of a key that no user has, at the first template; null: there is none. */
export function strangersPathOf({ key, keyPaths }: Upstream): string | null {
  const [first] = keyPaths;
  return first?.text.replace('{key}', strangersKeys(signedForm(key))[0] ?? '') ?? null;
}

async function responseTo(
  upstream: Upstream,
  asked: Probe,
): Promise<Pick<StrangerAnswer, 'outcome' | 'makesLink'>> {
  const believesOther = panelOf(upstream) === null;
  const response = await probe(upstream, asked, async (given) => {
    const proof = await proofIn(given, true);
    const makesLink =
      isProof(proof) && (proof === 'subscription' || (believesOther && proof === 'other'));
    return { outcome: given.status, makesLink };
  });
  return response instanceof Failure ? { outcome: response, makesLink: false } : response;
}
