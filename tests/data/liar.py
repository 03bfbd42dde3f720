#!/usr/bin/env python3
"""A package index on 127.0.0.1 that lies in the way that its address asks for.

/MODE.N/simple/torch/ is a project's page, /MODE.N/files/NAME a file. MODE names one lie of the
transport (class Liar) or one broken wheel (wheels.py); N keeps the memory of modes that lie only
once apart. Prints the port and the SHA-256 of the honest wheel's RECORD, ends with its standard
input.
"""
import base64
import gzip
import hashlib
import http.server
import json
import socket
import struct
import sys
import threading

import wheels

NAME = wheels.NAME
PLAIN = bytes(i * 7 & 255 for i in range(200000))
JSON = "application/vnd.pypi.simple.v1+json"
seen = set()


def first_time(key):
    new = key not in seen
    seen.add(key)
    return new


class Liar(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.tag, _, rest = self.path.lstrip("/").partition("/")
        self.mode = self.tag.rpartition(".")[0]
        if rest == "simple/torch/":
            self.page()
        elif rest.startswith("files/"):
            self.file(rest[len("files/"):])
        else:
            self.answer(404, b"no such page", "text/plain")

    def answer(self, status, body, kind, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers and "Transfer_Encoding" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reset(self):
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    # Pages

    def page(self):
        base = "http://%s/%s/files/" % (self.headers["Host"], self.tag)
        entry = {"filename": NAME, "url": base + NAME + "#x", "yanked": False,
                 "hashes": {"sha256": hashlib.sha256(self.whole(NAME)).hexdigest()},
                 "size": len(self.whole(NAME)), "core-metadata": {"sha256": "0" * 64}}
        older = dict(entry, filename="torch-0.9.0-cp311-cp311-any.whl", yanked="broken")
        newer = dict(entry, filename="torch-0.10.0.tar.gz", size=None)
        plain = dict(entry, filename="plain.bin", url=base + "plain.bin", size=len(PLAIN),
                     hashes={"sha256": hashlib.sha256(PLAIN).hexdigest()})
        page = {"meta": {"api-version": "1.1"}, "name": "torch",
                "files": [newer, older, plain, entry]}
        mode, kind, headers = self.mode, JSON, {}
        if mode == "page-404":
            return self.answer(404, b"", "text/plain")
        if mode == "page-401" or mode == "user":
            right = "Basic " + base64.b64encode(b"me:p@ss").decode()
            if self.headers.get("Authorization") != right:
                return self.answer(401, b"", "text/plain", WWW_Authenticate='Basic realm="x"')
        if mode == "page-empty":
            page["files"] = []
        if mode == "page-v2":
            page["meta"]["api-version"] = "2.0"
        if mode == "page-no-files":
            del page["files"]
        if mode == "page-size":
            entry["size"] = "many"
        if mode == "page-hash":
            entry["hashes"] = {"sha256": "abc"}
        if mode == "page-no-name":
            del entry["filename"]
        if mode == "page-name":
            entry["filename"] = "../../evil.whl"
        if mode == "page-file-url":
            entry["url"] = "file:///etc/passwd"
        if mode == "relative":
            for e in page["files"]:
                e["url"] = "../../files/" + e["filename"]
        text = json.dumps(page, indent=1).encode()
        if mode == "page-cut":
            text = text[:len(text) // 2]
        if mode == "page-text":
            kind = "text/plain"
        if mode == "gzip":
            text, headers = gzip.compress(text), {"Content_Encoding": "gzip"}
        if mode.startswith("html"):
            return self.html(base, entry)
        self.answer(200, text, kind, **headers)

    def html(self, base, entry):
        line = '<a href="%s%s#sha256=%s" data-dist-info-metadata="sha256=%s">%s</a><br/>\n'
        digest = "zz" if self.mode == "html-hash" else entry["hashes"]["sha256"]
        text = "<!DOCTYPE html><html><body><!-- <a href='x'>no</a> --><abbr>no</abbr>\n"
        text += line % ("../../files/", NAME.replace("-", "&#45;"), digest, "0" * 64, NAME)
        text += "<A data-requires-python='&gt;=3.9' data-yanked HREF=%sold.whl >\n old.whl </A>" % base
        if self.mode == "html-cut":
            text = text[:len(text) - 20]
        self.answer(200, text.encode(), "text/html; charset=utf-8")

    # Files

    def whole(self, name):
        return PLAIN if name.startswith("plain.bin") else wheels.get(self.mode)

    def file(self, name):
        body, mode, asked = self.whole(name), self.mode, self.headers.get("Range")
        again = not first_time((self.tag, name))
        if mode == "file-404":
            return self.answer(404, b"", "text/plain")
        if mode == "error-always" or mode == "error-once" and not again:
            return self.answer(500, b"oops", "text/plain")
        if mode == "loop":
            return self.answer(302, b"", "text/plain", Location=self.path)
        if mode == "redirect" and not name.endswith(".moved"):
            return self.answer(302, b"", "text/plain", Location=self.path + ".moved")
        if mode == "redirect-file":
            return self.answer(302, b"", "text/plain", Location="file:///etc/passwd")
        if mode.startswith("user"):
            # User and password are for 127.0.0.1 alone.
            mine = self.headers["Host"].startswith("127.0.0.1")
            if mine != (self.headers.get("Authorization") is not None):
                return self.answer(403, b"", "text/plain")
            if mine and mode == "user-moved":
                there = "http://localhost:%d" % self.server.server_address[1]
                return self.answer(302, b"", "text/plain", Location=there + self.path)
        if mode == "hash":
            body = body[:1000] + b"?" + body[1001:]
        if mode == "huge":
            return self.answer(200, b"", "application/zip", Content_Length=str(10**12))
        if asked and not (mode == "no-range" or mode == "forgets-range" and again):
            return self.part(body, asked, again)
        if mode == "long":
            chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body) + 9, body + b"123456789")
            return self.answer(200, chunks, "application/zip", Transfer_Encoding="chunked")
        if mode == "stall":
            self.answer(200, body[:1000], "application/zip", Content_Length=str(len(body)))
            self.wfile.flush()
            return self.connection.recv(1)
        if self.breaks(again):
            self.answer(200, body[:len(body) // 2], "application/zip",
                        Content_Length=str(len(body)))
            return self.reset()
        self.answer(200, body, "application/zip")

    def breaks(self, again):
        return self.mode == "reset-always" or \
            self.mode in ("reset-once", "forgets-range") and not again

    def part(self, body, asked, again):
        first, _, last = asked.partition("=")[2].partition("-")
        first, last = int(first), min(int(last or len(body) - 1), len(body) - 1)
        data = body[first:last + 1]
        told = "bytes %d-%d/%d" % (first, last, len(body))
        if self.mode == "range-short":
            data = data[:len(data) // 2]
        if self.mode == "range-other":
            told = "bytes %d-%d/%d" % (first + 1, last + 1, len(body))
        if self.mode == "range-long":
            told, data = "bytes %d-%d/%d" % (first, last + 1, len(body)), data + b"X"
        if self.mode == "range-silent":
            return self.answer(206, data, "application/zip")
        if self.mode == "size-silent":
            told = "bytes %d-%d/*" % (first, last)
        if self.breaks(again):
            self.answer(206, data[:len(data) // 2], "application/zip", Content_Range=told,
                        Content_Length=str(len(data)))
            return self.reset()
        self.answer(206, data, "application/zip", Content_Range=told)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client):
        pass


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Liar)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], wheels.record_hash(wheels.get("honest")), flush=True)
    sys.stdin.read()
