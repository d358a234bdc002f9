/**
 * Loads the file of a page or part. After an upgrade of the server a file of the version before is
 * gone: the page is loaded anew then, once for each version.
 */

import { call, Refusal } from '../call.ts';

const RELOADED = 'gatepost-reloaded';

/** The name of the script that runs, which each version has of its own. */
const version = () => document.querySelector<HTMLScriptElement>('script')?.src ?? '';

/** Loads a file. Rejects with {@link Refusal}: `offline`, or `outdated` after a reload. */
export async function loadFile<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    // Without a server a reload would lose what is on the screen.
    await call('session.me', {});
    if (!reloadOnce()) throw new Refusal('outdated', null);
    return new Promise(() => undefined);
  }
}

/** Loads the page anew unless that was done for this version. */
function reloadOnce(): boolean {
  try {
    if (sessionStorage.getItem(RELOADED) === version()) return false;
    sessionStorage.setItem(RELOADED, version());
  } catch {
    // The browser keeps nothing: it could be done for ever.
    return false;
  }
  location.reload();
  return true;
}
