/** Calls the server; the types come from its table of calls. */

import type { CallName, Given, Got } from '../call/table.ts';

/** A refusal: its key, and the text that the server sent. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly says: string,
    readonly detail: string | null,
  ) {
    super(detail ?? says);
  }
}

/** Calls the server. Rejects with {@link Refusal}; `offline` if it does not answer. */
export async function call<N extends CallName>(
  name: N,
  given: Given<N>,
  signal?: AbortSignal,
): Promise<Got<N>> {
  let outcome: { ok: Got<N>; refused?: string; detail: string | null };
  try {
    const answer = await fetch(`/console/call/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(given),
      ...(signal && { signal }),
    });
    // A proxy in front of a stopped server answers with a page instead of JSON.
    outcome = await answer.json();
  } catch (fault) {
    if (signal?.aborted) throw fault;
    throw new Refusal('offline', null);
  }
  if (outcome.refused !== undefined) throw new Refusal(outcome.refused, outcome.detail);
  return outcome.ok;
}
