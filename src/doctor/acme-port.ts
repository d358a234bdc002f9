/** Checks the port on which certificate authorities ask for proofs: `acme.http_port`. */

import { wordsOfErrno } from '../base/errno.ts';
import { about, type Finding } from '../base/finding.ts';
import type { Config } from '../config/settings/index.ts';
import { describeHolder, findPortHolder } from '../http/port-holder.ts';
import { unitText } from './open-files.ts';
import type { ServerState } from './server.ts';

const say = about('certificate');
const FORWARD =
  'let it pass /.well-known/acme-challenge/ on to another port and set acme.http_port to that, or set acme.challenge = "dns-01"';

/** Checks that the server has the port, or may take it. `root`: where the file system begins. */
export function checkAcmePort(
  server: ServerState,
  { acmeChallenge, acmeDomains, acmeHttpPort: port, host }: Config,
  root = '',
): Finding[] {
  if (acmeDomains.length === 0 || acmeChallenge !== 'http-01' || port === 0) return [];
  const ports = typeof server === 'string' ? [] : server.ports;
  if (ports.includes(port)) return [];
  const problem = tryPort(host, port);
  if (problem === null) {
    // It was free when the server started, or the server would have it: it runs without ACME.
    return ports.length === 0 ? [] : [notHeld(port)];
  }
  if (problem === 'EADDRINUSE') {
    const holder = findPortHolder(host, port);
    // A server whose processes are not shown may have the port itself.
    if (server !== 'absent' && ports.length === 0 && holder === null) return [];
    const who = holder === null ? 'another program' : describeHolder(holder);
    return [
      say.problem(
        'acme_port_taken',
        `port ${port}, where the certificate authority asks, is taken by ${who}: certificates are neither issued nor renewed`,
        `stop it; or ${FORWARD}`,
      ),
    ];
  }
  const unit = unitText(root);
  if (problem === 'EACCES' && unit !== null && !unit.includes('CAP_NET_BIND_SERVICE')) {
    return [
      say.problem(
        'acme_port_forbidden',
        `the service may not listen on port ${port}, where the certificate authority asks`,
        "install the drop-in: 'install -D -m 644 /usr/share/doc/gatepost/port-80.conf /etc/systemd/system/gatepost.service.d/port-80.conf', then 'systemctl daemon-reload'",
      ),
    ];
  }
  if (problem === 'EACCES') return [];
  return [
    say.problem(
      'acme_port_unusable',
      `port ${port} cannot be listened on for the certificate authority: ${wordsOfErrno(problem)}`,
      'set acme.http_port and server.host to what this machine has',
    ),
  ];
}

const notHeld = (port: number) =>
  say.warning(
    'acme_port_not_held',
    `the server does not listen on port ${port}, where the certificate authority asks`,
    'restart it: acme settings apply at a start',
  );

/** Returns the code of the failure to listen; null: the port is free. */
function tryPort(hostname: string, port: number): string | null {
  try {
    Bun.listen({ hostname, port, socket: { data: () => undefined } }).stop(true);
    return null;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}
