# debkit: see README.md. One Makefile, GNU make.
#   make [CONFIG=release|debug|asan|cov]   the program
#   make check                             installs what the tests need and runs every test
#   make layers unit fuzz check-fla bench bench-NAME asan quickstart install deb
CONFIG ?= release
NPROC := $(shell nproc)
B := build/$(CONFIG)
PREFIX ?= /usr
CC ?= gcc
# libFuzzer comes with clang (Debian: libclang-rt-dev).
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 10
ifeq ($(CONFIG),fuzz)
override CC := $(FUZZ_CC)
endif
PKGS := libarchive gpgme libcurl libelf jansson libcrypto sqlite3 zlib libzstd liblzma

# Debug information names paths from the top, so that the build-id is the same in every folder.
CFLAGS_release := -O2 -g -ffile-prefix-map=$(CURDIR)=.
CFLAGS_debug := -O0 -g3
CFLAGS_asan := -O1 -g3 -fno-omit-frame-pointer -fsanitize=address,undefined
CFLAGS_cov := -O0 -g3 --coverage
CFLAGS_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all -Wno-format-nonliteral
HARDEN := -Wl,-z,relro,-z,now
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_cov := --coverage
LDFLAGS_fuzz := -fsanitize=fuzzer,address,undefined
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla -Wno-type-limits -Wformat=2 -Wno-unused-parameter
DEBVERSION := 0.1.0
CPPFLAGS += -D_GNU_SOURCE -DDEBKIT_VERSION='"$(DEBVERSION)"' -DDEBKIT_DATADIR='"$(PREFIX)/share/debkit"'
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS_$(CONFIG)) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP
ALL_LDFLAGS = $(LDFLAGS_$(CONFIG)) $(LDFLAGS)

# Whoever starts with `make` alone is told what is missing, not by fifty errors about headers.
ifeq ($(PKG_LIBS),)
ifneq ($(filter-out build-deps check-deps check quickstart layers clean,$(or $(MAKECMDGOALS),all)),)
$(error the libraries that debkit is built with are not all here: type 'make build-deps' as root, then make again)
endif
endif

