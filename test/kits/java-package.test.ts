/**
 * The release of the kit in Java, from a repository in a folder, by Maven and by Gradle. Their
 * plugins and libraries come from a registry, by `make maven-tools`: without them a test skips.
 */

import { beforeAll, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../package.json';
import { JAVA } from '../support/kits.ts';
import { notify } from '../support/messaging.ts';
import { ROOT, temporaryFolder } from '../support/process.ts';
import { LINK } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { appliance, closers, useKits } from './driven.ts';

const FOLDER = temporaryFolder();
const REPOSITORY = join(FOLDER, 'repository');
const RELEASE = join(REPOSITORY, 'org/gatepost/gatepost-device', version);
/** By `make kit-tools`: plugins of Maven and, for the module metadata, a Gradle that reads it. */
const MAVEN = join(ROOT, '.bootstrap/maven');
const GRADLE = join(ROOT, '.bootstrap/gradle');
const KOTLIN = join(ROOT, '.bootstrap/kotlin/node_modules/kotlin-compiler/lib');
useKits();

const has = (...programs: string[]) => programs.every((program) => Bun.which(program) !== null);

/** `test`, or one that skips with its reason. */
function testIf(isThere: boolean, needed: string): ReturnType<typeof test.skipIf> {
  if (!isThere) console.warn(`Tests are skipped: there is no ${needed}.`);
  return test.skipIf(!isThere);
}

const hasJava = has('javac', 'jar', 'java', 'javadoc');
const testRelease = testIf(hasJava, 'JDK');
const testMaven = testIf(
  hasJava && has('mvn') && existsSync(MAVEN),
  'Maven with its plugins (make maven-tools)',
);
const testGradle = testIf(hasJava && has('gradle'), 'gradle');
const testModule = testIf(
  hasJava && existsSync(GRADLE) && existsSync(KOTLIN),
  'Gradle that reads module metadata (make maven-tools kit-tools)',
);

function run(words: readonly string[], cwd: string, env: Record<string, string> = {}): string {
  const options = { cwd, env: { ...process.env, ...env } };
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], options);
  if (exitCode !== 0) throw new Error(`${words.join(' ')}:\n${stdout}${stderr}`);
  return String(stdout);
}

beforeAll(() => {
  if (!hasJava) return;
  const env: Record<string, string> = {};
  if (existsSync(KOTLIN)) {
    const compiler = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler';
    env['KOTLINC'] = join(FOLDER, 'kotlinc');
    env['KOTLIN_LIBS'] = libraries('kotlin-stdlib', 'kotlinx-coroutines-core-jvm');
    writeFileSync(env['KOTLINC'], `#!/bin/sh\nexec java -cp '${KOTLIN}/*' ${compiler} "$@"\n`);
    chmodSync(env['KOTLINC'], 0o755);
  }
  run([join(ROOT, 'sdk/java/release.sh'), REPOSITORY], FOLDER, env);
});

const libraries = (...names: string[]) =>
  names.map((name) => join(KOTLIN, `${name}.jar`)).join(':');

/** A project of an app, outside of the kit: the sample. */
function project(file: string, text: string): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'src/main/java'), { recursive: true });
  writeFileSync(join(folder, file), text);
  const sample = readFileSync(join(ROOT, 'sdk/java/sample/Sample.java'));
  writeFileSync(join(folder, 'src/main/java/Sample.java'), sample);
  return folder;
}

/** Runs the sample with the jar of the release; a message must arrive. */
async function getsMessage(classes: string): Promise<void> {
  const { app, shop } = await appliance();
  const cwd = temporaryFolder();
  const path = `${classes}:${join(RELEASE, `gatepost-device-${version}.jar`)}`;
  const printed = Bun.file(join(cwd, 'printed'));
  const child = Bun.spawn([...JAVA, path, 'Sample', app.url, LINK, 'a'.repeat(64)], {
    cwd,
    stdout: printed,
    stderr: 'inherit',
  });
  closers.push(async () => {
    child.kill();
    await child.exited;
  });
  await until('it is open', () => app.server.streamCount() === 1);
  const { hwid } = JSON.parse(readFileSync(join(cwd, 'device.json'), 'utf8'));
  await notify(app, shop, 'hello', { hwid });
  await until('the message is there', async () => (await printed.text()).includes('hello'));
}

