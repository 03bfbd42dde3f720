#!/usr/bin/env python3
"""A package index on 127.0.0.1 of the wheels in a folder: wheel_index.py DIR LOG.

Pages are PEP 503 HTML, files answer Range requests; LOG gets a line "BYTES PATH" for each answer.
Prints its port and serves until it is killed.
"""
import hashlib
import http.server
import os
import sys

top, log = sys.argv[1:]


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

    def do_GET(self):
        kind, _, name = self.path.strip("/").partition("/")
        path = os.path.join(top, os.path.basename(name))
        if kind == "simple":
            start = name.replace("-", "_") + "-"
            names = sorted(n for n in os.listdir(top) if n.startswith(start))
            text = "".join('<a href="/file/%s">%s</a>\n' % (n, n) for n in names)
            self.answer(200, text.encode(), "text/html")
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
