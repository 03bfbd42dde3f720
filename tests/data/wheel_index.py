#!/usr/bin/env python3
"""A package index on 127.0.0.1 of the wheels in a folder: wheel_index.py DIR LOG.

/simple/ has pages in PEP 503 HTML without hashes, /html/ with them, /json/ those of PEP 691. Beside a
wheel, NAME.metadata is its METADATA alone, NAME.sha256 holds a hash to announce in place of its own,
NAME.yanked says that it was yanked. Files answer Range requests; LOG gets a line "BYTES PATH" for
each answer. Prints its port and serves until it is killed.
"""
import hashlib
import http.server
import json
import os
import sys
from urllib.parse import quote, unquote

top, log = sys.argv[1:]


def has(name, what):
    return os.path.exists(os.path.join(top, name + "." + what))


def announced(name):
    path = os.path.join(top, name)
    if has(name, "sha256"):
        with open(path + ".sha256", encoding="ascii") as f:
            return f.read().strip()
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Index(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body, kind, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        with open(log, "a", encoding="utf-8") as f:
            f.write("%d %s\n" % (len(body), self.path))

    def page(self, kind, project):
        start = project.replace("-", "_") + "-"
        names = sorted(n for n in os.listdir(top)
                       if n.startswith(start) and n.endswith((".whl", ".tar.gz")))
        if kind == "json":
            files = [{"filename": n, "url": "/file/" + quote(n), "hashes": {"sha256": announced(n)},
                      "size": os.path.getsize(os.path.join(top, n)),
                      "core-metadata": has(n, "metadata"), "yanked": has(n, "yanked")}
                     for n in names]
            text = json.dumps({"meta": {"api-version": "1.1"}, "name": project, "files": files})
            return self.answer(200, text.encode(), "application/vnd.pypi.simple.v1+json")
        text = "".join('<a href="/file/%s%s">%s</a>\n' % (
            quote(n), "#sha256=" + announced(n) if kind == "html" else "", n) for n in names)
        return self.answer(200, text.encode(), "text/html")

    def do_GET(self):
        kind, _, name = self.path.strip("/").partition("/")
        path = os.path.join(top, unquote(os.path.basename(name)))
        if kind in ("simple", "html", "json"):
            self.page(kind, name)
        elif kind == "file" and os.path.isfile(path):
            with open(path, "rb") as f:
                body = f.read()
            asked = self.headers.get("Range")
            if not asked:
                return self.answer(200, body, "application/zip")
            first, _, last = asked.partition("=")[2].partition("-")
            part = body[int(first):int(last) + 1]
            told = "bytes %s-%d/%d" % (first, int(first) + len(part) - 1, len(body))
            self.answer(206, part, "application/zip", Content_Range=told)
        else:
            self.answer(404, b"", "text/plain")


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
