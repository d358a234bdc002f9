/** Binds the hosts of panels to their providers: without a binding, no device is admitted. */

import type { Clock } from '../../base/clock.ts';
import { type Log, reasonOf } from '../../base/log.ts';
import type { Core } from '../../core/core.ts';
import { bindHost } from '../../core/domain.ts';
import { isRefused } from '../../core/outcome.ts';
import type { Upstream } from './settings.ts';

/**
 * Binds each host to its provider unless it is bound. Logs each failure and never throws: one
 * failure must not keep the appliance from starting.
 */
export async function bindUpstreams(
  core: Core,
  upstreams: readonly Upstream[],
  clock: Clock,
  log: Log,
): Promise<void> {
  for (const { host, provider: code } of upstreams) {
    const about = { host, provider: code };
    try {
      const provider = await core.store.findProvider(code);
      if (provider === null) {
        log.warn('upstream_provider_unknown', about);
        continue;
      }
      const outcome = await bindHost(core, provider, host, clock.nowMs());
      if (outcome === 'bound') log.info('upstream_bound', about);
      if (outcome === 'disabled') log.warn('upstream_binding_disabled', about);
      if (isRefused(outcome)) log.warn('upstream_not_bound', { ...about, reason: outcome.says });
    } catch (fault) {
      log.warn('upstream_not_bound', { ...about, reason: reasonOf(fault) });
    }
  }
}
