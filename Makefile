# siwa
#
#   make demo       install what is missing, build, and run the main job against the emulator
#   make test       install what is missing, and run every test
#   make build      build siwa, siwa-server and siwa-emulator in .build/release
#   make setup      install what is missing, and say what cannot be installed
#   make start-order  write packaging/start-order.txt anew: the functions that a start calls
#   make lint       check the formatting; make format fixes it
#   make example    build Examples/SignInService, and run it against the emulator
#   make docs       build the library's documentation in .build/documentation
#   make test-browser  install Chromium, too, and try the emulator's pages in it
#   make screenshots   draw the pictures in docs/images with Chromium
#   make test-monitoring  install Prometheus's tools, and try the metrics and the alerts with them
#   make check      lint and test, as a change must pass
#   make test-clients  run other people's OAuth clients against the emulator: CLIENTS (all of them)
#   make test-api   try siwa-server with schemathesis and standardwebhooks: API_EXAMPLES (100) a call
#   make sanitize   run the tests of the adapters and of the server under the address and thread sanitizers
#   make fuzz       look for inputs that break a rule: FUZZ_SECONDS (600) a target, or TARGET alone
#   make endurance  run the long versions of tests with the release build, for an hour: ENDURANCE
#   make bench      measure siwa beside what one would use in its place, and write docs/benchmarks;
#                   ROUNDS (5) a table, or TABLE alone
#   make bench-vault  measure what a record of a vault costs, by its size: RECORDS (30000,1000000)
#   make bench-workers  measure what processes cost that share a vault: WORKERS (1,2,4,8)
#   make packages   write Debian packages to .build/packages, checked by lintian
#   make test-packages  install, use, upgrade and purge them in clean systems of Debian 12 and 13
#   make test-pages  run the shell blocks of the runbooks and of docs/server.md on a server as the
#                   packages make it, with both databases: PAGES
#   make test-upgrade  upgrade a running server from packages of the commit UPGRADE_FROM
#   make apt-repository  write a signed repository for apt to .build/apt: APT_KEY
#   make test-reproducible  build in two folders, and compare the packages with diffoscope
#   make image      write OCI images to .build/images, without a daemon; make test-image runs them
#   make test-signers  sign with keys in SoftHSM, a TPM, an SSH agent, AWS KMS (moto) and stubs of others:
#                   SIGNERS (all of them)
#   make test-migrations  move users in SQLite, PostgreSQL and MariaDB with the scripts of 'siwa migrate plan':
#                   MIGRATIONS (all), such as 'sqlite cases'
#   make test-kubernetes  check deploy/kubernetes with kubernetes-validate
#   make release    write packages, images, a bill of materials and SHA256SUMS to .build/release-files
#   make install    install what 'make build' built, with manual pages and completions, under PREFIX
#                   (/usr/local); it builds nothing, so that root needs no Swift
#   make uninstall  remove what make install installed
#   make clean      remove everything that was built

SHELL := /bin/bash
PREFIX ?= /usr/local
PROGRAMS := siwa siwa-server siwa-emulator
RELEASE := .build/release
MANUALS = $(DESTDIR)$(PREFIX)/share/man/man1
COMPLETIONS = $(DESTDIR)$(PREFIX)/share

# Debian's packages: the C libraries, what Swift's linker needs, and what the tests call.
PACKAGES := binutils libssl-dev libcurl4-openssl-dev libmicrohttpd-dev libsqlite3-dev libpq-dev \
	pkg-config libc6-dev openssl curl
# What the tests need besides; without them tests are skipped. Only CI gets what is large, or would
# start services on a machine with systemd: Chromium; pgbouncer; Prometheus's tools, PHP and
# systemd-analyze, which are 37 MB to fetch, 390 MB installed, and take half a minute.
CI_PACKAGES := chromium prometheus prometheus-node-exporter php-cli php-curl systemd pgbouncer
TEST_PACKAGES := jq nginx-light postgresql sqlite3 zsh fish mandoc strace python3-jwt \
	python3-cryptography $(if $(filter true,$(CI)),$(CI_PACKAGES))

