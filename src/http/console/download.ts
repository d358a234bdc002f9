/** Answers the download of a database copy, for the session that requested it. */

import { holds, OPERATE } from '../../core/account/roles.ts';
import { lookSignedIn } from '../../core/account/session.ts';
import type { ConsoleDeps } from './answer.ts';
import { isOfOwnPage, siteOf, tokenIn } from './site.ts';

export const DOWNLOAD_PATH = '/console/backup';

/** The longest pause of a slow connection, s. */
const PATIENCE_SECONDS = 240;

export function downloadAnswer(deps: ConsoleDeps) {
  return async (request: Request): Promise<Response> => {
    const { appliance, clock, connectionOf, core } = deps;
    const site = siteOf(request, connectionOf(request));
    const isOwn = site !== null && isOfOwnPage(request, site);
    const nowMs = clock.nowMs();
    const signedIn = isOwn ? await lookSignedIn(core, tokenIn(request), nowMs) : null;
    const may = signedIn !== null && holds(OPERATE, signedIn.grants, null);
    const copy = may ? appliance.backups?.copyOf(signedIn.session.id, nowMs) : null;
    const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
    if (copy == null) return new Response('There is no such copy.\n', { status: 404, headers });
    deps.grantPatience(request, PATIENCE_SECONDS);
    const day = new Date(nowMs).toISOString().slice(0, 10);
    return new Response(Bun.file(copy.file), {
      headers: {
        ...headers,
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="gatepost-${day}.backup"`,
      },
    });
  };
}
