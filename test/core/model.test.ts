/**
 * Links, devices and bindings at random, over HTTP, against a small model in memory: every answer,
 * and after each step every list. A failure prints its seed and the shortest way to it.
 */

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ACT } from '../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { playModel } from '../support/model.ts';
import { STORE } from '../support/place.ts';
import { Model } from './model.ts';

const CODES = ['LinkCode0001', 'LinkCode0002', 'LinkCode0003'];
/** The first is drawn most often: a link that nobody can enter teaches little. */
const HASHES = ['a'.repeat(64), 'a'.repeat(64), 'a'.repeat(64), 'b'.repeat(64)];
const HWIDS = ['h1', 'h2', 'h3', 'h4', 'H1'];
const LINKS_MAX = 2;

const owner = fc.constantFrom(0, 0, 0, 1);
const code = fc.constantFrom(...CODES);
const hash = fc.constantFrom(...HASHES);
const hwid = fc.constantFrom(...HWIDS);
const id = fc.integer({ min: 1, max: 3 });
const limit = fc.integer({ min: 1, max: 4 });
const name = fc.constantFrom('', 'shop', 'магазин');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('addLink' as const), owner, code, limit }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('updateLink' as const),
      owner,
      id,
      limit: maybe(limit),
      note: maybe(name),
      status: maybe(fc.constantFrom(5, 10)),
    }),
  },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('knock' as const), code, hash, hwid }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('knockTogether' as const), code, hash }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('deleteHwid' as const), owner, code, hwid }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('addDomain' as const), owner, hash, name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteDomain' as const), owner, id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forgetDevice' as const), hwid }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface World {
  app: TestApp;
  model: Model;
  /** Asks as provider 0 or 1, or as a device (null). */
  ask(
    as: number | null,
    path: string,
    query: Record<string, string | number | undefined>,
  ): Promise<unknown>;
}

async function makeWorld(): Promise<World> {
  const app = await startTestApp();
  const providers = [
    await seedProvider(app, { installCountMax: LINKS_MAX }),
    await seedProvider(app, { installCountMax: LINKS_MAX }),
  ];
  const model = new Model(
    providers.map((credentials) => credentials.code),
    LINKS_MAX,
  );
  return {
    app,
    model,
    async ask(as, path, query) {
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const credentials = as === null ? null : (providers[as] ?? null);
      const sent = Object.fromEntries(given) as Record<string, string | number>;
      return (await call(app, path, credentials, sent)).json;
    },
  };
}

/** The id of what was added, where refusals may leave gaps; else ids are without any. */
const idOf = (answer: unknown) => (STORE === 'sqlite' ? undefined : (answer as { id?: number }).id);

/** Takes one step in the product and in the model; both must answer the same. */
async function take(world: World, now: Step): Promise<void> {
  const { app, ask, model } = world;
  switch (now.do) {
    case 'addLink': {
      const query = { install_code: now.code, install_limit: now.limit };
      const answer = await ask(now.owner, '/api/add-install', query);
      expect(answer).toEqual(model.addLink(now.owner, now.code, now.limit, idOf(answer)));
      break;
    }
    case 'updateLink': {
      const query = { id: now.id, install_limit: now.limit, note: now.note, status: now.status };
      const answer = await ask(now.owner, '/api/update-install', query);
      expect(answer).toEqual(model.updateLink(now.owner, now.id, now));
      break;
    }
    case 'knock': {
      const query = { installid: now.code, id: now.hash, hwid: now.hwid };
      const answer = await ask(null, '/install', query);
      expect(answer).toEqual(model.knock(now.code, now.hash, now.hwid));
      break;
    }
    case 'knockTogether':
      await knockTogether(world, now.code, now.hash);
      break;
    case 'deleteHwid': {
      const query = { install_code: now.code, hwid: now.hwid };
      const answer = await ask(now.owner, '/api/delete-hwid', query);
      expect(answer).toEqual(model.deleteHwid(now.owner, now.code, now.hwid));
      break;
    }
    case 'addDomain': {
      const query = { domain_hash: now.hash, domain_name: now.name };
      const answer = await ask(now.owner, '/api/add-domain', query);
      expect(answer).toEqual(model.addDomain(now.owner, now.hash, now.name, idOf(answer)));
      break;
    }
    case 'deleteDomain': {
      const answer = await ask(now.owner, '/api/delete-domain', { id: now.id });
      expect(answer).toEqual(model.deleteDomain(now.owner, now.id));
      break;
    }
    case 'forgetDevice':
      await app.core.store.forgetDevice(now.hwid, ACT);
      model.forgetDevice(now.hwid);
  }
}

