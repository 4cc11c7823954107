// Draws the graph beside its list, and keeps the two together: what is chosen in one is chosen in the other. Without it
// the page is whole but for the drawing.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const drawing = document.getElementById("drawing");
  const stage = document.getElementById("stage");
  const list = document.getElementById("list");
  const said = document.getElementById("said");
  if (!data || data.nodes.length === 0) return;

  drawing.hidden = false;
  const isNarrow = stage.clientWidth < 500;
  const scale = isNarrow ? 0.6 : 1;
  const LABEL_CHARS_NARROW = 18;
  const fitting = (label) =>
    isNarrow && label.length > LABEL_CHARS_NARROW ? `${label.slice(0, LABEL_CHARS_NARROW)}…` : label;

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const graph = new graphology.MultiDirectedGraph();
  data.nodes.forEach((node, at) => {
    const size = scale * ((node.ring === 0 ? 9 : 5) + Math.min(6, Math.sqrt(node.degree)));
    graph.addNode(at, { label: fitting(node.label), x: node.x, y: node.y, size, ring: node.ring });
  });
  data.lines.forEach(([from, to, kind]) => {
    graph.addEdge(from, to, { kind, size: kind === "name" ? 3 : 1.5 });
  });

  let chosen = null;
  let hovered = null;
  let colors = {};
  const readColors = () => {
    for (const name of ["ink", "paper", "raised", "ring-0", "ring-1", "ring-2", "name", "line", "faded"]) {
      colors[name] = color("--" + name);
    }
  };
  readColors();

  const isBeside = (node, middle) => node === middle || graph.areNeighbors(node, middle);
  const settings = {
    defaultEdgeType: "arrow",
    labelFont: getComputedStyle(document.body).fontFamily,
    labelSize: isNarrow ? 11 : 13,
    labelDensity: 0.5,
    labelGridCellSize: 110,
    labelRenderedSizeThreshold: 3,
    labelColor: { attribute: "labelColor" },
    zIndex: true,
    stagePadding: isNarrow ? 24 : 48,
    minCameraRatio: 0.1,
    maxCameraRatio: 3,
    enableCameraRotation: false,
    // The library's own label of a hovered node is dark on white whatever the page is.
    defaultDrawNodeHover: (context, node, its) => {
      if (!node.label) return;
      context.font = `${its.labelSize}px ${its.labelFont}`;
      const width = context.measureText(node.label).width + 12;
      const left = node.x + node.size + 2;
      context.fillStyle = colors.raised;
      context.strokeStyle = colors.ink;
      context.beginPath();
      context.rect(left, node.y - 12, width, 24);
      context.fill();
      context.stroke();
      context.fillStyle = colors.ink;
      context.fillText(node.label, left + 6, node.y + its.labelSize / 3);
      context.beginPath();
      context.arc(node.x, node.y, node.size + 3, 0, 2 * Math.PI);
      context.lineWidth = 2;
      context.stroke();
    },
    nodeReducer: (node, its) => {
      const middle = hovered ?? chosen;
      const shown = { ...its, color: colors["ring-" + its.ring], labelColor: colors.ink, zIndex: 2 - its.ring };
      if (middle !== null && !isBeside(node, middle)) {
        shown.color = colors.faded;
        shown.label = "";
        shown.zIndex = -1;
      } else if (middle !== null) {
        shown.forceLabel = true;
      }
      shown.highlighted = node === chosen;
      return shown;
    },
    edgeReducer: (edge, its) => {
      const middle = hovered ?? chosen;
      const shown = { ...its, color: colors[its.kind === "name" ? "name" : "line"] };
      if (middle !== null && !graph.hasExtremity(edge, middle)) {
        shown.color = colors.faded;
        shown.zIndex = -1;
      }
      return shown;
    },
  };

  let sigma;
  try {
    sigma = new Sigma(graph, stage, settings);
  } catch {
    // No WebGL here: the list says the same.
    drawing.hidden = true;
    return;
  }
  document.getElementById("no-drawing").hidden = true;

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    sigma.refresh();
  });

  const camera = sigma.getCamera();
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
  const duration = () => (isCalm.matches ? 0 : 250);
  const look = (state) => camera.animate(state, { duration: duration() });
  const size = (factor) => look({ ratio: sigma.getCamera().getBoundedRatio(camera.ratio * factor) });
  const whole = () => look({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });

  const choose = (node) => {
    for (const item of list.querySelectorAll(".chosen")) item.classList.remove("chosen");
    chosen = node;
    sigma.refresh({ skipIndexation: true });
    if (node === null) {
      said.textContent = "";
      return;
    }
    const item = document.getElementById("node-" + node);
    item.classList.add("chosen");
    // Only the list moves, not the page.
    list.scrollTo({ top: item.offsetTop - list.offsetTop, behavior: isCalm.matches ? "auto" : "smooth" });
    const [arriving, leaving] = [graph.inDegree(node), graph.outDegree(node)];
    said.textContent = `${item.querySelector("h4").textContent}: ${arriving} arrive, ${leaving} leave`;
    const at = sigma.getNodeDisplayData(node);
    if (at) look({ x: at.x, y: at.y });
  };

  sigma.on("enterNode", ({ node }) => {
    hovered = node;
    sigma.refresh({ skipIndexation: true });
  });
  sigma.on("leaveNode", () => {
    hovered = null;
    sigma.refresh({ skipIndexation: true });
  });
  sigma.on("clickNode", ({ node }) => choose(node));
  sigma.on("clickStage", () => choose(null));

  list.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-node]");
    if (!link) return;
    event.preventDefault();
    choose(link.dataset.node);
    const there = document.querySelector(`#node-${link.dataset.node} h4 a`);
    there.focus({ preventScroll: true });
  });

  document.getElementById("nearer").addEventListener("click", () => size(1 / 1.5));
  document.getElementById("farther").addEventListener("click", () => size(1.5));
  document.getElementById("whole").addEventListener("click", () => {
    choose(null);
    whole();
  });

  // A page is scrolled with the wheel and a finger; the drawing takes them only once it was chosen.
  const isHeld = () => stage.contains(document.activeElement);
  for (const kind of ["wheel", "touchstart", "touchmove"]) {
    const letPass = (event) => {
      if (!isHeld() && !(event.touches && event.touches.length > 1)) event.stopPropagation();
    };
    stage.addEventListener(kind, letPass, { capture: true, passive: true });
  }

  const step = 0.1;
  const keys = {
    ArrowLeft: () => look({ x: camera.x - step * camera.ratio }),
    ArrowRight: () => look({ x: camera.x + step * camera.ratio }),
    ArrowUp: () => look({ y: camera.y + step * camera.ratio }),
    ArrowDown: () => look({ y: camera.y - step * camera.ratio }),
    "+": () => size(1 / 1.5),
    "=": () => size(1 / 1.5),
    "-": () => size(1.5),
    0: () => whole(),
    Escape: () => {
      choose(null);
      stage.blur();
    },
  };
  stage.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  // For whoever looks at the page by a program.
  globalThis.cairn = { sigma, graph, choose, chosen: () => chosen };
})();