# The Swift runtime inside, libstdc++ too, libcurl not at all: a third of the start-up time
# (docs/decisions/linking.md).
# Without incremental code generation, because the compiler would keep a hash of each module's
# settings, the names of folders among them, in the program (make test-reproducible).
# The linker is LLVM's, because GNU gold does not pack the addresses that a start relocates.
# A section for each function lets it drop those that nothing calls, and put those that a start calls
# beside each other.
STATIC_LIBRARIES := .build/static
UNSTRIPPED_FLAGS := -c release --static-swift-stdlib --disable-local-rpath \
	-Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen \
	-Xswiftc -Xfrontend -Xswiftc -function-sections \
	-Xswiftc -Xclang-linker -Xswiftc -static-libgcc \
	-Xlinker -L$(STATIC_LIBRARIES) -Xlinker --gc-sections -Xlinker --no-export-dynamic \
	-Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld -Xlinker -z -Xlinker pack-relative-relocs
RELEASE_FLAGS := $(UNSTRIPPED_FLAGS) -Xlinker -s -Xlinker --no-warn-symbol-ordering \
	-Xlinker --symbol-ordering-file=$(CURDIR)/packaging/start-order.txt

.PHONY: demo test example docs test-browser test-monitoring screenshots test-clients test-api build setup lint format check sanitize fuzz fuzz-keep endurance bench bench-vault bench-workers \
	install uninstall clean packages apt-repository test-packages test-pages test-upgrade test-reproducible image test-image test-kubernetes test-signers \
	test-migrations \
	release start-order

# The build that .ci/test makes: optimised, with debug checks.
TEST_FOLDER := .build/optimised
TEST_PRODUCTS := $(TEST_FOLDER)/debug
BUILD_FLAGS := $(file < .ci/build-flags)
BUILD_TESTED := SIWA_OPTIMISED=1 swift build $(BUILD_FLAGS) --scratch-path $(TEST_FOLDER)

demo: build
	@docs/demo.sh $(RELEASE)

# Twelve tests at once keep two cores busy while some of them wait for a process or a timeout. All of
# them at once would wait for each other, and their timeouts would run meanwhile.
test:
	@.ci/setup $(PACKAGES) $(TEST_PACKAGES)
	@.ci/test --experimental-maximum-parallelization-width 12
	@$(MAKE) --no-print-directory example

# A package of its own, as a user of the library has it.
EXAMPLE := Examples/SignInService
example: setup
	$(BUILD_TESTED) --product siwa-emulator
	swift build $(BUILD_FLAGS) --package-path $(EXAMPLE) --scratch-path .build/example
	@$(EXAMPLE)/run.sh .build/example/debug/SignInService $(TEST_PRODUCTS)

docs:
	swift build
	docs/documentation.sh .build/debug/Modules

test-browser:
	@.ci/setup $(PACKAGES) chromium
	swift test --experimental-maximum-parallelization-width 2 --filter BrowserTests

# Debian's node exporter and promtool, which the tests skip where they are missing.
test-monitoring:
	@.ci/setup $(PACKAGES) prometheus prometheus-node-exporter
	swift test --filter 'SiwaTests.(MetricsTests|MonitoringTests)'

screenshots:
	@.ci/setup $(PACKAGES) chromium
	@mkdir -p docs/images
	SIWA_SCREENSHOTS="$$PWD/docs/images" swift test --filter SiwaTests.Screenshots

# Other people's clients, unmodified, against the emulator as appleid.apple.com
# (docs/testing-your-app.md). PYTHON_CLIENTS are PyPI's, in an environment of their own.
CLIENTS ?= python ruby go php fixtures vectors conform sites
CLIENT_PACKAGES := python3-venv iproute2 golang-go golang-golang-x-oauth2-dev \
	golang-github-golang-jwt-jwt-dev ruby ruby-oauth2 ruby-jwt php-cli php-curl nodejs
PYTHON_CLIENT_PACKAGES := python3-venv iproute2
PYTHON_CLIENTS := social-auth-core==7.0.0 social-auth-app-django==8.0.0 Django==5.2.19 'django-allauth[socialaccount]==65.21.1' PyJWT==2.15.1 python-jose==3.5.0 Authlib==1.9.9 \
	joserfc==1.8.0 requests-oauthlib==2.0.0 graphql-core==3.2.6 pytest
