#include "deb.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../base/buf.h"
#include "../base/err.h"
#include "../base/outfile.h"
#include "../base/path.h"
#include "../base/strv.h"
#include "../base/xalloc.h"
#include "ar.h"
#include "control.h"
#include "tar.h"

#define TEXT_MAX ((size_t)16 << 20)

struct packer {
	const struct deb_spec *spec;
	struct tar_writer *tar;
	struct strv conffiles; /* names without the leading slash */
	struct buf md5sums;
	uint64_t kib;
};

static void packer_done(struct packer *p)
{
	tar_writer_free(p->tar);
	strv_done(&p->conffiles);
	buf_done(&p->md5sums);
}

/* An outfile whose name is gone at once: what is in it is never seen as a file. */
static int open_unnamed(struct outfile *o, const char *beside, const char *what, struct err *err)
{
	_free_ char *path = xasprintf("%s.%s", beside, what);
	if (outfile_open(o, path, 0600, err) < 0)
		return -1;
	unlink(o->tmp);
	free(take_ptr(o->tmp));
	return 0;
}

static int pack_file(struct packer *p, const char *rel, const char *full, struct err *err)
{
	_close_ int fd = open(full, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "cannot read '%s'", full);
	char md5[DIGEST_HEX_MAX];
	unsigned mode = st.st_mode & 0111 ? 0755 : 0644;
	if (tar_add_file(p->tar, rel, mode, fd, (uint64_t)st.st_size, full, md5, err) < 0)
		return -1;
	if (!strv_has(&p->conffiles, rel))
		buf_printf(&p->md5sums, "%s  %s\n", md5, rel);
	p->kib += ((uint64_t)st.st_size + 1023) / 1024;
	return 0;
}

static int pack_link(struct packer *p, const char *rel, const char *full, struct err *err)
{
	char target[4096];
	ssize_t n = readlink(full, target, sizeof target);
	if (n < 0)
		return err_sys(err, "cannot read the link '%s'", full);
	if (n == sizeof target)
		return err_set(err, ERR_FORMAT, "the target of the link '%s' is too long", full);
	target[n] = '\0';
	p->kib++;
	return tar_add_link(p->tar, rel, target, err);
}

