/** `gatepost serve` and the signals it gets. */

import { afterEach, expect, test } from 'bun:test';
import type { App } from '../../src/app.ts';
import { makeLog } from '../../src/base/log.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { EXIT_OK, runCli } from '../../src/cli/program.ts';
import type { LoadedConfig } from '../../src/config/load.ts';

afterEach(() => process.removeAllListeners('SIGHUP'));

test('SIGHUP before the server is ready does not end it: it reloads once it is', async () => {
  const events: string[] = [];
  const app: Partial<App> = {
    url: 'http://127.0.0.1:1',
    log: makeLog(
      { logFormat: 'human', logLevel: 'info' },
      () => 0,
      () => undefined,
    ),
    reload: () => {
      events.push('reloaded');
      process.emit('SIGTERM');
      return { live: [], waiting: [] };
    },
    drain: async () => {
      events.push('drained');
    },
    close: async () => {
      events.push('closed');
    },
  };
  const context: Partial<CliContext> = {
    loadServerConfig: () => ({ config: {} }) as LoadedConfig,
    asOwner: async () => null,
    startApp: async () => {
      for (const _ of [1, 2]) process.emit('SIGHUP');
      events.push('started');
      return app as App;
    },
    serviceManager: () => ({
      starting: () => events.push('starting'),
      ready: () => events.push('ready'),
      reloading: () => events.push('reloading'),
      stopping: () => events.push('stopping'),
      close: () => undefined,
    }),
    stdout: async () => true,
    sleep: () => new Promise(() => undefined),
  };
  expect(await runCli(['serve'], context as CliContext)).toBe(EXIT_OK);
  expect(events.join(' ')).toBe(
    'starting started ready reloading reloaded ready stopping drained closed',
  );
});
