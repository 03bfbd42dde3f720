
"use strict";
(function () {
	var data, form = document.getElementById("chooser"), answer = document.getElementById("answer");
	try {
		data = JSON.parse(document.getElementById("choice").textContent);
	} catch (e) {
		return; // there is no matrix: the page's text stands for itself
	}
	var pick = {};
	["torch", "cuda", "python", "gpu", "smi"].forEach(function (id) {
		pick[id] = document.getElementById(id);
	});

	function column(i) {
		return data.cells.map(function (c) { return c[i]; }).filter(function (v, at, all) {
			return all.indexOf(v) === at;
		});
	}
	function fill(select, values, chosen) {
		values.forEach(function (v) {
			var o = new Option(v[1], v[0]);
			o.selected = v[0] === chosen;
			select.add(o);
		});
	}
	function say(tag, text, kind) {
		var e = document.createElement(tag);
		e.textContent = text;
		if (kind)
			e.className = kind;
		answer.appendChild(e);
	}
	function older(a, b) { // "525.60" before "525.60.13"
		var x = a.split("."), y = b.split(".");
		for (var i = 0; i < y.length; i++)
			if (Number(x[i] || 0) !== Number(y[i]))
				return Number(x[i] || 0) < Number(y[i]);
		return false;
	}

	// The compute capability in a text: told by --query-gpu=compute_cap, or by a GPU's name.
	function findGpu(text) {
		var cap = /(?:^|[\s,])(\d{1,2}\.\d)\s*(?:,|$)/m.exec(text), best = "", found = "";
		if (cap && data.gpus.some(function (g) { return g[0] === cap[1]; }))
			return cap[1];
		data.gpus.forEach(function (g) {
			var names = /\(([^;)]*)/.exec(g[1]);
			(names ? names[1].split(/,\s*/) : []).forEach(function (n) {
				var series = /^RTX \d\d$/.test(n);
				var like = new RegExp(series ? "\\bGeForce " + n + "\\d\\d\\b" : "\\b" + n + "(?!\\d)");
				if (n.length > best.length && like.test(text)) {
					best = n;
					found = g[0];
				}
			});
		});
		return found;
	}
	function readSmi() {
		var text = pick.smi.value, driver = /Driver Version:\s*([\d.]+)/.exec(text), gpu = findGpu(text);
		if (gpu)
			pick.gpu.value = gpu;
		pick.unknown = text.trim() !== "" && !gpu;
		pick.driver = driver ? driver[1] : "";
	}

	function verdict(cuda) {
		var row = data.gpus.filter(function (g) { return g[0] === pick.gpu.value; })[0];
		return row && row[2][cuda] !== undefined ? row[2][cuda] : "";
	}
	function sayPackage(cuda) {
		var floor = data.drivers[cuda.split(".")[0]], gpu = verdict(cuda);
		if (gpu && gpu !== "ptx") {
			say("p", "No package for that GPU: " + gpu + ".", "warn");
			return;
		}
		say("p", "There is a package:");
		say("pre", "apt-get install -y " + data.packages[cuda]);
		if (gpu === "ptx")
			say("p", "For that GPU the driver compiles the package's PTX at the first use; the driver must know CUDA " + cuda + ".");
		if (pick.driver && floor && older(pick.driver, floor))
			say("p", "The driver " + pick.driver + " is too old for CUDA " + cuda + ": it needs " + floor + " or later, on the host.", "warn");
		if (!pick.driver && floor)
			say("p", "The driver must be " + floor + " or later.");
	}
	function show() {
		var want = [pick.torch.value, pick.cuda.value, pick.python.value];
		var cell = data.cells.filter(function (c) {
			return c[0] === want[0] && c[1] === want[1] && c[2] === want[2];
		})[0];
		answer.textContent = "";
		if (!cell)
			say("p", "The matrix has no such cell.", "warn");
		else if (cell[3] >= 0)
			say("p", "No package: " + data.reasons[cell[3]] + ".", "warn");
		else
			sayPackage(want[1]);
		if (pick.unknown)
			say("p", "The text names no GPU that this page knows: choose it above, or paste what nvidia-smi --query-gpu=compute_cap --format=csv prints.");
	}

	var first = data.cells.filter(function (c) { return c[3] < 0; }).pop() || data.cells[0];
	if (!first)
		return;
	[["torch", 0], ["cuda", 1], ["python", 2]].forEach(function (p) {
		fill(pick[p[0]], column(p[1]).map(function (v) { return [v, v]; }), first[p[1]]);
	});
	fill(pick.gpu, [["", "any"]].concat(data.gpus.map(function (g) { return [g[0], g[1] + ", " + g[0]]; })), "");
	form.addEventListener("change", show);
	pick.smi.addEventListener("input", function () { readSmi(); show(); });
	form.hidden = false;
	document.getElementById("by-table").hidden = true;
	show();
})();