/* A folder comes before what is in it, and that in the order of bytes. */
static int pack_dir(struct packer *p, const char *rel, struct err *err)
{
	const char *stage = p->spec->stage;
	_free_ char *dir = *rel ? path_join(stage, rel) : xstrdup(stage);
	_cleanup_(strv_done) struct strv names = STRV_INIT;
	if (tar_add_dir(p->tar, rel, err) < 0 || path_list(dir, &names, err) < 0)
		return -1;
	p->kib++;
	for (size_t i = 0; i < names.n; i++) {
		_free_ char *name = path_join(rel, names.v[i]);
		_free_ char *full = path_join(stage, name);
		struct stat st;
		if (!path_is_safe_member(name))
			return err_set(err, ERR_FORMAT,
			    "'%s' cannot be packed: rename it, a line end in a name is refused",
			    full);
		if (lstat(full, &st) < 0)
			return err_sys(err, "cannot look at '%s'", full);
		int r = -1;
		if (S_ISDIR(st.st_mode))
			r = pack_dir(p, name, err);
		else if (S_ISREG(st.st_mode))
			r = pack_file(p, name, full, err);
		else if (S_ISLNK(st.st_mode))
			r = pack_link(p, name, full, err);
		else
			err_set(err, ERR_FORMAT,
			    "'%s' is no file, folder or symbolic link: remove it", full);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int pack_data(struct packer *p, struct outfile *out, struct err *err)
{
	if (p->spec->conffiles) {
		_cleanup_(strv_done) struct strv lines = STRV_INIT;
		strv_split(&lines, p->spec->conffiles, "\n");
		for (size_t i = 0; i < lines.n; i++)
			strv_add(&p->conffiles, lines.v[i] + strspn(lines.v[i], "/"));
	}
	p->tar = tar_writer_new(out, p->spec->compress, p->spec->mtime, "data.tar", err);
	if (!p->tar || pack_dir(p, "", err) < 0 || tar_writer_close(p->tar, err) < 0)
		return -1;
	tar_writer_free(take_ptr(p->tar));
	return buf_check(&p->md5sums, "md5sums", err);
}

/* The control stanza with Installed-Size where dpkg-gencontrol puts it. */
static void put_control(const struct packer *p, struct buf *text)
{
	const struct stanza *s = p->spec->control;
	_free_ struct field *fields = xcalloc(s->n + 1, sizeof *fields);
	_free_ char *kib = xasprintf("%llu", (unsigned long long)p->kib);
	struct stanza full = {.fields = fields, .cap = s->n + 1, .line = s->line};
	bool placed = false;
	for (size_t i = 0; i < s->n; i++) {
		if (!strcasecmp(s->fields[i].name, "Installed-Size"))
			continue;
		fields[full.n++] = s->fields[i];
		if (!placed && !strcasecmp(s->fields[i].name, "Maintainer")) {
			fields[full.n++] = (struct field){"Installed-Size", kib, 0};
			placed = true;
		}
	}
	if (!placed)
		fields[full.n++] = (struct field){"Installed-Size", kib, 0};
	stanza_write(&full, text);
}

static int pack_control(struct packer *p, struct outfile *out, struct err *err)
{
	_cleanup_(buf_done) struct buf control = BUF_INIT(TEXT_MAX);
	put_control(p, &control);
	if (buf_check(&control, "the control file", err) < 0)
		return -1;
	const struct {
		const char *name, *text;
		unsigned mode;
	} members[] = {
	    {"conffiles", p->spec->conffiles, 0644},
	    {"control", buf_str(&control), 0644},
	    {"md5sums", buf_str(&p->md5sums), 0644},
	    {"postinst", p->spec->postinst, 0755},
	    {"prerm", p->spec->prerm, 0755},
	};
	p->tar = tar_writer_new(out, p->spec->compress, p->spec->mtime, "control.tar", err);
	if (!p->tar || tar_add_dir(p->tar, "", err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (members[i].text && tar_add_bytes(p->tar, members[i].name, members[i].mode,
					   members[i].text, strlen(members[i].text), err) < 0)
			return -1;
	return tar_writer_close(p->tar, err);
}

int deb_write(const struct deb_spec *spec, const char *path, struct err *err)
{
	_cleanup_(packer_done) struct packer p = {
	    .spec = spec, .md5sums = BUF_INIT(TEXT_MAX), .conffiles = STRV_INIT};
	_cleanup_(outfile_done) struct outfile data = OUTFILE_INIT;
	_cleanup_(outfile_done) struct outfile control = OUTFILE_INIT;
	if (control_check(spec->control, err) < 0 || open_unnamed(&data, path, "data", err) < 0 ||
	    pack_data(&p, &data, err) < 0 || open_unnamed(&control, path, "control", err) < 0 ||
	    pack_control(&p, &control, err) < 0)
		return err_wrap(err, "cannot pack '%s'", path);
	const char *ext = spec->compress == DEB_XZ ? "xz" : "zst";
	_free_ char *control_name = xasprintf("control.tar.%s", ext);
	_free_ char *data_name = xasprintf("data.tar.%s", ext);
	const struct ar_part parts[] = {
	    {"debian-binary", "2.0\n", 4, -1},
	    {control_name, NULL, 0, control.fd},
	    {data_name, NULL, 0, data.fd},
	};
	_cleanup_(outfile_done) struct outfile out = OUTFILE_INIT;
	if (outfile_open(&out, path, 0644, err) < 0 ||
	    ar_write(&out, parts, ARRAY_SIZE(parts), spec->mtime, err) < 0)
		return err_wrap(err, "cannot pack '%s'", path);
	return outfile_commit(&out, err);
}