testRelease('it carries its version, licence, changes, sources and documentation', () => {
  const entriesOf = (kind: string) =>
    run(['jar', '--list', '--file', `gatepost-device-${version}${kind}.jar`], RELEASE);
  expect(entriesOf('')).toContain('META-INF/gatepost-device/LICENSE');
  expect(entriesOf('-sources')).toContain('META-INF/gatepost-device/CHANGELOG.md');
  expect(entriesOf('-sources')).toContain('org/gatepost/device/Device.java');
  expect(entriesOf('-javadoc')).toContain('org/gatepost/device/Device.html');
  const pom = readFileSync(join(RELEASE, `gatepost-device-${version}.pom`), 'utf8');
  expect(pom).toContain(`<version>${version}</version>`);
  const { variants } = JSON.parse(
    readFileSync(join(RELEASE, `gatepost-device-${version}.module`), 'utf8'),
  );
  const files = variants.flatMap((variant: { files: { name: string; sha256: string }[] }) =>
    variant.files.map(({ name, sha256 }) => [name, sha256]),
  );
  expect(variants.map(({ name }: { name: string }) => name)).toEqual([
    'apiElements',
    'runtimeElements',
    'sourcesElements',
    'javadocElements',
  ]);
  for (const [name, sum] of files) {
    const bytes = readFileSync(join(RELEASE, name));
    expect(new Bun.CryptoHasher('sha256').update(bytes).digest('hex')).toBe(sum);
  }
});

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>phone</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <repositories>
    <repository><id>gatepost</id><url>file://${REPOSITORY}</url></repository>
  </repositories>
  <dependencies>
    <dependency>
      <groupId>org.gatepost</groupId>
      <artifactId>gatepost-device</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`;

testMaven('a project of Maven takes it, and gets a message', async () => {
  const folder = project('pom.xml', POM);
  // What an earlier run took is another release.
  rmSync(join(MAVEN, 'org/gatepost'), { recursive: true, force: true });
  const offline = ['--offline', '-Daether.offline.protocols=file'];
  run(['mvn', '-B', '-q', ...offline, `-Dmaven.repo.local=${MAVEN}`, 'compile'], folder);
  await getsMessage(join(folder, 'target/classes'));
});

const BUILD = `
plugins { id 'java' }
repositories { maven { url 'file://${REPOSITORY}' } }
dependencies { compile 'org.gatepost:gatepost-device:${version}' }
`;

testGradle('a project of Gradle takes it by its pom, and gets a message', async () => {
  const folder = project('build.gradle', BUILD);
  run(['gradle', '--offline', '--no-daemon', '-q', '-g', join(folder, 'home'), 'classes'], folder);
  await getsMessage(join(folder, 'build/classes/java/main'));
});

/** Resolves an artifact in a repository as a project with the plugin \`java\` does. */
const RESOLVE = `
import java.io.File;
import org.gradle.api.Project;
import org.gradle.api.artifacts.result.*;
import org.gradle.testfixtures.ProjectBuilder;

public class Resolve {
  public static void main(String[] args) {
    File home = new File(args[0]);
    ProjectBuilder builder = ProjectBuilder.builder().withProjectDir(home);
    Project project = builder.withGradleUserHomeDir(home).build();
    project.getPluginManager().apply("java");
    project.getRepositories().maven(it -> it.setUrl(new File(args[1]).toURI()));
    project.getDependencies().add("implementation", args[2]);
    for (String path : new String[] {"compileClasspath", "runtimeClasspath"}) {
      ResolutionResult all =
          project.getConfigurations().getByName(path).getIncoming().getResolutionResult();
      for (ResolvedComponentResult one : all.getAllComponents()) {
        for (ResolvedVariantResult variant : one.getVariants()) {
          System.out.println(path + " " + one.getId() + " " + variant.getDisplayName());
        }
      }
    }
    // Threads of Gradle would live on.
    System.exit(0);
  }
}
`;

testModule('a newer Gradle reads the module metadata of both artifacts', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'Resolve.java'), RESOLVE);
  const path = `${GRADLE}/*:${libraries('kotlin-stdlib', 'kotlin-reflect')}:${folder}`;
  run(['javac', '-cp', path, '-d', folder, 'Resolve.java'], folder);
  const opened = ['java.base/java.lang', 'java.base/java.util'];
  const words = opened.flatMap((one) => ['--add-opens', `${one}=ALL-UNNAMED`]);
  const artifact = `org.gatepost:gatepost-device-kotlin:${version}`;
  const out = run(
    ['java', ...words, '-cp', path, 'Resolve', join(folder, 'home'), REPOSITORY, artifact],
    folder,
  );
  for (const one of ['gatepost-device', 'gatepost-device-kotlin']) {
    // By a pom they would be `compile` and `runtime`.
    expect(out).toContain(`compileClasspath org.gatepost:${one}:${version} apiElements`);
    expect(out).toContain(`runtimeClasspath org.gatepost:${one}:${version} runtimeElements`);
  }
});
