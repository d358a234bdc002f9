/** The readers of panels' APIs, as an import and the door run them. */

import { makeLog } from '../../src/base/log.ts';
import type { PanelApiUser } from '../../src/core/panel/api.ts';
import type { Cells, PanelUser } from '../../src/core/panel/cells.ts';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { type PanelKind, signedForm } from '../../src/core/panel/kind.ts';
import type { PanelLimit } from '../../src/core/panel/limit-rule.ts';
import { readPanelToken } from '../../src/core/panel/token.ts';
import { panelApiUser, panelLimitOf } from '../../src/core/panel/user.ts';
import { PanelApi } from '../../src/http/upstream/panel-api.ts';
import { readPanelApi } from '../../src/panel/panel-api.ts';
import { FakeClock } from './clock.ts';
import { tokensOf } from './panel-api.ts';
import { READING } from './reading.ts';

export interface PanelAt {
  panel: PanelKind;
  url: string;
  token: string;
}

interface ReadUsers {
  users: PanelUser[];
  rows: ReadonlyMap<string, readonly Cells[]>;
  view: string;
}

/** Reads all users, as an import does. */
export async function usersAt({ panel, url, token }: PanelAt): Promise<ReadUsers> {
  const { rows, view } = await readPanelApi(panel, {
    ...READING,
    url,
    token,
    headers: {},
    callsPerSecondMax: 1_000,
    userAgent: 'gatepost-import/test',
    sleep: async () => {},
    onProgress() {},
  });
  return { users: [...PANEL_TRAITS[panel].database.readUsers(rows)], rows, view };
}

/** Reads one user and its limit, as the door does; null: the panel has no such user. */
export async function userAt(
  { panel, url, token }: PanelAt,
  key: string,
): Promise<{ user: PanelApiUser | null; limit: PanelLimit }> {
  const clock = new FakeClock();
  const log = makeLog({ logFormat: 'json', logLevel: 'error' }, clock.nowMs);
  const files = { tokenFile: 'token', accountFile: '', headersFile: '' };
  const secretOf = (file: string) => (file === 'token' ? token : null);
  const tokens = tokensOf(secretOf, { clock });
  const api = new PanelApi({ host: '', panel, url, ...files }, { clock, log, tokens });
  return api.ask(async ({ ask, settings }) => {
    const user = await panelApiUser(panel, key, ask);
    return { user, limit: await panelLimitOf(panel, user, settings) };
  });
}

/** The key by which the door knows the customer of a key in an address. */
export function doorKeyOf(panel: PanelKind, key: string): string {
  const form = signedForm(panel);
  if (form === null) return key;
  const token = readPanelToken(form, key);
  if (token === null) throw new Error(`${key} is no token of ${panel}`);
  return token.key;
}

/** The key of a user whom an import read, as the door knows it. */
export function keyOfUser(panel: PanelKind, { key }: PanelUser): string {
  return signedForm(panel)?.keyOfUser(key) ?? key;
}
