"""flat.py DIR: serves http://127.0.0.1:PORT/MODE/FILE from DIR/MODE/FILE, else from DIR/good/FILE.
The first N answers may differ: DIR/MODE/FILE.1, FILE.2, ... Names that end in .404 answer 404, .cut
half of the bytes, .slow the bytes after a minute. Prints PORT; writes DIR/log, one path a line."""
import collections
import http.server
import os
import sys
import threading
import time

top = sys.argv[1]
seen = collections.Counter()
lock = threading.Lock()


def find(mode, name):
    with lock:
        seen[mode, name] += 1
        count = seen[mode, name]
    base = os.path.join(top, mode, name)
    for path in (f"{base}.{count}", base):
        for kind in ("", ".404", ".cut", ".slow"):
            if os.path.isfile(path + kind):
                return path + kind, kind
    return os.path.join(top, "good", name), ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        mode, _, name = self.path.lstrip("/").partition("/")
        path, kind = find(mode, name)
        with lock, open(os.path.join(top, "log"), "a") as log:
            log.write(self.path + "\n")
        if kind == ".404" or not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as f:
            data = f.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if kind == ".slow":
            time.sleep(60)
        self.wfile.write(data[: len(data) // 2] if kind == ".cut" else data)
        self.close_connection = kind == ".cut"

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
