
"use strict";
(function () {
	var data, form = document.getElementById("chooser"), answer = document.getElementById("answer");
	try {
		data = JSON.parse(document.getElementById("choice").textContent);
	} catch (e) {
		return; // there is no matrix: the page's text stands for itself
	}
	// Numbers to [torch, CUDA, Python, reason].
	data.choices.forEach(function (choice) {
		var at = 0, cells = choice.cells;
		if (!cells)
			return;
		choice.cells = [];
		data.cudas.forEach(function (c) {
			data.torches.forEach(function (t) {
				data.pythons.forEach(function (p) { choice.cells.push([t, c, p, cells[at++]]); });
			});
		});
	});
	var pick = {};
	["what", "torch", "cuda", "python", "gpu", "smi"].forEach(function (id) {
		pick[id] = document.getElementById(id);
	});

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

	// The choice, or what a metapackage needs.
	function parts() {
		var c = data.choices[pick.what.value];
		return c.needs ? c.needs.map(function (i) { return data.choices[i]; }) : [c];
	}
	function cellOf(choice, want) {
		return choice.cells.filter(function (c) {
			return c[0] === want[0] && c[1] === want[1] && c[2] === want[2];
		})[0];
	}
	// "" if the package has code for the GPU, "ptx", or why not.
	function verdict(choice, cuda) {
		var at = data.gpus.map(function (g) { return g[0]; }).indexOf(pick.gpu.value), v = choice.verdicts[cuda];
		return v && at >= 0 ? v[at] : "";
	}
	function reason(cell) {
		return data.reasons[cell[3]].replace(/@[TCP]/g, function (m) { return cell["TCP".indexOf(m[1])]; });
	}
	// Why there is no package, or "".
	function why(choice, want) {
		var cell = cellOf(choice, want), gpu = verdict(choice, want[1]);
		if (!cell)
			return "No package: the matrix has no such cell.";
		if (cell[3] >= 0)
			return "No package: " + reason(cell) + ".";
		return gpu && gpu !== "ptx" ? "No package for that GPU: " + gpu + "." : "";
	}
	function sayPackage(cuda) {
		var chosen = data.choices[pick.what.value], floor = data.drivers[cuda.split(".")[0]];
		var suites = parts().map(function (p) { return p.suites[cuda]; }).filter(Boolean);
		say("p", "There is a package:");
		if (suites.length)
			say("p", "It is in the suite " + suites[0] + ": put that name into Suites of debkit.sources first.", "warn");
		say("pre", "apt-get install -y " + chosen.packages[cuda]);
		if (parts().some(function (p) { return verdict(p, cuda) === "ptx"; }))
			say("p", "For that GPU the driver compiles the package's PTX at the first use; the driver must know CUDA " + cuda + ".");
		if (pick.driver && floor && older(pick.driver, floor))
			say("p", "The driver " + pick.driver + " is too old for CUDA " + cuda + ": it needs " + floor + " or later, on the host.", "warn");
		if (!pick.driver && floor)
			say("p", "The driver must be " + floor + " or later.");
	}
	function show() {
		var want = [pick.torch.value, pick.cuda.value, pick.python.value];
		var several = parts().length > 1, bad = 0;
		answer.textContent = "";
		parts().forEach(function (p) {
			var text = why(p, want);
			if (text) {
				say("p", (several ? p.name + ": " : "") + text, "warn");
				bad++;
			}
		});
		if (!bad && data.choices[pick.what.value].packages[want[1]])
			sayPackage(want[1]);
		else if (!bad)
			say("p", "No package: this repository has none of that name for CUDA " + want[1] + ".", "warn");
		if (pick.unknown)
			say("p", "The text names no GPU that this page knows: choose it above, or paste what nvidia-smi --query-gpu=compute_cap --format=csv prints.");
	}

	// A torch, CUDA and Python for which there is all that the choice needs.
	function there(c) {
		return parts().every(function (p) {
			var cell = cellOf(p, c);
			return cell && cell[3] < 0;
		});
	}
	var cells = data.choices[0].cells;
	if (!cells.length)
		return;
	// What needs the others comes last, and first to mind: transformers wants both.
	fill(pick.what, data.choices.map(function (c, i) {
		return [String(i), c.needs ? c.name + " (all of it)" : c.name];
	}), data.choices[data.choices.length - 1].needs ? String(data.choices.length - 1) : "0");
	var first = cells.filter(there).pop() || cells[0];
	[["torch", data.torches], ["cuda", data.cudas], ["python", data.pythons]].forEach(function (p, i) {
		fill(pick[p[0]], p[1].map(function (v) { return [v, v]; }), first[i]);
	});
	fill(pick.gpu, [["", "any"]].concat(data.gpus.map(function (g) { return [g[0], g[1] + ", " + g[0]]; })), "");
	form.addEventListener("change", show);
	pick.smi.addEventListener("input", function () { readSmi(); show(); });
	form.hidden = false;
	document.getElementById("by-table").hidden = true;
	show();
})();
