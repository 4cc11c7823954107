"""Serves this folder to Neo4j Browser on this machine, and prints what to type there. Stop it with Ctrl-C.

python3 docker/browser/serve.py [PORT]

The Browser's pages come from another origin, so it first asks for permission, which Python's own server does not give.
"""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        super().end_headers()

    def do_OPTIONS(self):
        self.send_response(204)
        self.end_headers()

    def log_message(self, *message):
        pass


def main(port=8000):
    handler = partial(Handler, directory=Path(__file__).parent)
    with ThreadingHTTPServer(("127.0.0.1", int(port)), handler) as server:
        address = f"http://localhost:{server.server_port}"
        print(f":style {address}/style.grass\n:play {address}/guide.html", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