/** All devices at once: whoever is faster gets in, but exactly as many as the model lets in. */
async function knockTogether({ ask, model }: World, installid: string, id: string): Promise<void> {
  const before = [...(model.linkOf(installid)?.hwids ?? [])];
  const expected = HWIDS.map((hwid) => model.knock(installid, id, hwid).msg);
  const answers = (await Promise.all(
    HWIDS.map((hwid) => ask(null, '/install', { installid, id, hwid })),
  )) as { msg: string }[];
  expect(answers.map(({ msg }) => msg).sort()).toEqual(expected.sort());
  const link = model.linkOf(installid);
  if (!link || expected.every((msg) => msg !== 'Ok')) return;
  const letIn = HWIDS.filter((_, i) => answers[i]?.msg === 'Ok');
  expect(letIn).toEqual(expect.arrayContaining(before));
  // The model cannot know the order; it must be these, and those from before the oldest.
  const listed = (await ask(link.owner, '/api/list-hwid', { install_code: installid })) as {
    data: { hwid: string }[];
  };
  const order = listed.data.map(({ hwid }) => hwid).reverse();
  expect(order.toSorted()).toEqual(letIn.toSorted());
  expect(order.slice(0, before.length)).toEqual(before);
  link.hwids = order;
}

async function compareLists({ app, ask, model }: World): Promise<void> {
  const created_at = '2026-11-20 15:00:00';
  for (const owner of [0, 1]) {
    const links = model.links.filter((link) => link.owner === owner).reverse();
    expect(await ask(owner, '/api/list-install', {})).toEqual({
      rc: 1,
      msg: 'Ok',
      data: links.map((link) => ({
        id: link.id,
        install_code: link.code,
        install_limit: link.limit,
        install_count: link.hwids.length,
        status: link.status,
        note: link.note,
        created_at,
      })),
    });
    const bindings = model.bindings.filter((binding) => binding.owner === owner).reverse();
    expect(await ask(owner, '/api/list-domain', {})).toEqual({
      rc: 1,
      msg: 'Ok',
      data: bindings.map(({ hash, id, name, status }) => ({
        id,
        domain_name: name,
        domain_hash: hash,
        status,
        created_at,
      })),
    });
    for (const link of links) {
      const listed = await ask(owner, '/api/list-hwid', { install_id: link.id });
      const data = link.hwids
        .map((hwid) => ({ hwid, date: created_at, device_name: '' }))
        .reverse();
      expect(listed).toEqual({ rc: 1, msg: 'Ok', data });
      expect(link.hwids.length).toBeLessThanOrEqual(link.limit);
    }
  }
  expect(app.logLines).toEqual([]);
}

test('whatever happens, answers and lists are those of the model', async () => {
  await playModel(
    fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
    async (steps) => {
      const world = await makeWorld();
      try {
        await take(world, { do: 'addDomain', owner: 0, hash: 'a'.repeat(64), name: '' });
        for (const now of steps) {
          await take(world, now);
          await compareLists(world);
        }
      } finally {
        await world.app.close();
      }
    },
    { runsMin: 8, runsMax: STORE === 'sqlite' ? 40 : 12, seconds: 4 },
  );
}, 240_000);
