/**
 * Loads the file of a page or part. An upgrade of the server removes the files of the old version:
 * then reloads the page, once for each version.
 */

import { call, Refusal } from '../call.ts';

const RELOADED = 'gatepost-reloaded';

/** Returns the name of the running script, which differs for each version. */
const version = () => document.querySelector<HTMLScriptElement>('script')?.src ?? '';

/** Loads a file. Rejects with {@link Refusal}: `offline`, or `outdated` after a reload. */
export async function loadFile<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    // A reload while the server is down would lose the page.
    await call('session.me', {});
    if (!reloadOnce()) throw new Refusal('outdated', null);
    return new Promise(() => undefined);
  }
}

/** Reloads the page, once for this version; returns false if it was reloaded before. */
function reloadOnce(): boolean {
  try {
    if (sessionStorage.getItem(RELOADED) === version()) return false;
    sessionStorage.setItem(RELOADED, version());
  } catch {
    // The browser stores nothing, so the reload could repeat for ever.
    return false;
  }
  location.reload();
  return true;
}
