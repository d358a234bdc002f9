/** The operator who runs a command, for the audit log. */

import { readFileSync } from 'node:fs';
import type { Actor } from '../core/port/audit.ts';
import { tidyFact } from '../core/text.ts';

const NAME_LENGTH_MAX = 64;

/**
 * Returns the user of the process, with the user who called sudo, and the address of the SSH
 * session, else `local`. Only users who can write the database can forge the variables.
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
 * Returns the user's name in /etc/passwd, else the uid. os.userInfo() would take the name from the
 * environment.
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
