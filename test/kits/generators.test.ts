/**
 * Five generators of clients take the whole OpenAPI document, and a client of each adds a link and
 * lists it. `make generators` installs them; without them the tests are skipped, and say so.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { openApiDocument } from '../../src/http/document/openapi.ts';
import { call } from '../support/app.ts';
import {
  addProviderByCommand,
  cleanUp,
  ROOT,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';

const TOOLS = join(ROOT, '.bootstrap/generators');
const NODE_PROGRAMS = join(TOOLS, 'node_modules/.bin');
const PYTHON = join(TOOLS, 'python/bin');
/** Written last by `make generators`. */
const areHere = existsSync(join(TOOLS, 'installed'));
if (!areHere) console.warn('Tests are skipped: there are no generators (make generators).');
const testGenerator = test.skipIf(!areHere);
/** A Go compiler on a busy machine. */
const COMPILE_MS = 10 * PATIENCE_MS;

/** Inside the folder of the tools, where their libraries are found. */
const work = join(TOOLS, `run-${process.pid}`);
const file = join(work, 'openapi.json');
let server: ServerProcess;
let own: Credentials;

beforeAll(async () => {
  if (!areHere) return;
  mkdirSync(work);
  writeFileSync(file, JSON.stringify(openApiDocument()));
  server = await startServe({ dataDir: join(temporaryFolder(), 'data') });
  own = await addProviderByCommand(server.dataDir);
});
afterAll(async () => {
  await Bun.$`rm -rf ${work}`.quiet();
  await cleanUp();
});

