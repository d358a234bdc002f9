# Everything that is done with this project by name. Needs git, make, and either Bun or Node with npm:
# each target does its own set-up first.

.DEFAULT_GOAL := help
.PHONY: FORCE help setup run demo console build executables deb release package-test check format test test-panels test-kits generators test-long migration generate bench \
	bench-tools screenshots failover failover-tools test-tools kit-tools maven-tools fuzz mutation clean

# The Bun that package.json pins, whatever else the machine has. Installs dependencies if need be.
BUN = $(shell .ci/bun || echo false)

# The platforms of a release: docs/installing.md explains which one to take.
RELEASES = x64 x64-baseline arm64 x64-musl x64-musl-baseline arm64-musl

# From a tarball without git the commit is unknown.
COMMIT = $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
COMPILE = build --compile --bytecode --format esm --minify-syntax --minify-whitespace \
	--no-compile-autoload-dotenv --no-compile-autoload-bunfig \
	--define GATEPOST_COMMIT='"$(COMMIT)"' --asset-naming '[name].[ext]' src/main.ts
# The files of the console's page are embedded beside the program.
CONSOLE = $$(ls dist/console/*.br)

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

setup: ## install the pinned Bun and the dependencies
	@.ci/bun

run: gatepost console ## serve from source on http://127.0.0.1:8080, with a first provider (GATEPOST_PORT=8081: there)
	@GATEPOST_LOG_LEVEL=$${GATEPOST_LOG_LEVEL:-warn} exec ./gatepost serve --first-provider

# The command line from source, for the commands that are printed.
gatepost: Makefile
	@printf '#!/bin/sh\nroot=$$(dirname "$$(readlink -f "$$0")")\nbun=$$("$$root/.ci/bun") && exec "$$bun" "$$root/src/main.ts" "$$@"\n' >$@
	@chmod +x $@

demo: gatepost console ## serve a world that lives, in a temporary directory, on http://127.0.0.1:8080
	@exec ./gatepost demo

build: console ## compile dist/gatepost for this machine
	@$(BUN) $(COMPILE) $(CONSOLE) --outfile dist/gatepost

console: ## make the console's page in dist/console, for the executable and for running from source
	@$(BUN) packaging/console.ts

executables: $(RELEASES:%=dist/gatepost-linux-%) ## compile for x86-64, arm64 and musl Linux (RELEASES='x64 arm64')

# Made each time, because it depends on the whole tree and takes seconds. Bun downloads the runtime
# of another platform.
dist/gatepost-linux-%: FORCE console
	@$(BUN) $(COMPILE) $(CONSOLE) --target=bun-linux-$* --outfile $@ || { \
	  echo "no executable for $*: where its runtime cannot be downloaded, RELEASES='x64' leaves out the others" >&2; exit 1; }

deb: executables ## build the Debian packages in dist/
	@.ci/bun >/dev/null
	@for platform in $(filter x64 arm64,$(RELEASES)); do \
	  packaging/build-deb.sh $$(echo $$platform | sed s/x64/amd64/) dist/gatepost-linux-$$platform || exit 1; \
	done

release: executables ## make dist/release/ for a release page (RELEASE_KEY=file RELEASE_URL=address RELEASES=x64)
	@.ci/bun >/dev/null
	@packaging/release.sh $(RELEASES)

.PHONY: kits
kits: ## pack the kits of sdk/ into dist/kits/packed: the package of npm, and archives of the others
	@rm -rf dist/kits/packed && packaging/kits.sh dist/kits/packed && ls dist/kits/packed

package-test: executables ## install, upgrade, remove and purge the package in a Debian root (as root, minutes)
	@.ci/bun >/dev/null
	@packaging/test/debootstrap.sh

check: ## format, lint, types, tidiness
	@.ci/bun >/dev/null
	@$(BUN) node_modules/@biomejs/biome/bin/biome check --error-on-warnings .
	@$(BUN) node_modules/typescript/bin/tsc
	@$(BUN) node_modules/typescript/bin/tsc --project src/console
	@$(BUN) test test/tidy.test.ts

format: ## put the sources into the common format
	@$(BUN) node_modules/@biomejs/biome/bin/biome check --write .

test: build ## run every test; the last line is the count (FILE='door slot', CHANGED=1: only some)
	@TEST_CHANGED=$(CHANGED) $(BUN) test/run.ts $(FILE)

# test/panels/README.md says what each needs; without sources they are skipped.
test-panels: build ## try the real panels behind Gatepost (PANEL_SOURCES=folder with a checkout each; PANEL_BUILDS=folder)
	@$(BUN) test --timeout=300000 ./test/panels

test-kits: ## check the kits for devices in sdk/ (gcc, a JDK and Kotlin: make kit-tools; without them, it says so)
	@$(BUN) test --timeout=240000 ./test/kits

test-long: build ## run every test; kills, races and models for longer (half an hour or more)
	@TEST_LONG=1 $(BUN) test/run.ts

# Without them the tests that need them are skipped, and say so. What was installed does not stay up.
test-tools: ## install the proxies, the copiers, the browser and the Python library that tests use (Debian, Ubuntu; as root)
	@missing=; for name in nginx caddy haproxy rclone restic chromium chromium-headless-shell; do \
	  command -v $$name >/dev/null || missing="$$missing $$name"; \
	done; \
	python3 -c 'import requests' 2>/dev/null || missing="$$missing python3-requests"; \
	[ -z "$$missing" ] && exit; \
	apt-get update --quiet && apt-get install --yes --no-install-recommends $$missing || exit 1; \
	for name in $$missing; do service $$name stop 2>/dev/null || true; done

kit-tools: ## install gcc, CMake, OpenSSL's headers, a JDK, Maven, the Kotlin compiler and the libraries of the kits in Go, Python and Rust for test-kits (Debian, Ubuntu; as root)
	@.ci/bun >/dev/null
	@missing=; command -v gcc >/dev/null || missing="$$missing gcc libc6-dev"; \
	command -v javac >/dev/null || missing="$$missing default-jdk-headless"; \
	command -v cmake >/dev/null || missing="$$missing cmake"; \
	command -v pkg-config >/dev/null || missing="$$missing pkg-config"; \
	[ -e /usr/include/openssl/ssl.h ] || missing="$$missing libssl-dev"; \
	command -v mvn >/dev/null || missing="$$missing maven"; \
	[ -z "$$missing" ] || { apt-get update --quiet && \
	  apt-get install --yes --no-install-recommends $$missing; }
	@mkdir -p .bootstrap/kotlin && cd .bootstrap/kotlin && echo '{}' >package.json && \
	  $(abspath $(BUN)) add --exact kotlin-compiler@2.4.20 >/dev/null
	@! command -v go >/dev/null || (cd sdk/go && go mod download)
	@PATH="$$PATH:$$HOME/.cargo/bin"; ! command -v cargo >/dev/null || \
	  (cd sdk/rust && cargo fetch --locked --quiet)
	@python3 -m venv .bootstrap/python && .bootstrap/python/bin/pip install --quiet aiohttp==3.13.2

# Gradle itself is in no registry of packages: one of its libraries is, and resolves as it does.
MAVEN_GET = mvn -B -q -Dmaven.repo.local=$(abspath .bootstrap/maven)
maven-tools: ## fetch the plugins of Maven and a Gradle that test-kits uses (with Maven; 180 MB)
	@.ci/bun >/dev/null
	@rm -rf .bootstrap/maven .bootstrap/gradle && mkdir -p .bootstrap/maven-project/src/main/java .bootstrap/gradle && \
	  cd .bootstrap/maven-project && echo 'class Empty {}' >src/main/java/Empty.java && \
	  echo '<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version></project>' >pom.xml && \
	  $(MAVEN_GET) -Dmaven.compiler.source=8 -Dmaven.compiler.target=8 compile && \
	  groovy=org.codehaus.groovy:groovy && \
	  for artifact in dev.gradleplugins:gradle-api:8.5 org.slf4j:slf4j-api:1.7.36 \
	    $$groovy:3.0.17 $$groovy-ant:3.0.17 $$groovy-json:3.0.17 $$groovy-xml:3.0.17; do \
	    $(MAVEN_GET) dependency:copy -Dartifact=$$artifact -DoutputDirectory=$(abspath .bootstrap/gradle) || exit 1; \
	  done

GENERATORS := .bootstrap/generators
generators: ## install five generators of API clients for test-kits (with Node, Python 3 and Go; from their registries)
	@.ci/bun >/dev/null
	@rm -rf $(GENERATORS) && mkdir -p $(GENERATORS)/go && cd $(GENERATORS) && echo '{"type":"module"}' >package.json && \
	  $(abspath $(BUN)) add --exact openapi-typescript@7.13.0 openapi-fetch@0.17.0 \
	    @hey-api/openapi-ts@0.95.0 @redocly/cli@2.77.0 typescript@5.9.3 @types/node@22.19.1 >/dev/null && \
	  python3 -m venv python && python/bin/pip install --quiet openapi-python-client==0.29.1 ruff==0.14.7 && \
	  cd go && export GOFLAGS=-mod=mod GOBIN="$$PWD" && go mod init example.com/client 2>/dev/null && \
	  go get github.com/oapi-codegen/oapi-codegen/v2@v2.8.2 github.com/oapi-codegen/runtime@v1.6.0 && \
	  go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen && touch ../installed

# The page says what the model is, and which seeds judge.
.PHONY: simulate
simulate: ## play the model of copied HWIDs, 50,000 links under each rule, and write its table into docs/gate.md
	@$(BUN) test/simulate.ts

fuzz: build ## odd requests, frames, files and commands (FUZZ_SECONDS=60, FUZZ_SEED to repeat a run)
	@$(BUN) test/fuzz/run.ts

mutation: ## plant mistakes by a seed and see whether a test notices (SEED=7 COUNT=60 MINUTES=60 PART=1/2 PATHS='src/store')
	@.ci/bun >/dev/null
	@SEED=$(SEED) COUNT=$(COUNT) MINUTES=$(MINUTES) PART=$(PART) $(BUN) test/mutation/run.ts $(PATHS)

# The next one is made from the newest snapshot alone.
migration: ## write the next migration from the schema: make migration NAME=what_changes
	@$(BUN) node_modules/drizzle-kit/bin.cjs generate --config migrations/drizzle.config.ts --name $(NAME)
	@cd migrations/sqlite/meta && ls *_snapshot.json | head -n -1 | xargs -r rm
	@$(BUN) migrations/compact.ts
	@$(BUN) node_modules/@biomejs/biome/bin/biome format --write migrations/sqlite/meta

generate: ## write packaging/gatepost.toml and the tables of docs/ from those of the program
	@$(BUN) packaging/generate.ts

# Without packages of their own the peers are left out, and named.
bench: build ## measure a case: make bench BENCH='worst --quick'; BENCH=list names the cases
	@[ -d bench/peers/node_modules ] || [ "$(firstword $(BENCH))" != peers ] || \
	  { cd bench/peers && $(BUN) install --frozen-lockfile; } || true
	@$(BUN) bench/run.ts $(or $(BENCH),bare)

bench-tools: ## install the load generator of the bench (Debian, Ubuntu; as root)
	@command -v wrk taskset >/dev/null || apt-get install --yes --no-install-recommends wrk util-linux

screenshots: ## leave a picture of each page of the console in dist/screenshots
	@$(BUN) test/console/screenshots.ts

failover: build ## kill the leader of a Patroni cluster under load, 20 times (FAILOVER='--failovers 3')
	@$(BUN) test/ha/failover.ts $(FAILOVER)

failover-tools: ## install what the failover is tried with (Debian, Ubuntu; as root)
	@missing=; for name in etcd:etcd-server patroni:patroni haproxy:haproxy; do \
	  command -v $${name%:*} >/dev/null || missing="$$missing $${name#*:}"; \
	done; \
	[ -z "$$missing" ] && exit; \
	apt-get update --quiet && apt-get install --yes --no-install-recommends $$missing || exit 1; \
	for name in etcd patroni haproxy; do service $$name stop >/dev/null 2>&1 || true; done

clean: ## remove what was built and installed, but no data
	rm -rf dist node_modules bench/peers/node_modules .bootstrap