CLIENT_PRODUCTS ?= $(TEST_PRODUCTS)
test-clients:
	@.ci/setup $(PACKAGES) $(if $(filter-out python,$(CLIENTS)),$(CLIENT_PACKAGES),$(PYTHON_CLIENT_PACKAGES))
	@$(BUILD_TESTED) --product siwa && $(BUILD_TESTED) --product siwa-emulator
	@python3 -m venv .build/clients
	@.build/clients/bin/pip install --quiet $(PYTHON_CLIENTS)
	SIWA_CLIENTS_PYTHON="$$PWD/.build/clients/bin/python" SIWA_CLIENTS_CACHE="$$PWD/.build/clients" \
		Tests/Clients/run.sh $(CLIENT_PRODUCTS) $(CLIENTS)

# PyPI's tools against the server: from its OpenAPI document, and as the application that it calls.
API_EXAMPLES ?= 100
API_TOOLS := schemathesis==4.32.5 standardwebhooks==1.1.0
test-api:
	@.ci/setup $(PACKAGES) python3-venv
	@for product in $(PROGRAMS); do $(BUILD_TESTED) --product $$product || exit 1; done
	@python3 -m venv .build/api
	@.build/api/bin/pip install --quiet $(API_TOOLS)
	@.build/api/bin/python Tests/Clients/api/check.py $(CLIENT_PRODUCTS) $(API_EXAMPLES)

