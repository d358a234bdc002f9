/** Bun, Hono and bun:sqlite: cached statements, one commit for each added link. */

import { Database } from 'bun:sqlite';
import { Hono } from 'hono';
import {
  AUTH_ERROR,
  admitted,
  CODE_EXISTS,
  isId,
  isKey,
  listed,
  NO_STORE,
  NOT_FOUND,
  OK,
  readLink,
  UNKNOWN_ERROR,
} from './slice.mjs';
import { ADD_PROVIDER, fill, PRAGMAS, STATEMENTS } from './sqlite.mjs';

const db = new Database(`${process.env.PEER_DATA}/peer.db`, { create: true });
for (const pragma of PRAGMAS) db.run(`PRAGMA ${pragma}`);
const add = (...row) => db.query(ADD_PROVIDER).run(...row);
db.transaction(() => fill((sql) => db.run(sql), add))();
const { keyHash, link, admission, addLink } = Object.fromEntries(
  Object.entries(STATEMENTS).map(([name, sql]) => [name, db.query(sql)]),
);

const app = new Hono();

app.use('/api/*', async (c, next) => {
  const provider = keyHash.get(c.req.query('provider_code') ?? '');
  if (!isKey(c.req.query('auth_key'), provider?.key_hash)) return c.json(AUTH_ERROR, 200, NO_STORE);
  c.set('provider', provider);
  await next();
});

app.get('/api/list-install', (c) => {
  const id = c.req.query('id');
  if (!isId(id)) return c.json(UNKNOWN_ERROR, 200, NO_STORE);
  const row = link.get(Number(id), c.get('provider').id);
  return c.json({ ...OK, data: row ? [listed(row)] : [] }, 200, NO_STORE);
});

app.get('/api/add-install', (c) => {
  const wanted = readLink(c.req.query());
  if (wanted === null) return c.json(UNKNOWN_ERROR, 200, NO_STORE);
  const { code, limit, note } = wanted;
  try {
    const { lastInsertRowid } = addLink.run(c.get('provider').id, code, limit, note, Date.now());
    const answer = { ...OK, install_code: code, id: Number(lastInsertRowid) };
    return c.json(answer, 200, NO_STORE);
  } catch (error) {
    if (error.code === 'SQLITE_CONSTRAINT_UNIQUE') return c.json(CODE_EXISTS, 200, NO_STORE);
    throw error;
  }
});

app.get('/install', (c) => {
  const hwid = c.req.header('x-hwid') ?? '';
  const row = admission.get(hwid, c.req.query('installid') ?? '', c.req.query('id') ?? '');
  if (!row) return c.json(NOT_FOUND, 200, NO_STORE);
  return c.json(admitted(row), 200, { ...NO_STORE, 'x-hwid-active': 'true' });
});

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: app.fetch });
process.stdout.write(`listening on http://127.0.0.1:${server.port}\n`);
