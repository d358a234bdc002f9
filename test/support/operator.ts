/** Sessions of operators, for tests. */

import { makeOperatorEntry } from '../../src/core/account/operator.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { ApplianceRole } from '../../src/core/port/account.ts';
import { ACT } from './actor.ts';
import type { TestApp } from './app.ts';
import { ConsoleBrowser } from './console.ts';

/** Makes a secret that signs an operator, or an observer, in once. */
export async function operatorEntry(
  { clock, core }: TestApp,
  name = 'olga',
  role: ApplianceRole = 'operator',
): Promise<string> {
  const made = await makeOperatorEntry(core, name, clock.nowMs());
  if (isRefused(made)) throw new Error(made.says);
  const account = await core.store.findAccount(name);
  if (role !== 'operator') {
    // One operator stays.
    await makeOperatorEntry(core, 'first', clock.nowMs());
    await core.store.changeRole(account?.id ?? 0, { providerId: null, role }, ACT);
  }
  return made.secret;
}

/** Returns the browser of an operator, or an observer, who has signed in. */
export async function operatorBrowser(
  app: TestApp,
  name = 'olga',
  role: ApplianceRole = 'operator',
): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.entry', { secret: await operatorEntry(app, name, role) });
  return browser;
}
