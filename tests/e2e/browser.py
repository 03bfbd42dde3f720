#!/usr/bin/env python3
"""A headless Chromium, driven by the W3C WebDriver protocol with nothing but the standard library.

browser.py AXE COMMAND...: each command is one word or PAIR=VALUE, run in order in one browser:
  size=WxH          window size         theme=dark|light   what the pages are told the user prefers
  script=on|off     JavaScript          open=URL           and wait until it is there
  shot=FILE         a PNG of the whole page
  text=SELECTOR     prints the text of the first element (textContent)
  js=CODE           prints what the code returns
  set=ID:VALUE      chooses or types a value, with its events
  axe               axe-core: prints each violation; exits with 1 if there is one
  console           prints what the console says; exits with 1 if that is anything
  wide              exits with 1 if the page is wider than the window
  keys=N            presses Tab N times and prints what has the focus
"""
import base64, json, os, subprocess, sys, time, urllib.request

def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as e:
        sys.exit("browser.py: %s: %s" % (path, json.load(e)["value"]["message"].splitlines()[0]))

def start(port):
    for _ in range(100):
        try:
            if call("GET", "/status")["ready"]:
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("browser.py: chromedriver does not answer on port %d" % port)

def run(code, *args):
    return call("POST", session + "/execute/sync", {"script": code, "args": list(args)})

def cdp(command, **params):
    return call("POST", session + "/goog/cdp/execute", {"cmd": command, "params": params})

def axe_violations(axe):
    run(open(axe, encoding="utf-8").read() + "\n;window.axe = axe;")
    found = call("POST", session + "/execute/async", {"script":
        "var done = arguments[0]; axe.run(document).then(function (r) { done(r.violations); },"
        "function (e) { done([{id: String(e), nodes: []}]); });", "args": []})
    for v in found:
        print("axe: %s: %s" % (v["id"], v.get("help", "")))
        for node in v["nodes"][:5]:
            print("    " + node["html"][:160])
    return bool(found)

def screenshot(path):
    size = cdp("Page.getLayoutMetrics")["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
    shot = cdp("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    with open(path, "wb") as f:
        f.write(base64.b64decode(shot["data"]))

def set_value(spec):
    name, value = spec.split(":", 1)
    if not run("var e = document.getElementById(arguments[0]); e.value = arguments[1];"
               "e.dispatchEvent(new Event('input', {bubbles: true}));"
               "e.dispatchEvent(new Event('change', {bubbles: true})); return e.value === arguments[1];",
               name, value):
        sys.exit("browser.py: '%s' does not take '%s'" % (name, value))

def press_tab(times):
    for _ in range(times):
        call("POST", session + "/actions", {"actions": [{"type": "key", "id": "k", "actions": [
            {"type": "keyDown", "value": "\ue004"}, {"type": "keyUp", "value": "\ue004"}]}]})
        print(run("var e = document.activeElement; return e.tagName + ' ' + (e.id || e.textContent.trim())"))

def command(axe, word):
    name, _, value = word.partition("=")
    if name == "size":
        width, height = map(int, value.split("x"))
        cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
    elif name == "theme":
        cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])
    elif name == "script":
        cdp("Emulation.setScriptExecutionDisabled", value=value == "off")
    elif name == "open":
        call("POST", session + "/url", {"url": value})
    elif name == "shot":
        screenshot(value)
    elif name == "text":
        element = call("POST", session + "/element", {"using": "css selector", "value": value})
        print(call("GET", session + "/element/%s/property/textContent" % next(iter(element.values()))))
    elif name == "js":
        print(run("return (" + value + ")"))
    elif name == "set":
        set_value(value)
    elif name == "axe":
        return axe_violations(axe)
    elif name == "console":
        said = call("POST", session + "/se/log", {"type": "browser"})
        for line in said:
            print("console: %s %s" % (line["level"], line["message"]))
        return bool(said)
    elif name == "wide":
        wide = run("return document.documentElement.scrollWidth - innerWidth")
        print("wider than the window by %d" % wide)
        return wide > 0
    elif name == "keys":
        press_tab(int(value))
    else:
        sys.exit("browser.py: unknown command '%s'" % word)
    return False

port = int(os.environ["DRIVER_PORT"])
base = "http://127.0.0.1:%d" % port
driver = subprocess.Popen(["chromedriver", "--port=%d" % port, "--silent"], stdout=subprocess.DEVNULL)
bad = False
try:
    start(port)
    options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--no-first-run", "--disable-background-networking", "--proxy-server=direct://"]}
    session = "/session/" + call("POST", "/session", {"capabilities": {"alwaysMatch": {
        "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]
    for word in sys.argv[2:]:
        bad |= command(sys.argv[1], word)
    call("DELETE", session)
finally:
    driver.terminate()
    driver.wait()
sys.exit(bad)