build: setup
	@mkdir -p $(STATIC_LIBRARIES)
	@ln -sf "$$(clang -print-file-name=libstdc++.a)" $(STATIC_LIBRARIES)/libstdc++.a
	swift build $(RELEASE_FLAGS)
	@# Regular expressions, a megabyte and a slower start, come with one careless `contains`
	@# (docs/decisions/linking.md).
	@! find $(patsubst Sources/%,$(RELEASE)/%.build,$(wildcard Sources/*)) -name '*.o' \
		-exec nm -u {} + 2>/dev/null | grep -m 1 _StringProcessing
	@# The linker writes a file in pieces, and the page cache keeps it so: until the machine
	@# reads it again, every start is a seventh slower than that of a copy.
	@for program in $(PROGRAMS); do \
		cp $(RELEASE)/$$program $(RELEASE)/$$program.whole && \
		mv $(RELEASE)/$$program.whole $(RELEASE)/$$program; \
	done

start-order:
	@.ci/setup $(PACKAGES) jq valgrind
	swift build $(UNSTRIPPED_FLAGS)
	packaging/start-order $(RELEASE)

setup:
	@.ci/setup $(PACKAGES)

lint:
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks Examples

format:
	swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples

check: lint test

# Two tests at once: the sanitizers make programs slow, and timeouts run meanwhile.
SANITIZED ?= SIWACryptoTests|SIWACurlTransportTests|SIWAServerRecordsTests|SIWAServerTests|SIWAEmulatorServerTests
# Leaks of these alone: elsewhere, the stack that a program keeps for its signal handlers, and what
# Foundation's URLSession keeps, would be reported.
LEAK_CHECKED := SIWACryptoTests|SIWACurlTransportTests
SANITIZE := swift test --disable-xctest --experimental-maximum-parallelization-width 2 --filter
sanitize: setup
	$(SANITIZE) '^($(LEAK_CHECKED))\.' --sanitize=address --scratch-path .build/address
	ASAN_OPTIONS=detect_leaks=0 $(SANITIZE) '^($(SANITIZED))\.' \
		--sanitize=address --scratch-path .build/address
	SIWA_TSAN=1 $(SANITIZE) '^($(SANITIZED))\.' --sanitize=thread --scratch-path .build/thread

# libFuzzer calls the optimised code, in which overflows and bad indices still trap. The linker is
# LLVM's, because GNU gold stops at the instrumentation.
FUZZ_SECONDS ?= 600
TARGET ?= $(sort $(notdir $(wildcard Tests/Fuzz/Corpus/*)))
FUZZ_PROGRAM := .build/fuzz/release/siwa-fuzz
FUZZ_BUILD := SIWA_FUZZ=1 swift build -c release --scratch-path .build/fuzz --product siwa-fuzz \
	-Xswiftc -sanitize=fuzzer,address -Xswiftc -g \
	-Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld

fuzz: setup
	$(FUZZ_BUILD)
	@Tests/Fuzz/fuzz.sh run $(FUZZ_PROGRAM) $(FUZZ_SECONDS) $(TARGET)

# What fuzzing found and no input of the corpus reaches, added to the corpus.
fuzz-keep:
	@Tests/Fuzz/fuzz.sh keep $(FUZZ_PROGRAM) $(TARGET)

# A bad day for 100,000 revocations, kills, a transfer of 10,000 users, 20,000 users of a vault,
# 100 kills of an import of 300,000 tokens, 500 signals to commands that spend a code, 200 outages of a
# database; what must hold of siwa-server
# (docs/testing.md).
REVOCATIONS ?= 100000
REFRESHES ?= 20000
KILLS ?= 50
USERS ?= 10000
VAULT_USERS ?= 20000
VAULT_KILLS ?= 200
CODE_SIGNALS ?= 500
OUTAGES ?= 200
IMPORT_RECORDS ?= 300000
IMPORT_KILLS ?= 100
# siwa-server: notifications and kills, codes, revocations, requests, connections.
SERVER_NOTIFICATIONS ?= 100000
SERVER_KILLS ?= 50
SERVER_CODES ?= 10000
SERVER_REVOCATIONS ?= 10000
SERVER_REQUESTS ?= 1000000
SERVER_CONNECTIONS ?= 10000
# One test after another. The tests of one suite alone: ENDURANCE=NotificationKillTests.
ENDURANCE ?= BatchFaultTests|MigrationTests|VaultWorkersTests|VaultKillTests|VaultImportKillTests|SpentCodeTests|CodeKillTests|RevocationOutageTests|NotificationKillTests|FullDiskTests|ServerLimitsTests|APILoadTests|ServerMemoryTests
endurance: build
	SIWA_PRODUCTS="$$PWD/$(RELEASE)" SIWA_BATCH_ITEMS=$(REVOCATIONS) SIWA_REFRESH_ITEMS=$(REFRESHES) \
	SIWA_KILLS=$(KILLS) SIWA_MIGRATION_USERS=$(USERS) SIWA_VAULT_USERS=$(VAULT_USERS) \
	SIWA_VAULT_KILLS=$(VAULT_KILLS) SIWA_CODE_SIGNALS=$(CODE_SIGNALS) SIWA_OUTAGES=$(OUTAGES) \
	SIWA_SERVER_NOTIFICATIONS=$(SERVER_NOTIFICATIONS) SIWA_SERVER_KILLS=$(SERVER_KILLS) \
	SIWA_SERVER_CODES=$(SERVER_CODES) SIWA_SERVER_REVOCATIONS=$(SERVER_REVOCATIONS) SIWA_SERVER_OUTAGE=60 \
	SIWA_IMPORT_RECORDS=$(IMPORT_RECORDS) SIWA_IMPORT_KILLS=$(IMPORT_KILLS) \
	SIWA_SERVER_REQUESTS=$(SERVER_REQUESTS) SIWA_SERVER_CONNECTIONS=$(SERVER_CONNECTIONS) SIWA_SERVER_SLOW=500 \
	swift test --no-parallel --filter 'SiwaTests.($(ENDURANCE))'

BENCH := .build/bench/release/siwa-bench
BENCH_BUILD = SIWA_BENCH=1 swift build $(RELEASE_FLAGS) --scratch-path .build/bench --product siwa-bench \
	&& $(CC) -O1 -static -o $(BENCH)-measure Benchmarks/measure.c

# nginx is the server of the requests; peers that are not installed are skipped by name. One table
# alone, which is printed and not kept: TABLE=verify-requests ROUNDS=3.
ROUNDS ?= 5
bench: build
	@.ci/setup $(PACKAGES) nginx-light libnginx-mod-http-echo strace gnuplot-nox
	$(BENCH_BUILD)
	@$(BENCH) "$$PWD/$(RELEASE)" Benchmarks docs/benchmarks $(ROUNDS) $(TABLE)

# Ten million records take 15 GB in FOLDER (/tmp) and an hour: RECORDS=30000,10000000 ROUNDS=1, and
# DATABASE=SQLite or PostgreSQL for one of the two.
RECORDS ?= 30000,1000000
bench-vault: build
	@.ci/setup $(PACKAGES) postgresql
	$(BENCH_BUILD)
	@Benchmarks/with-postgres $(BENCH) vault "$$PWD/$(RELEASE)" $(RECORDS) $(ROUNDS) $(DATABASE)

# Processes that revoke the tokens of one vault on PostgreSQL, nginx in Apple's place; at the end
# eight, of which three are killed. A million take half an hour and 8 GB in FOLDER.
WORKERS ?= 1,2,4,8
bench-workers: WORKER_RECORDS ?= 100000
bench-workers: build
	@.ci/setup $(PACKAGES) postgresql nginx-light libnginx-mod-http-echo
	$(BENCH_BUILD)
	@Benchmarks/with-postgres $(BENCH) workers "$$PWD/$(RELEASE)" \
		$(WORKER_RECORDS) $(WORKERS)

# Installs what is built: root has no Swift on its PATH, and would leave root's files in .build.
install:
	@for program in $(PROGRAMS); do \
		[ -x $(RELEASE)/$$program ] || \
		{ echo "there is no $(RELEASE)/$$program: run 'make build' first, not as root" >&2; exit 1; }; \
	done
	install -d $(DESTDIR)$(PREFIX)/bin $(MANUALS)
	install -m 755 $(addprefix $(RELEASE)/,$(PROGRAMS)) $(DESTDIR)$(PREFIX)/bin
	@set -e; for program in $(PROGRAMS); do \
		$(RELEASE)/$$program manual --all $(MANUALS) >/dev/null; \
		for page in $(MANUALS)/*.[5-8]; do \
			[ ! -e $$page ] || install -D -m 644 $$page $(MANUALS:1=)$${page##*.}/$${page##*/}; \
			rm -f $$page; \
		done; \
		$(RELEASE)/$$program completions --all $(COMPLETIONS) >/dev/null; \
	done

# Debian's own tools, on Debian 12: the programs then need nothing newer. SOURCE_DATE_EPOCH is the
# time of the last commit unless set.
packages: build
	@.ci/setup lintian pandoc
	rm -rf .build/packages
	packaging/build $(RELEASE) .build/packages
	lintian --allow-root --fail-on error,warning .build/packages/*.deb

# As root: it makes clean systems from the mirror of this machine's apt, and needs the network.
test-packages: packages .build/roots/pages.tar
	@.ci/setup mmdebstrap iproute2 apt-utils gpg
	packaging/roots .build/roots bookworm=bookworm trixie=trixie
	packaging/test .build/packages .build/roots bookworm trixie
	packaging/test-pages .build/packages .build/roots/pages.tar

# The shell blocks of the documents, as root: on copies of one system with the packages.
PAGE_PACKAGES := systemd,dbus,postgresql,jq,curl,sqlite3,sudo,openssl,procps,adduser,libcurl4,libpq5,libmicrohttpd12,libsqlite3-0,ca-certificates
PAGES ?=
.build/roots/pages.tar:
	@.ci/setup mmdebstrap iproute2
	packaging/roots .build/roots pages=bookworm,$(PAGE_PACKAGES)
test-pages: packages .build/roots/pages.tar
	packaging/test-pages .build/packages .build/roots/pages.tar $(PAGES)

# From the packages of an earlier commit to these, with a running server and both databases, as root.
UPGRADE_FROM ?= 1e5e2947
test-upgrade: packages .build/roots/pages.tar
	packaging/test-upgrade .build/packages .build/roots/pages.tar $(UPGRADE_FROM)

# A static folder for any web server (docs/packages.md); the key is one of the caller's gpg-agent.
APT_KEY ?=
apt-repository: packages
	@.ci/setup apt-utils gpg
	packaging/apt-repository .build/packages .build/apt $(APT_KEY)

# Builds the last commit twice from nothing, in folders with names of different lengths.
test-reproducible:
	@.ci/setup $(PACKAGES) lintian diffoscope-minimal
	packaging/test-reproducible .build/reproducible

IMAGE_PACKAGES := ca-certificates,libssl3,libcurl4,libsqlite3-0,libpq5,libmicrohttpd12
image: build
	@.ci/setup mmdebstrap umoci
	packaging/roots .build/roots image=bookworm,$(IMAGE_PACKAGES)
	@mkdir -p .build/images
	@set -e; for program in $(PROGRAMS); do \
		packaging/image $(RELEASE) $$program .build/roots/image.tar .build/images/$$program; \
	done

# As root.
test-image: image test-kubernetes
	@.ci/setup iproute2 socat
	packaging/test-image .build/images deploy/kubernetes/secret.yaml

# Keys that siwa does not have (docs/signers.md). awscli and moto are PyPI's.
SIGNERS ?=
test-signers:
	@.ci/setup $(PACKAGES) opensc softhsm2 swtpm tpm2-tools openssh-client shellcheck socat python3-venv
	shellcheck -x deploy/signers/*
	@$(BUILD_TESTED) --product siwa && $(BUILD_TESTED) --product siwa-emulator
	@python3 -m venv .build/signers
	@.build/signers/bin/pip install --quiet awscli 'moto[server]'
	PATH="$$PWD/.build/signers/bin:$$PATH" python3 Tests/Signers/check.py $(TEST_PRODUCTS) $(SIGNERS)

# The databases of applications, with the tables that django-allauth and python-social-auth make
# (docs/migration.md). SIWA_MIGRATION_USERS (1000000) is the size of the large one.
MIGRATIONS ?=
MIGRATED_SITES := 'django-allauth[socialaccount]==65.21.1' social-auth-core==7.0.0 social-auth-app-django==8.0.0 \
	'psycopg[binary]' PyMySQL
test-migrations:
	@.ci/setup $(PACKAGES) sqlite3 postgresql mariadb-server iproute2 python3-venv
	@$(BUILD_TESTED) --product siwa && $(BUILD_TESTED) --product siwa-emulator
	@python3 -m venv .build/migrations
	@.build/migrations/bin/pip install --quiet $(MIGRATED_SITES)
	.build/migrations/bin/python Tests/Migrations/check.py $(TEST_PRODUCTS) $(MIGRATIONS)

# kubernetes-validate is PyPI's.
test-kubernetes:
	@.ci/setup python3-venv
	@python3 -m venv .build/validators
	@.build/validators/bin/pip install --quiet kubernetes-validate
	.build/validators/bin/kubernetes-validate --strict --quiet deploy/kubernetes/*.yaml

# The bill of materials is checked by PyPI's spdx-tools. To sign, see packaging/release.
release: packages image
	rm -rf .build/release-files && mkdir -p .build/release-files
	cp .build/packages/*.deb .build/release-files/
	@if [ -n "$(APT_KEY)" ]; then \
		packaging/apt-repository .build/packages .build/apt $(APT_KEY) && \
		tar -C .build --sort=name --owner=0 --group=0 -czf .build/release-files/apt-repository.tar.gz apt; \
	else echo 'no repository for apt: APT_KEY is not set'; fi
	for program in $(PROGRAMS); do \
		tar -C .build/images --sort=name --owner=0 --group=0 --numeric-owner \
			--mtime="@$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}" \
			--use-compress-program='gzip -n' \
			-cf .build/release-files/$$program-image.tar.gz $$program || exit 1; \
	done
	packaging/release .build/release-files
	@.ci/setup python3-venv
	@python3 -m venv .build/validators
	@.build/validators/bin/pip install --quiet spdx-tools
	.build/validators/bin/pyspdxtools --infile .build/release-files/siwa-*.spdx.json

uninstall:
	for program in $(PROGRAMS); do \
		rm -f $(DESTDIR)$(PREFIX)/bin/$$program $(MANUALS)/$$program.1 $(MANUALS)/$$program-*.1 $(MANUALS:1=)[5-8]/$$program-*.[5-8] \
			$(COMPLETIONS)/bash-completion/completions/$$program \
			$(COMPLETIONS)/zsh/site-functions/_$$program \
			$(COMPLETIONS)/fish/vendor_completions.d/$$program.fish; \
	done

clean:
	rm -rf .build
