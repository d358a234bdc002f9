/** The rows with which every peer begins: those of `seed.ts`, as far as the slice reads them. */

import { authKey, domainHash, providerCode, SCATTER_FACTOR, SCATTER_MODULUS } from '../shape.ts';
import { hashKey } from './slice.mjs';

const setting = (name) => Number(process.env[name]);

export const shape = {
  providers: setting('PEER_PROVIDERS'),
  links: setting('PEER_LINKS'),
  devices: setting('PEER_DEVICES'),
};

export const providers = Array.from({ length: shape.providers }, (_, at) => ({
  id: at + 1,
  code: providerCode(at + 1),
  keyHash: hashKey(authKey(at + 1)),
  domainHash: domainHash(at + 1),
}));

export const TABLES = ['provider', 'install', 'device', 'install_device'];

/** Statements that make the tables; the types are what differs between the two databases. */
export const schema = ({ id, text, bytes, int }) => [
  `CREATE TABLE provider (id ${id}, code ${text} NOT NULL UNIQUE, key_hash ${bytes} NOT NULL,
     domain_hash ${text} NOT NULL UNIQUE)`,
  `CREATE TABLE install (id ${id}, provider_id ${int} NOT NULL REFERENCES provider(id),
     install_code ${text} NOT NULL UNIQUE, install_limit ${int} NOT NULL,
     device_count ${int} NOT NULL, status ${int} NOT NULL, note ${text},
     created_at_ms ${int} NOT NULL)`,
  `CREATE TABLE device (id ${id}, hwid ${text} NOT NULL UNIQUE)`,
  `CREATE TABLE install_device (install_id ${int} NOT NULL REFERENCES install(id),
     device_id ${int} NOT NULL REFERENCES device(id), PRIMARY KEY (install_id, device_id))`,
];

/**
 * Statements that fill them. `numbers(n)` is a table of the numbers 1 to n in a column `i`; `pad`
 * and `hex` are the two forms in which `load.lua` writes a number.
 */
export const rows = ({ numbers, pad, hex }) => {
  const scattered = `i * ${SCATTER_FACTOR} % ${SCATTER_MODULUS}`;
  const linksPerDevice = shape.links / shape.devices;
  return [
    `INSERT INTO install (id, provider_id, install_code, install_limit, device_count, status, note,
       created_at_ms)
     SELECT i, (i - 1) % ${shape.providers} + 1, ${pad(scattered)}, 100,
       CASE WHEN i % ${linksPerDevice} = 0 THEN 1 ELSE 0 END, 10, 'customer ' || i,
       ${Date.now()} - (${shape.links} - i) * 1000
     FROM ${numbers(shape.links)}`,
    `INSERT INTO device (id, hwid) SELECT i, ${hex(scattered)} FROM ${numbers(shape.devices)}`,
    `INSERT INTO install_device (install_id, device_id)
     SELECT i * ${linksPerDevice}, i FROM ${numbers(shape.devices)}`,
  ];
};
