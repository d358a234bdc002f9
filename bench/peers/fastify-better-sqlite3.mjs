/** Node, Fastify and better-sqlite3: schemas for queries and answers, one commit for each link. */

import Database from 'better-sqlite3';
import Fastify from 'fastify';
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

const db = new Database(`${process.env.PEER_DATA}/peer.db`);
for (const pragma of PRAGMAS) db.pragma(pragma);
let addProvider;
db.transaction(() =>
  fill(
    (sql) => db.exec(sql),
    (...row) => {
      addProvider ??= db.prepare(ADD_PROVIDER);
      addProvider.run(...row);
    },
  ),
)();
const { keyHash, link, admission, addLink } = Object.fromEntries(
  Object.entries(STATEMENTS).map(([name, sql]) => [name, db.prepare(sql)]),
);

const text = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties) => ({ type: 'object', properties });
const answer = (properties) => ({ 200: object({ rc: integer, msg: text, ...properties }) });
const LINK = object({
  id: integer,
  install_code: text,
  install_limit: integer,
  install_count: integer,
  status: integer,
  note: { type: ['string', 'null'] },
  created_at: text,
});
const credentials = { provider_code: text, auth_key: text };

const app = Fastify({ logger: false });

app.addHook('onRequest', (_, reply, done) => {
  reply.headers(NO_STORE);
  done();
});

app.decorateRequest('provider', null);
const authenticate = (request, reply, next) => {
  const { provider_code: code, auth_key: key } = request.query;
  const provider = keyHash.get(code ?? '');
  if (!isKey(key, provider?.key_hash)) {
    reply.send(AUTH_ERROR);
    return;
  }
  request.provider = provider;
  next();
};

const list = {
  schema: {
    querystring: object({ ...credentials, id: text }),
    response: answer({ data: { type: 'array', items: LINK } }),
  },
  preHandler: authenticate,
};
app.get('/api/list-install', list, (request, reply) => {
  const { id } = request.query;
  if (!isId(id)) return reply.send(UNKNOWN_ERROR);
  const row = link.get(Number(id), request.provider.id);
  return reply.send({ ...OK, data: row ? [listed(row)] : [] });
});

const adding = {
  schema: {
    querystring: object({ ...credentials, install_code: text, install_limit: text, note: text }),
    response: answer({ install_code: text, id: integer }),
  },
  preHandler: authenticate,
};
app.get('/api/add-install', adding, (request, reply) => {
  const wanted = readLink(request.query);
  if (wanted === null) return reply.send(UNKNOWN_ERROR);
  const { code, limit, note } = wanted;
  try {
    const { lastInsertRowid } = addLink.run(request.provider.id, code, limit, note, Date.now());
    return reply.send({ ...OK, install_code: code, id: Number(lastInsertRowid) });
  } catch (error) {
    if (error.code === 'SQLITE_CONSTRAINT_UNIQUE') return reply.send(CODE_EXISTS);
    throw error;
  }
});

const admitting = {
  schema: {
    querystring: object({ id: text, installid: text }),
    response: answer({
      provider_id: text,
      status: integer,
      install_limit: integer,
      install_count: integer,
    }),
  },
};
app.get('/install', admitting, (request, reply) => {
  const { id, installid } = request.query;
  const row = admission.get(request.headers['x-hwid'] ?? '', installid ?? '', id ?? '');
  if (!row) return reply.send(NOT_FOUND);
  return reply.header('x-hwid-active', 'true').send(admitted(row));
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`listening on ${url}\n`);
