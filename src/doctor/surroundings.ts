/** Checks what surrounds the program: names, disks, limits, ports, and other servers. */

import { backupFolder } from '../backup/shelf.ts';
import type { Finding } from '../base/finding.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/settings/index.ts';
import type { StoreKind } from '../store/kind.ts';
import { checkAcmePort } from './acme-port.ts';
import { checkLimits } from './cgroup.ts';
import { isBehindProxies } from './fronts.ts';
import { checkBackupRoom } from './machine.ts';
import { checkHook, checkNetworkDisk, readMounts } from './mounts.ts';
import { checkServerNames } from './names.ts';
import type { ServerState } from './server.ts';
import { checkServers } from './servers.ts';

/** The machine as the checks see it. */
export interface Machine {
  /** Where the file system begins; absent: at `/`. */
  root?: string;
  mounts?: ReturnType<typeof readMounts>;
  /** The resolver and the addresses. */
  names?: Parameters<typeof checkServerNames>[2];
}

interface Surrounded {
  loaded: LoadedConfig;
  /** Its settings, with the upstreams of the database. */
  config: Config;
  server: ServerState;
  kind: StoreKind;
  databaseBytes: number;
}

export async function checkSurroundings(
  { loaded, config, server, kind, databaseBytes }: Surrounded,
  { root = '', mounts = readMounts(), names }: Machine,
): Promise<Finding[]> {
  const { dataDir } = config;
  const isFile = kind.file !== null;
  return [
    ...(isFile ? [...checkNetworkDisk(dataDir, mounts), ...checkServers(dataDir)] : []),
    ...(isFile && config.backupAt !== ''
      ? checkBackupRoom(backupFolder(config), databaseBytes)
      : []),
    ...checkLimits(typeof server === 'string' ? null : server.pid, root),
    ...checkAcmePort(server, config, root),
    ...checkHook(config, mounts),
    ...(await checkServerNames(config, isBehindProxies(loaded), names)),
  ];
}