LIB_SRC := $(wildcard lib/*/*.c debbuild/*/*.c repo/*/*.c doctor/*.c)
CMD_SRC := $(filter-out %/commands_small.c,$(wildcard cmd/*.c))
# The program of the package debkit: of the commands, those that a container needs.
SMALL_SRC := $(addprefix cmd/,main.c commands_small.c cmd_doctor.c cmd_enable.c \
	cmd_inspect.c cmd_verify.c doctor_print.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(B)/%.o)
SMALL_OBJ := $(SMALL_SRC:%.c=$(B)/%.o)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/%)

all: $(B)/debkit

# Objects are made again when the flags change.
FLAGS := $(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(shell mkdir -p $(B); [ "$$(cat $(B)/flags 2>/dev/null)" = '$(subst ','\'',$(FLAGS))' ] || \
	printf '%s\n' '$(subst ','\'',$(FLAGS))' >$(B)/flags)

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

$(B)/libdebkit.a: $(LIB_OBJ)
	@rm -f $@
	ar rcsD $@ $(LIB_OBJ)

$(B)/debkit: $(CMD_OBJ) $(B)/libdebkit.a
	$(CC) $(ALL_LDFLAGS) $(CMD_OBJ) $(B)/libdebkit.a $(PKG_LIBS) -o $@

# What packages hold. gpgme's SONAME is not the same in all suites: it is linked statically.
STATIC_GPGME := -Wl,-Bstatic -lgpgme -lassuan -lgpg-error -Wl,-Bdynamic
PACKAGE_LIBS := -Wl,--as-needed $(patsubst -lgpgme,$(STATIC_GPGME),$(filter-out -lassuan -lgpg-error,$(PKG_LIBS)))

$(B)/package/debkit: $(SMALL_OBJ) $(B)/libdebkit.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) $(HARDEN) $(SMALL_OBJ) $(B)/libdebkit.a $(PACKAGE_LIBS) -o $@

$(B)/package/full: $(CMD_OBJ) $(B)/libdebkit.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) $(HARDEN) $(CMD_OBJ) $(B)/libdebkit.a $(PACKAGE_LIBS) -o $@

$(B)/unit/%: tests/unit/%.c $(B)/libdebkit.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $< $(ALL_LDFLAGS) $(B)/libdebkit.a $(PKG_LIBS) -lcmocka -o $@

$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(B)/libdebkit.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $< $(ALL_LDFLAGS) $(B)/libdebkit.a $(PKG_LIBS) -o $@

# Debian packages that the build needs, and those that the tests need beside them.
BUILD_DEPS := gcc g++ make pkg-config libarchive-dev libgpgme-dev libcurl4-openssl-dev libelf-dev \
	libjansson-dev libssl-dev libsqlite3-dev zlib1g-dev libzstd-dev liblzma-dev ninja-build dpkg-dev clang-22 \
	python3-dev python3-pip gnupg gpgv ca-certificates
CHECK_DEPS := libcmocka-dev clang libclang-rt-dev clang-format perl debsig-verify lintian \
	mmdebstrap apt-utils zstd xz-utils strace binutils file nginx-light reprepro faketime \
	python3-venv man-db sqv gpgv chromium chromium-driver curl wrk rsync openssh-server openssh-client \
	slurm-wlm munge

unit: $(UNIT_BIN)
	@tests/unit/run.sh $(NPROC) $(UNIT_BIN)

# One build with the sanitizers, and every unit test under them.
asan:
	$(MAKE) -j$(NPROC) CONFIG=asan all unit

# Every tests/fuzz/fuzz_NAME.c for FUZZ_SECONDS each, from the seeds in tests/fuzz/corpus/NAME.
fuzz:
	$(MAKE) -j$(NPROC) CONFIG=fuzz fuzz-run

fuzz-run: $(FUZZ_BIN)
	tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZ_BIN)

layers:
	tests/layers.sh

build-deps:
	apt-get install -y --no-install-recommends $(BUILD_DEPS)

check-deps:
	apt-get update
	apt-get install -y --no-install-recommends $(BUILD_DEPS) $(CHECK_DEPS)

# As another user than root it takes what is installed.
quickstart:
	[ "$$(id -u)" != 0 ] || { apt-get update && $(MAKE) build-deps; }
	$(MAKE) -j$(NPROC) all $(B)/package/debkit $(B)/package/full
	BUILD_DEPS="$(BUILD_DEPS)" debbuild/quickstart.sh $(CURDIR)/$(B)/debkit

# Installs what the tests need, then runs all: layers, units (plain and under the sanitizers),
# fuzzers for a few seconds each, and the end-to-end tests; the last line counts them.
check: check-deps
	$(MAKE) -j$(NPROC) all
	$(MAKE) run-tests

run-tests: all
	FUZZ_SEED=1 $(MAKE) layers fuzz
	$(MAKE) asan
	$(MAKE) -j$(NPROC) unit
	prove --timer --merge $(E2E)

# All archs and profiles of finished packages of FLA, in DEBS: too long for `make check`.
check-fla: all
	DEBS="$(DEBS)" prove --timer --merge tests/fla_all.sh

# Figures, not tests: all of them, or one, as bench-matrix. N= is handed on: bench-repo takes the
# numbers of packages.
BENCHES := $(sort $(wildcard tests/bench/*.sh))
BENCH_NAMES := $(BENCHES:tests/bench/%.sh=bench-%)

bench: all
	@set -e; for b in $(BENCHES); do $$b; done

$(BENCH_NAMES): bench-%: all
	@tests/bench/$*.sh $(N)

E2E := $(sort $(wildcard tests/e2e/*.t))

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/debkit
	install -m 755 $(B)/debkit $(DESTDIR)$(PREFIX)/bin/debkit
	cp -r templates $(DESTDIR)$(PREFIX)/share/debkit/
	$(B)/debkit --man | gzip -9n >$(DESTDIR)$(PREFIX)/share/man/man1/debkit.1.gz

# debkit and debkit-build as packages, in $(OUT): see debbuild/package.sh.
OUT ?= out
deb: $(B)/package/debkit $(B)/package/full
	BUILD_DEPS="$(BUILD_DEPS)" debbuild/package.sh $(B) $(OUT) $(DEBVERSION)

clean:
	rm -rf build

.PHONY: all bench $(BENCH_NAMES) unit asan fuzz fuzz-run deb layers build-deps check-deps quickstart check check-fla run-tests install clean
.DELETE_ON_ERROR:
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(UNIT_BIN:=.d) $(FUZZ_BIN:=.d)
