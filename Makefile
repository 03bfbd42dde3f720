# debkit: see README.md. One Makefile, GNU make.
#   make [CONFIG=release|debug|asan|cov]   the program
#   make check                             installs what the tests need and runs every test
#   make layers unit fuzz bench asan quickstart install
CONFIG ?= release
B := build/$(CONFIG)
PREFIX ?= /usr
CC ?= gcc
PKGS := libarchive gpgme libcurl libelf jansson libcrypto sqlite3

CFLAGS_release := -O2 -g
CFLAGS_debug := -O0 -g3
CFLAGS_asan := -O1 -g3 -fno-omit-frame-pointer -fsanitize=address,undefined
CFLAGS_cov := -O0 -g3 --coverage
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_cov := --coverage
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wvla -Wno-type-limits -Wformat=2 -Wno-unused-parameter
DEBVERSION := 0.1.0
CPPFLAGS += -D_GNU_SOURCE -DDEBKIT_VERSION='"$(DEBVERSION)"' -DDEBKIT_DATADIR='"$(PREFIX)/share/debkit"'
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS_$(CONFIG)) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP
ALL_LDFLAGS = $(LDFLAGS_$(CONFIG)) $(LDFLAGS)

LIB_SRC := $(wildcard debbuild/base/*.c debbuild/deb/*.c debbuild/sign/*.c debbuild/build/*.c \
	debbuild/probe/*.c repo/*.c)
CMD_SRC := $(wildcard debbuild/cmd/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(B)/%.o)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)

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

$(B)/unit/%: tests/unit/%.c $(B)/libdebkit.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $< $(ALL_LDFLAGS) $(B)/libdebkit.a $(PKG_LIBS) -lcmocka -o $@

unit: $(UNIT_BIN)
	@set -e; for t in $(UNIT_BIN); do $$t; done

asan:
	$(MAKE) CONFIG=asan all unit

layers:
	tests/layers.sh

clean:
	rm -rf build

.PHONY: all unit asan layers clean
.DELETE_ON_ERROR:
-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(UNIT_BIN:=.d)
