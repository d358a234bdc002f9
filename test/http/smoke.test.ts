import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('add-install answers with exactly the documented fields', async () => {
  const credentials = await seedProvider(app);
  const query = { install_limit: 3, install_code: 'ABCDEFGH1234', note: 'Привет' };
  const reply = await call(app, '/api/add-install', credentials, query);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.text).toBe('{"rc":1,"msg":"Ok","install_code":"ABCDEFGH1234","id":1}');
});
