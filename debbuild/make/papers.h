/*
 * The papers of a finished package, beside FILE.deb:
 *
 *	FILE.buildinfo	   deb-buildinfo(5), clear-signed: what was built, from what, how
 *	FILE.spdx.json	   an SBOM, SPDX 2.3; FILE.spdx.json.asc is its detached signature
 *	FILE.intoto.json   in-toto Statement with SLSA provenance of the three, in DSSE
 *
 * All are signed by the key of the package. An unsigned package has an unsigned .buildinfo, the
 * SBOM, and no Statement.
 */
#pragma once
#include "../../lib/base/compat.h"
#include "../../lib/base/digest.h"
#include "materials.h"
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct err;
struct licences;
struct pack_result;
struct plan_package;
struct stage_context;
struct stanza;

#define PAPERS_BUILDINFO  ".buildinfo"
#define PAPERS_SBOM	  ".spdx.json"
#define PAPERS_SIGNATURE  ".spdx.json.asc"
#define PAPERS_PROVENANCE ".intoto.json"

/* What the papers say, gathered once. */
struct papers_facts {
	const struct stage_context *c;
	const struct plan_package *pkg;
	const struct pack_result *res;
	const char *stem;		  /* NAME_VERSION_ARCH */
	const char *source;		  /* name of the source package */
	char unsigned_sha256[SHA256_HEX]; /* of the .deb without its signature */
	uint64_t unsigned_size;
	struct materials materials;
	const struct licences *licences;
	const struct stanza *env; /* see buildenv.h */
};

/* A file that the papers speak of, or one of them. */
struct papers_file {
	const char *name;
	char sha256[SHA256_HEX];
};

/* True if all papers of the package stand beside it and are of this very file. */
bool papers_are_current(const struct stage_context *c, const struct pack_result *res) _must_check_;
/* Writes them; env as buildenv_read fills it. */
int papers_write(struct arena *a, const struct stage_context *c, const struct plan_package *pkg,
    const struct pack_result *res, const struct stanza *env, struct err *err) _must_check_;

/* The single papers, unsigned. */
void buildinfo_write(struct arena *a, const struct papers_facts *f, struct buf *out);
int sbom_write(
    struct arena *a, const struct papers_facts *f, struct buf *out, struct err *err) _must_check_;
/* The Statement about n files: the package first, then its other papers. */
void provenance_write(
    const struct papers_facts *f, const struct papers_file *subjects, size_t n, struct buf *out);
/* A signed envelope (DSSE 1.0) of a Statement: the signature is a binary detached one of OpenPGP
 * over DSSE's pre-authentication encoding, the keyid the fingerprint of the primary key. */
int provenance_seal(
    const struct buf *statement, const char *fpr, struct buf *out, struct err *err) _must_check_;