/** Runs a program to its end and returns what it printed. Throws if it fails. */
async function printed(words: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(words, {
    cwd: work,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')} failed:\n${out}${err}`);
  return out + err;
}

/** What each program gets: where the server is, who calls, and the link that it adds. */
const wordsFor = (code: string) => [server.url, own.code, own.authKey, code];

async function expectLink(code: string): Promise<void> {
  const { json } = await call(server, '/api/list-install', own);
  const found = json.data.find((link: Record<string, unknown>) => link['install_code'] === code);
  expect(found).toMatchObject({ install_limit: 3 });
}

/** What the two write. */
const [TYPES, HEY] = ['openapi.d.ts', 'hey'];
const quoted = (name: string) => `'./${name}'`;
const TYPESCRIPT = {
  'openapi-fetch': `
import createClient from 'openapi-fetch';
import type { paths } from ${quoted(TYPES)};
const [url = '', provider_code = '', auth_key = '', install_code = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url });
const query = { provider_code, auth_key };
const link = { install_code, install_limit: 3, enforce: '1' } as const;
const added = await client.GET('/api/add-install', { params: { query: { ...query, ...link } } });
console.log(added.data?.rc, added.data?.msg);
`,
  'openapi-ts': `
import { createClient, createConfig } from ${quoted(`${HEY}/client/index.ts`)};
import { addInstall } from ${quoted(`${HEY}/sdk.gen.ts`)};
const [url = '', code = '', auth_key = '', install_code = ''] = process.argv.slice(2);
const auth = ({ name }: { name?: string }) => (name === 'auth_key' ? auth_key : code);
const client = createClient(createConfig({ baseUrl: url, auth }));
const added = await addInstall({ client, query: { install_code, install_limit: 3, enforce: '1' } });
console.log(added.data?.rc, added.data?.msg);
`,
};

testGenerator(
  'openapi-typescript with openapi-fetch',
  async () => {
    await printed([join(NODE_PROGRAMS, 'openapi-typescript'), file, '-o', TYPES]);
    writeFileSync(join(work, 'fetch.ts'), TYPESCRIPT['openapi-fetch']);
    const said = await printed([process.execPath, 'fetch.ts', ...wordsFor('OPENAPIFETCH')]);
    expect(said).toBe('1 Ok\n');
    await expectLink('OPENAPIFETCH');
  },
  COMPILE_MS,
);

testGenerator(
  '@hey-api/openapi-ts, with the credentials as its security',
  async () => {
    await printed([join(NODE_PROGRAMS, 'openapi-ts'), '-i', file, '-o', HEY]);
    writeFileSync(join(work, 'hey.ts'), TYPESCRIPT['openapi-ts']);
    const said = await printed([process.execPath, 'hey.ts', ...wordsFor('OPENAPITSHEY')]);
    expect(said).toBe('1 Ok\n');
    await expectLink('OPENAPITSHEY');
  },
  COMPILE_MS,
);

testGenerator(
  'both clients in TypeScript compile with all checks',
  async () => {
    const terms = ['--noEmit', '--strict', '--module', 'esnext', '--target', 'es2022'];
    const more = [
      '--moduleResolution',
      'bundler',
      '--allowImportingTsExtensions',
      '--types',
      'node',
    ];
    const compiler = join(NODE_PROGRAMS, 'tsc');
    await printed([compiler, ...terms, ...more, 'fetch.ts', 'hey.ts']);
  },
  COMPILE_MS,
);

const PYTHON_CLIENT = `
import sys
from py import Client
from py.api.limited_links import add_install
from py.models.add_install_enforce import AddInstallEnforce
url, provider_code, auth_key, install_code = sys.argv[1:]
own = {"params": {"provider_code": provider_code, "auth_key": auth_key}}
with Client(base_url=url, httpx_args=own) as client:
    added = add_install.sync(client=client, install_limit=3, install_code=install_code,
                             enforce=AddInstallEnforce.VALUE_1)
    print(int(added.rc), added.msg)
`;

testGenerator(
  'openapi-python-client',
  async () => {
    const generator = join(PYTHON, 'openapi-python-client');
    const terms = ['--path', file, '--output-path', 'py', '--meta', 'none', '--fail-on-warning'];
    // It looks for a formatter on the path.
    const env = { PATH: `${PYTHON}:${process.env['PATH']}` };
    await printed([generator, 'generate', ...terms], env);
    writeFileSync(join(work, 'call.py'), PYTHON_CLIENT);
    const said = await printed([join(PYTHON, 'python'), 'call.py', ...wordsFor('PYTHONCLIENT')]);
    expect(said).toBe('1 Ok\n');
    await expectLink('PYTHONCLIENT');
  },
  COMPILE_MS,
);

const GO_CLIENT = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/oapi-codegen/oapi-codegen/v2/pkg/securityprovider"
)

func main() {
	url, code, key, install := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	first, _ := securityprovider.NewSecurityProviderApiKey("query", "provider_code", code)
	second, _ := securityprovider.NewSecurityProviderApiKey("query", "auth_key", key)
	own := []ClientOption{WithRequestEditorFn(first.Intercept), WithRequestEditorFn(second.Intercept)}
	client, err := NewClientWithResponses(url, own...)
	if err != nil {
		panic(err)
	}
	enforce := AddInstallParamsEnforce("1")
	params := &AddInstallParams{InstallLimit: 3, InstallCode: &install, Enforce: &enforce}
	added, err := client.AddInstallWithResponse(context.Background(), params)
	if err != nil {
		panic(err)
	}
	body, err := added.JSON200.AsAddInstall200JSONResponseBody0()
	if err != nil {
		panic(err)
	}
	fmt.Println(body.Rc, body.Msg)
}
`;

testGenerator(
  'oapi-codegen',
  async () => {
    const folder = join(TOOLS, 'go');
    await printed([
      join(folder, 'oapi-codegen'),
      ...['-generate', 'types,client', '-package', 'main', '-o', join(folder, 'client.go'), file],
    ]);
    writeFileSync(join(folder, 'main.go'), GO_CLIENT);
    const terms = ['run', '-C', folder, '.'];
    const said = await printed(['go', ...terms, ...wordsFor('OAPICODEGEN1')], {
      GOFLAGS: '-mod=mod',
    });
    expect(said).toBe('1 Ok\n');
    await expectLink('OAPICODEGEN1');
  },
  COMPILE_MS,
);

testGenerator(
  'redocly finds no error',
  async () => {
    const terms = ['lint', '--format', 'summary', file];
    await printed([join(NODE_PROGRAMS, 'redocly'), ...terms], { REDOCLY_TELEMETRY: 'off' });
  },
  COMPILE_MS,
);
