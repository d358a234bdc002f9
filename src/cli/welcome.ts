/** The output of a first start: credentials, and example calls to paste. */

import type { App } from '../app.ts';
import { COMMIT } from '../base/version.ts';
import { makeOperatorEntry } from '../core/account/operator.ts';
import { actingAs, type Core } from '../core/core.ts';
import { isRefused } from '../core/outcome.ts';
import type { Actor } from '../core/port/audit.ts';
import { addProvider } from '../core/provider.ts';

/** SHA-256 of `example.com`. */
const EXAMPLE_DOMAIN_HASH = 'a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947';

/** The code of the first link, which the README uses too. */
const EXAMPLE_CODE = 'FIRSTLINK001';

/** Running from source, `make` writes a script of this name. */
const PROGRAM = COMMIT === 'source' ? './gatepost' : 'gatepost';

/** The name of the operator's account, the default of `gatepost console link`. */
const OPERATOR = 'operator';

/** Returns the lines with a link into the console, valid once for ten minutes. */
async function consoleLines(url: string, core: Core, nowMs: number): Promise<string> {
  const entry = await makeOperatorEntry(core, OPERATOR, nowMs);
  if (isRefused(entry)) throw new Error(entry.says);
  return `Open the console, once, within ten minutes (${PROGRAM} console link gives another link):

${url}/console#entry=${entry.secret}`;
}

/**
 * Adds a first provider if there is none. Returns a text with its credentials and a link into the
 * console; `url` is the server's for people.
 */
export async function welcome(
  app: App,
  url: string,
  operator: () => Actor,
  nowMs: number,
): Promise<string> {
  const core = actingAs(app.core, operator);
  const providers = await core.store.listProviders();
  const [first] = providers;
  if (first) {
    return `
Provider ${first.code} (${first.name}) exists; its key was shown when it was created.
For a new key: ${PROGRAM} provider rotate-key ${first.code}

${await consoleLines(url, core, nowMs)}
`;
  }
  const draft = { name: 'first', plan: 'enterprise' as const, activeUntilMs: null };
  const added = await addProvider(core, { ...draft, installCountMax: null }, nowMs);
  if (isRefused(added)) throw new Error(added.says);

  const api = (path: string, rest: string) =>
    `curl -w '\\n' '${url}${path}?provider_code=${added.code}&auth_key=${added.authKey}${rest}'`;
  return `
A first provider was created. Its key is shown only once: only its SHA-256 is stored.

  provider_code  ${added.code}
  auth_key       ${added.authKey}

Bind the domain example.com, add a link for two devices, admit a device, list it:

${api('/api/add-domain', `&domain_hash=${EXAMPLE_DOMAIN_HASH}&domain_name=example.com`)}
${api('/api/add-install', `&install_limit=2&install_code=${EXAMPLE_CODE}&note=first`)}
curl -w '\\n' -H 'x-hwid: my-first-phone' -H 'x-device-os: Android' -H 'x-device-model: Pixel 9' '${url}/install?id=${EXAMPLE_DOMAIN_HASH}&installid=${EXAMPLE_CODE}'
${api('/api/list-hwid', `&install_code=${EXAMPLE_CODE}`)}

${await consoleLines(url, core, nowMs)}

More commands: ${PROGRAM} --help
The documentation of the API: ${url}/docs
Ctrl-C stops the server.
`;
}
