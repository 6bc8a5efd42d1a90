# Archivolt. `make` alone lists the targets, which install what they need.
.DEFAULT_GOAL := help
SHELL := /bin/sh
# config/tools.sh downloads missing programs to tools/bin; those of the system come first.
export PATH := $(PATH):$(CURDIR)/tools/bin

TSX := node --import tsx --conditions=source
BIOME := --config-path=config/format.json core plugins config test
# Includes folders, because removing a file changes only the time of its folder.
SOURCES := core plugins config package.json package-lock.json
# Running it needs no type checker, no linter and no browser driver.
PACKAGES := $(if $(filter-out run rotate-key index-move clean,$(MAKECMDGOALS)),all,needed)
TESTS := $(if $(ALL),--all) $(ONLY)
# Checks only changed files again.
TSC := node_modules/.bin/tsc --incremental --tsBuildInfoFile .cache/types

.PHONY: help run check test test-release release package dev bench soak demo pictures rotate-key index-move clean format packages ytdlp apprise ffmpeg chromium firefox kodi gpodder restic elasticsearch tools light-tests build lint types
.SILENT:

help: ## list the targets
	awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: tools build ## install, bundle and start the server: http://127.0.0.1:8000/
	exec config/archivolt start

# `test/support/needs.ts` says which tests are quick.
check: packages ## check format, style and types, and run the quick tests (a minute on two cores)
	$(MAKE) --no-print-directory -j 3 light-tests lint types

test: packages ## check everything and run the tests that need no browser and no Elasticsearch; ALL=1: all; ONLY=plugins/playlist: those of a folder
	needs=$$($(TSX) test/support/needs.ts $(TESTS)) && $(MAKE) --no-print-directory -j 2 $(if $(ONLY),packages,lint types) $$needs
	echo 'Running the tests'
	$(TSX) test/run.ts $(TESTS)

test-release: tools release ## build each release artifact, install it in an empty folder outside of the tree, and use it there
	$(TSX) --test --test-concurrency=2 test/release/*.ts

dev: tools build ## start the server from its sources, again after each change in them or in a plugin of AV_PLUGINS_DIR
	exec $(TSX) config/dev.ts

bench: tools build ## run the benches of test/bench and write bench.json; BENCH="http queue" runs some
	$(TSX) test/bench/run.ts $(BENCH)

soak: tools build ## run the long tests of test/soak: kills, fuzzing, mixed load; hours; KILLS=50 CASES=1000 MINUTES=5 set the numbers
	for file in $$(find test/soak -maxdepth 1 -name '*.ts' | sort); do echo "== $$file"; $(TSX) $$file || exit 1; done

demo: tools build ## start the server with a small video platform on this machine; needs no internet; EMPTY=1: as a new user finds it
	exec $(TSX) test/support/demo.ts

pictures: tools chromium build ## take the pictures of the README from the demo
	$(TSX) test/support/pictures.ts

rotate-key: packages build ## end all sessions and tokens with a new secret key (the server must be stopped)
	config/archivolt rotate-key

index-move: packages build ## copy all documents to the other index: TO=elasticsearch, or TO=embedded to move back (the server must be stopped)
	config/archivolt index-move $(TO) $(if $(ANYWAY),--anyway)

release: tools build ## build the releases: a tarball for each kind of machine, in release/; FOR=x64: one of x64, arm64, x64-musl, arm64-musl
	$(TSX) config/build-release.ts $(FOR)

package: build ## build the npm packages for plugin authors, as tarballs, in packages/
	$(TSX) config/build-packages.ts

format: packages ## format all code, and fix what the linter can
	node_modules/.bin/biome check --write $(BIOME)

clean: ## remove everything built and installed; the data folder stays
	echo 'Removing dist/, packages/, release/, node_modules/, tools/, .cache/'
	rm -rf dist dist.new dist.old packages release node_modules tools .cache bench.json

packages:
	config/tools.sh packages $(PACKAGES)

ytdlp: packages
	config/tools.sh ytdlp

apprise: ytdlp
	config/tools.sh apprise

ffmpeg: ytdlp
	config/tools.sh ffmpeg

chromium: packages
	config/tools.sh chromium

firefox: packages
	config/tools.sh firefox

kodi:
	config/tools.sh kodi

gpodder: packages
	config/tools.sh gpodder

restic: packages
	config/tools.sh restic

elasticsearch:
	config/tools.sh elasticsearch

tools: packages ytdlp apprise ffmpeg

light-tests: packages
	$(TSX) test/run.ts --light

lint: packages
	echo 'Checking format and style'
	node_modules/.bin/biome check --error-on-warnings $(BIOME)

types: packages
	echo 'Checking types'
	$(TSC)/all.json -p .
	$(TSC)/page.json -p plugins/web/page

build: packages
	test -e dist/main.js && test -z "$$(find $(SOURCES) -newer dist/main.js 2>/dev/null | head -n 1)" || { echo 'Bundling into dist/'; $(TSX) config/build.ts; }
