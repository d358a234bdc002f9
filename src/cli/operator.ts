/** Who runs a command, as far as the machine tells: what the audit log gets. */

import { readFileSync } from 'node:fs';
import type { Actor } from '../core/port/audit.ts';
import { tidyFact } from '../core/text.ts';

const NAME_LENGTH_MAX = 64;

/**
 * The operator by the name that the system has for the process, with the one who became it through
 * sudo; from where: the address of an SSH session, else `local`. The variables are as honest as
 * whoever sets them, who can also write the database.
 */
export function operatorActor(env: Readonly<Record<string, string | undefined>>): Actor {
  const name = tidyFact(userName(), NAME_LENGTH_MAX);
  const before = tidyFact(env['SUDO_USER'] ?? '', NAME_LENGTH_MAX);
  const [address = ''] = (env['SSH_CONNECTION'] ?? '').split(' ');
  return {
    kind: 'operator',
    name: before === '' || before === name ? name : `${name} (sudo by ${before})`,
    from: /^[0-9A-Fa-f.:]{2,45}(?:%\w{1,15})?$/.test(address) ? `ssh ${address}` : 'local',
  };
}

/**
 * The name in the system's list of users; os.userInfo() would give that of the environment, which
 * may say anything. Who is not in the list, as in a container, has a number alone.
 */
function userName(): string {
  const uid = process.getuid?.();
  const users = uid === undefined ? '' : readUsers();
  const name = new RegExp(`^([^:\\n]+):[^:]*:${uid}:`, 'm').exec(users)?.[1];
  return name ?? `uid ${uid ?? 'unknown'}`;
}

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
