/*
 * Binary packages, deb(5): written by debkit, and read with limits from anyone.
 *
 * Writing: ar (BSD names) of debian-binary, control.tar.zst, data.tar.zst; the tars in gnutar
 * form, members sorted, parent folders present, root:root, every time SOURCE_DATE_EPOCH, modes
 * 0755 and 0644 (links 0777): the same inputs give the same bytes.
 */
#pragma once
#include "../base/compat.h"
#include "../base/digest.h"
#include "stanza.h"
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct arena;
struct buf;
struct err;
struct strv;

enum deb_compress { DEB_ZSTD, DEB_XZ };

struct deb_spec {
	const struct stanza *control; /* without Installed-Size, which deb_write adds */
	const char *stage;     /* folder whose tree becomes data.tar; executables keep 0755 */
	const char *conffiles; /* text of DEBIAN/conffiles, or NULL */
	const char *postinst, *prerm; /* scripts, or NULL */
	time_t mtime;		      /* of every member */
	enum deb_compress compress;
};

/*
 * Writes path atomically; the control stanza must pass control_check (control.h). Adds
 * Installed-Size (KiB as dpkg-gencontrol counts: each file rounded up to 1 KiB, 1 for each folder
 * and link) and md5sums. The zstd level is 19, one thread, so that the bytes do not depend on the
 * machine.
 */
int deb_write(const struct deb_spec *spec, const char *path, struct err *err) _must_check_;

/* One ar member as it lies in the file. */
struct deb_member {
	char name[17];
	uint64_t offset, size; /* of its data, bytes */
};

struct deb_file {
	const char *path; /* "usr/lib/x", no leading "./" or "/" */
	const char *link; /* target of a symbolic or hard link, or NULL */
	uint64_t size;	  /* bytes; 0 for links */
	unsigned mode;	  /* permission bits */
	char type;	  /* 'f' file, 'd' folder, 'l' symbolic link, 'h' hard link */
	char md5[33];	  /* of a regular file, else "" */
};

struct deb_info {
	const char *source; /* the file's name, for messages */
	struct stanza control;
	const char *control_text;   /* as in the package */
	const char *md5sums;	    /* text of DEBIAN/md5sums, or NULL */
	struct deb_member *members; /* in file order */
	size_t n_members;
	struct deb_file *files; /* in archive order; only with DEB_READ_FILES */
	size_t n_files;
	uint64_t size;		 /* of the whole .deb */
	char sha256[SHA256_HEX]; /* of the whole .deb */
	char md5[33], sha1[41];	 /* with DEB_READ_HASHES */
};

#define DEB_READ_FILES	(1u << 0) /* list and digest every member of data.tar */
#define DEB_READ_HASHES (1u << 1) /* md5 and sha1 of the whole file too */
#define DEB_READ_SIGNED (1u << 2) /* _gpgorigin and other _ members after data.tar are fine */

/* Called for each regular file of data.tar with DEB_READ_FILES; bytes come in pieces, and a
 * last call has n 0. A return of -1 (with err set) stops. */
typedef int deb_file_fn(
    void *arg, const struct deb_file *f, const void *p, size_t n, struct err *err);

/*
 * Reads a .deb once, wholly, and refuses what dpkg or apt would refuse: magic, format other than
 * 2.0, order, number or size of members, truncated or undecodable tars, a control file that
 * does not parse or lacks Package, Version, Architecture, Maintainer, Description, bad names,
 * versions and relations, member paths that leave the root. Limits: 16 MiB of control data,
 * 64 GiB of unpacked data, 1,000,000 members. Results live in the arena. ERR_FORMAT.
 */
int deb_read(struct arena *a, const char *path, unsigned flags, deb_file_fn *fn, void *arg,
    struct deb_info *out, struct err *err) _must_check_;
/* Unpacks data.tar below dir (made if absent), with the same checks; for tests and verify. */
int deb_unpack(const char *path, const char *dir, struct err *err) _must_check_;
/* Appends a member of the given ar name and bytes into a copy of the deb at out (atomic; out may
 * equal path), with path's mode and owner. A member of that name is left out of the copy; all
 * others keep their bytes. */
int deb_append_member(const char *path, const char *out, const char *name, const void *p, size_t n,
    time_t mtime, struct err *err) _must_check_;
