/** compose.yaml: valid by the rules of Compose that it uses, and by those of the program. */

import { describe, expect, test } from 'bun:test';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { CONTAINER } from '../../packaging/image.ts';
import { loadConfig } from '../../src/config/load.ts';
import { SETTINGS } from '../../src/config/settings/index.ts';
import { readText } from '../support/tree.ts';

const text = readText('packaging/compose.yaml').replaceAll('@VERSION@', '1.2.3');
const WITH_POSTGRES = { COMPOSE_PROFILES: 'postgres', DATABASE_PASSWORD: 'ab12' };

/** Every key is one of the specification, and of its type; a key that is not here is a mistake. */
const only = <T extends Record<string, TSchema>>(keys: T) =>
  Type.Object(keys, { additionalProperties: false });
const DURATION = Type.String({ pattern: '^(\\d+h)?(\\d+m)?(\\d+s)?$', minLength: 2 });
const TEXTS = Type.Array(Type.String(), { uniqueItems: true });
const HEALTHCHECK = only({
  test: Type.Array(Type.String(), { minItems: 2 }),
  interval: DURATION,
  timeout: DURATION,
  start_period: DURATION,
  start_interval: DURATION,
});
const SERVICE = only({
  image: Type.String({ pattern: '^[a-z0-9./:@_-]+$' }),
  restart: Type.Union(
    ['no', 'always', 'on-failure', 'unless-stopped'].map((one) => Type.Literal(one)),
  ),
  ports: Type.Optional(
    Type.Array(Type.String({ pattern: '^([0-9.]+:)?\\d+:\\d+$' }), { uniqueItems: true }),
  ),
  volumes: Type.Array(Type.String({ pattern: '^[a-z]+:/[a-z/]+$' })),
  environment: Type.Record(Type.String(), Type.String()),
  profiles: Type.Optional(TEXTS),
  depends_on: Type.Optional(
    Type.Record(
      Type.String(),
      only({ condition: Type.Literal('service_healthy'), required: Type.Boolean() }),
    ),
  ),
  healthcheck: HEALTHCHECK,
  stop_grace_period: DURATION,
  shm_size: Type.Optional(Type.String({ pattern: '^\\d+[bkmg]$' })),
  read_only: Type.Optional(Type.Boolean()),
  tmpfs: Type.Optional(TEXTS),
  cap_drop: Type.Optional(TEXTS),
  security_opt: Type.Optional(TEXTS),
  ulimits: Type.Optional(only({ nofile: Type.Integer() })),
});
const COMPOSE = only({
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$' }),
  services: Type.Record(Type.String({ pattern: '^[a-zA-Z0-9._-]+$' }), SERVICE),
  volumes: Type.Record(Type.String(), Type.Null()),
});

/** Interpolates `${NAME}`, `${NAME:-default}` and `${NAME:+other}`, which may be nested. */
function interpolated(given: string, env: Readonly<Record<string, string>>): string {
  const inner = /\$\{(\w+)(?:(:[-+])([^${}]*))?\}/g;
  const once = given.replace(inner, (_, name: string, operator = '', other = '') => {
    const value = env[name] ?? '';
    if (operator === ':+') return value === '' ? '' : other;
    return value === '' ? other : value;
  });
  return once === given ? once : interpolated(once, env);
}

function compose(env: Readonly<Record<string, string>> = {}): Static<typeof COMPOSE> {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return interpolated(value, env);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, walk(one)]));
  };
  const file = walk(Bun.YAML.parse(text));
  expect(
    [...Value.Errors(COMPOSE, file)].map(({ path, message }) => `${path}: ${message}`),
  ).toEqual([]);
  return file as Static<typeof COMPOSE>;
}

const seconds = (duration: string) =>
  [...duration.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) =>
      sum + Number(count) * { h: 3600, m: 60, s: 1 }[unit as 'h' | 'm' | 's'],
    0,
  );

describe.each([
  ['as it is', {}],
  ['with PostgreSQL', WITH_POSTGRES],
])('%s', (_, env: Readonly<Record<string, string>>) => {
  const { services, volumes } = compose(env);

  test('every variable is replaced', () => {
    expect(JSON.stringify(services)).not.toContain('$');
  });

  test('volumes and services that are named are there', () => {
    for (const service of Object.values(services)) {
      for (const volume of service.volumes) {
        expect(Object.keys(volumes)).toContain(volume.split(':')[0] as string);
      }
      for (const [name, { required }] of Object.entries(service.depends_on ?? {})) {
        expect(Object.keys(services)).toContain(name);
        // Without its profile it is not started, and must not be waited for.
        expect(required).toBe(services[name]?.profiles === undefined);
      }
    }
  });

  test('each setting exists, and the configuration is accepted', () => {
    const given = services['gatepost']?.environment ?? {};
    const known = Object.values(SETTINGS).map((row) => row.env);
    expect(Object.keys(given).filter((name) => !known.includes(name))).toEqual([]);
    const { config } = loadConfig({}, { GATEPOST_CONFIG: 'none', ...given });
    expect(config.databaseUrl?.host ?? null).toBe('DATABASE_PASSWORD' in env ? 'database' : null);
    expect(config.databaseUrl?.password ?? '').toBe(env['DATABASE_PASSWORD'] ?? '');
  });
});

test('it agrees with the image', () => {
  const { gatepost } = compose().services;
  expect(gatepost?.image).toBe('gatepost:1.2.3');
  expect(gatepost?.volumes).toEqual([`data:${CONTAINER.WorkingDir}`]);
  expect(gatepost?.ports?.[0]).toBe('127.0.0.1:8080:8080');
  const { Test, Interval, Timeout, StartPeriod, StartInterval } = CONTAINER.Healthcheck;
  const { test: command, ...times } = gatepost?.healthcheck ?? { test: [] };
  expect(command).toEqual([...Test]);
  expect(Object.values(times).map((one) => seconds(one) * 1e9)).toEqual([
    ...[Interval, Timeout, StartPeriod, StartInterval],
  ]);
  expect(seconds(gatepost?.stop_grace_period ?? '')).toBeGreaterThan(300 + 8);
});

test('PostgreSQL needs no setting but its password, and starts with its profile alone', () => {
  const { database, gatepost } = compose(WITH_POSTGRES).services;
  expect(database?.profiles).toEqual(['postgres']);
  expect(database?.environment['POSTGRES_PASSWORD']).toBe('ab12');
  expect(gatepost?.profiles).toBeUndefined();
});

const hasCompose =
  Bun.which('docker') !== null &&
  Bun.spawnSync(['docker', 'compose', 'version'], { stderr: 'ignore' }).exitCode === 0;
if (!hasCompose) console.warn('A test is skipped: there is no docker compose.');
test.skipIf(!hasCompose)('docker compose has nothing to say about it', async () => {
  for (const env of [{}, WITH_POSTGRES]) {
    const words = ['docker', 'compose', '--file', '-', 'config', '--quiet'];
    const child = Bun.spawn(words, {
      env: { ...process.env, ...env },
      stdin: Buffer.from(text),
      stderr: 'pipe',
    });
    expect(await child.stderr.text()).toBe('');
    expect(await child.exited).toBe(0);
  }
});
