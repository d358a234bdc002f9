import { expect, test } from 'bun:test';
import { plainEnv, ROOT } from '../support/process.ts';

test('without sources each panel is skipped with a sentence, and nothing fails', () => {
  const files = ['3x-ui', 'marzban', 'pasarguard', 'hiddify'].map(
    (name) => `./test/panels/${name}.test.ts`,
  );
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'test', ...files], {
    cwd: ROOT,
    env: plainEnv({ CI: 'true', PANEL_SOURCES: '' }),
  });
  const said = String(stderr);
  expect(said.match(/^Tests are skipped: PANEL_SOURCES names no folder .*$/gm)).toHaveLength(4);
  expect(said).toContain('4 skip');
  expect(said).toContain('0 fail');
  expect(exitCode).toBe(0);
});
