#!/usr/bin/env python3
"""pages.py ROOT: judges the web pages of a repository.

Every index.html, packages*.html and page below packages/ parses with balanced tags and unique ids,
each relative link leads to a file that is there, nothing outside is loaded, and the feed is an
Atom feed whose links lead somewhere. Prints what is wrong and exits with 1.
"""
import html.parser, os, sys, urllib.parse, xml.etree.ElementTree as xml

VOID = {"meta", "link", "br", "input", "img", "hr"}
root, wrong = sys.argv[1], []

class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.open, self.ids, self.hrefs = path, [], set(), []
        self.feed(open(os.path.join(root, path), encoding="utf-8").read())
        self.close()
        self.check(not self.open, "unclosed %s" % self.open)
        for href in self.hrefs:
            self.check_href(href)

    def check(self, good, what):
        if not good:
            wrong.append("%s: %s" % (self.path, what))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.check("id" not in attrs or attrs["id"] not in self.ids, "id twice: %s" % attrs.get("id"))
        self.ids.add(attrs.get("id"))
        self.check(not [a for a in attrs if a.startswith("on") or a == "src"], "<%s %s>" % (tag, attrs))
        if "href" in attrs:
            self.hrefs.append(attrs["href"])

    def handle_endtag(self, tag):
        self.check(self.open and self.open.pop() == tag, "</%s> closes nothing" % tag)

    def check_href(self, href):
        if href == "data:,":
            return
        self.check(not urllib.parse.urlsplit(href).scheme and not href.startswith("/"), "leads outside: " + href)
        path, _, part = href.partition("#")
        if part and not path:
            self.check(part in self.ids, "no such part: " + href)
        if path:
            file = os.path.normpath(os.path.join(os.path.dirname(self.path), urllib.parse.unquote(path)))
            self.check(os.path.isfile(os.path.join(root, file)), "leads nowhere: " + href)

pages = ["index.html", "withdrawn.html"] + [f for f in os.listdir(root) if f.startswith("packages") and f.endswith(".html")]
for where, _, files in os.walk(os.path.join(root, "packages")):
    pages += [os.path.relpath(os.path.join(where, f), root) for f in files]
for page in pages:
    Page(page)

atom = "{http://www.w3.org/2005/Atom}"
feed = xml.parse(os.path.join(root, "feed.atom")).getroot()
for entry in [feed] + feed.findall(atom + "entry"):
    for name in ("id", "title", "updated"):
        if not (entry.findtext(atom + name) or "").strip():
            wrong.append("feed.atom: an entry without " + name)
    for link in entry.findall(atom + "link"):
        if not os.path.isfile(os.path.join(root, urllib.parse.unquote(link.get("href")))):
            wrong.append("feed.atom: leads nowhere: " + link.get("href"))
print("\n".join(wrong) or "%d pages" % len(pages))
sys.exit(bool(wrong))
