/** A server that follows a panel, and what it knows of the panel. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FollowedUser } from '../../src/core/port/follow.ts';
import type { Store } from '../../src/core/port/store.ts';
import { addProviderByCommand, temporaryFolder } from './process.ts';

const HOST = 'sub.example.org';

/** Writes a configuration with an upstream, which has `lines` too; returns the data. */
export async function prepare(
  lines: readonly string[],
): Promise<{ dataDir: string; args: string[] }> {
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const { code } = await addProviderByCommand(dataDir);
  const config = join(folder, 'gatepost.toml');
  const table = [`host = "${HOST}"`, 'url = "http://127.0.0.1:1"', `provider = "${code}"`];
  const all = ['[[gate.upstream]]', ...table, 'default_limit = 3', 'follow = "1m"', ...lines];
  writeFileSync(config, `${all.join('\n')}\n`);
  return { dataDir, args: ['--config', config] };
}

export const knownIn = async (store: Store): Promise<FollowedUser[]> => {
  const [follow] = await store.listFollows();
  return follow ? store.listFollowed(follow.id, { afterUser: '', countMax: 5_000 }) : [];
};
export const linksIn = async (store: Store) =>
  store.listPanelLinks(1, 'marzban', { afterUser: '', countMax: 5_000 });
