#!/usr/bin/env python3
"""slow_server.py DIR: serves DIR on loopback, a pause before each answer and between its pieces.

Prints the port. Files are opened when they are asked for and sent bit by bit, so that a file that
changes under its name, or that is missing for a moment, is noticed by the client.
"""
import functools
import http.server
import random
import sys
import time


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(random.uniform(0.02, 0.08))
        super().do_GET()

    def copyfile(self, source, outputfile):
        while block := source.read(400):
            outputfile.write(block)
            time.sleep(0.01)

    def log_message(self, *args):
        print(self.path, file=sys.stderr)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
