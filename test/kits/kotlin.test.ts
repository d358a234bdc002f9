/** The face of the kit in Java for Kotlin, compiled with all warnings as errors. */

import { beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKit, classesIn, JAVA, SHORT_LIVED } from '../support/kits.ts';
import { notify } from '../support/messaging.ts';
import { ROOT, temporaryFolder } from '../support/process.ts';
import { LINK } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { appliance, closers, useKits } from './driven.ts';

/** From npm, by `make kit-tools`. */
const COMPILER = join(ROOT, '.bootstrap/kotlin/node_modules/kotlin-compiler/lib');
const BUILT = temporaryFolder();
const CLASSES = [
  ...[classesIn(join(ROOT, 'dist/kits/java')), join(BUILT, 'kotlin')],
  ...['kotlin-stdlib.jar', 'kotlinx-coroutines-core-jvm.jar'].map((jar) => join(COMPILER, jar)),
].join(':');

const missing = ['javac', 'jar', 'java'].filter((program) => Bun.which(program) === null);
if (!existsSync(COMPILER)) missing.push('Kotlin compiler (make kit-tools)');
if (missing.length > 0) console.warn(`Tests are skipped: there is no ${missing.join(', no ')}.`);
const testKotlin = test.skipIf(missing.length > 0);
useKits();

/** Ends with the device closed, although nobody called `close`. */
const CANCELLED = `
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import org.gatepost.device.*

fun main(args: Array<String>) = runBlocking {
  val store = object : Store {
    override fun read(): String? = null
    override fun write(text: String) {}
  }
  val device = device(args[0], store) { null }
  println(withTimeoutOrNull(50) { device.run() })
  println(device.await())
}
`;

beforeAll(() => {
  if (missing.length > 0) return;
  buildKit('java');
  const cancelled = join(BUILT, 'Cancelled.kt');
  writeFileSync(cancelled, CANCELLED);
  const compiler = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler';
  const terms = ['-no-stdlib', '-no-reflect', '-jvm-target', '1.8', '-Werror', '-cp', CLASSES];
  const sources = [join(ROOT, 'sdk/java/kotlin'), cancelled];
  const out = join(BUILT, 'kotlin');
  // On the path of classes it must be there.
  mkdirSync(out);
  const words = [...SHORT_LIVED, '-cp', `${COMPILER}/*`, compiler, ...terms, '-d', out, ...sources];
  const { exitCode, stderr } = Bun.spawnSync(['java', ...words]);
  if (exitCode !== 0) throw new Error(`the Kotlin compiler failed:\n${stderr}`);
});

testKotlin('a sample with a suspending handler gets a message', async () => {
  const { app, shop } = await appliance();
  const command = [...JAVA, CLASSES, 'SampleKt', app.url, LINK, 'a'.repeat(64)];
  const cwd = temporaryFolder();
  const sample = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'inherit' });
  closers.push(async () => {
    sample.kill();
    await sample.exited;
  });
  await until('it is open', () => app.server.streamCount() === 1);
  const { hwid } = JSON.parse(readFileSync(join(cwd, 'device.json'), 'utf8'));
  const id = await notify(app, shop, 'hello from far', { hwid });
  await until('it is acknowledged', async () => {
    const found = await app.core.store.findDistribution(id, 1);
    return found?.totals.received === 1;
  });
  sample.kill();
  expect(await new Response(sample.stdout).text()).toContain('hello from far');
});

testKotlin('who is cancelled closes the device', () => {
  const { stdout } = Bun.spawnSync([...JAVA, CLASSES, 'CancelledKt', 'http://127.0.0.1:1']);
  expect(String(stdout)).toBe('null\nCLOSED\n');
});
