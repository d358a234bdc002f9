/** The operator behind a command, as far as the machine tells, for the audit log. */

import { readFileSync } from 'node:fs';
import type { Actor } from '../core/port/audit.ts';
import { tidyFact } from '../core/text.ts';

const NAME_LENGTH_MAX = 64;

/**
 * The operator by the system's name for the process and, after sudo, the name before; the origin is
 * the address of an SSH session, else `local`. The variables can be forged, by somebody who can
 * write the database as well.
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
 * The name in the system's list of users, else the number; os.userInfo() would take the name from
 * the environment, which may say anything.
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
