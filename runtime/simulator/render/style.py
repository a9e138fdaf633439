"""The page's style sheet and script. Both stand in the page: it needs nothing from elsewhere."""

from __future__ import annotations

from fa4dsl.runtime.simulator.render.svg import DARK, FONT, LIGHT, STYLE, variables

CSS = f"""
:root {{ color-scheme: light dark; {variables(LIGHT)} --mono: ui-monospace, 'SF Mono', 'JetBrains Mono', Menlo, Consolas, monospace; }}
@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {variables(DARK)} }} }}
:root[data-theme=dark] {{ color-scheme: dark; {variables(DARK)} }} :root[data-theme=light] {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--ground); color: var(--text); font: 14px/1.5 {FONT}; }}
main {{ max-width: 1320px; margin: 0 auto; padding: 20px 24px 60px; }}
header {{ display: flex; align-items: baseline; gap: 14px; flex-wrap: wrap; }} h1 {{ font-size: 22px; margin: 0; letter-spacing: -.01em; }}
h2 {{ font-size: 15px; margin: 30px 0 8px; }} h3 {{ font-size: 12px; margin: 0; color: var(--dim); font-weight: 600; padding: 6px 10px; }}
.dim, .note {{ color: var(--dim); }} .note {{ font-size: 12.5px; margin: 4px 0 8px; max-width: 110ch; }}
.verdict {{ padding: 1px 10px; border-radius: 99px; font-weight: 600; color: #fff; }} .clean {{ background: #1f9e61; }} .error {{ background: #c62f3e; }}
.review, .incomplete {{ background: #b7791f; }}
button {{ margin-left: auto; font: inherit; font-size: 12px; color: var(--dim); background: none; border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; cursor: pointer; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; margin: 16px 0 4px; }}
.tile {{ background: var(--panel); border-radius: 8px; padding: 10px 14px; }} .tile b {{ display: block; font-size: 20px; font-variant-numeric: tabular-nums; }}
.tile span {{ color: var(--dim); font-size: 12px; }}
.picture {{ border: 1px solid var(--line); border-radius: 10px; padding: 8px; overflow-x: auto; }} .picture svg {{ display: block; width: 100%; min-width: 900px; font-family: {FONT}; }}
.keys {{ display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 6px 2px; font-size: 12px; color: var(--dim); }}
.key b {{ display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }}
.tabs {{ display: flex; gap: 4px; flex-wrap: wrap; margin-bottom: 6px; }} .tabs button {{ margin: 0; }} .tabs button[aria-selected=true] {{ color: var(--text); border-color: var(--accent); }}
.scroll {{ overflow-x: auto; }} table {{ border-collapse: collapse; width: 100%; font-size: 13px; }}
th {{ text-align: left; color: var(--dim); font-weight: 500; font-size: 12px; }} th, td {{ padding: 4px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }}
.n {{ text-align: right; font-variant-numeric: tabular-nums; }} td code {{ font: 12px var(--mono); color: var(--dim); }} a.line {{ color: var(--text); cursor: pointer; text-decoration: underline dotted var(--dim); }}
.meter {{ display: inline-block; width: 70px; height: 7px; background: var(--panel); border-radius: 4px; overflow: hidden; margin-right: 8px; }} .meter i {{ display: block; height: 100%; }}
.stack {{ display: flex; width: 100%; min-width: 300px; height: 14px; border-radius: 4px; overflow: hidden; background: var(--panel); }} .stack i {{ height: 100%; }}
.figures {{ display: flex; flex-wrap: wrap; gap: 22px; }} figure {{ margin: 0; }} figcaption {{ font-size: 12px; color: var(--dim); margin-bottom: 4px; }} table.heat {{ width: auto; }} .heat td {{ min-width: 64px; }}
.two {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(520px, 1fr)); gap: 0 30px; }}
.panes {{ display: grid; grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); gap: 10px; }} .pane {{ border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }}
.lines {{ height: 560px; overflow: auto; border-top: 1px solid var(--line); padding: 4px 0; }}
.l {{ display: flex; font: 12px/1.55 var(--mono); white-space: pre; width: max-content; min-width: 100%; }} .l s {{ text-decoration: none; color: var(--dim); width: 44px; text-align: right; flex: none; opacity: .7; }}
.l u {{ text-decoration: none; color: var(--dim); width: 66px; text-align: right; flex: none; padding-right: 10px; margin-right: 8px; font-size: 10.5px;
  border-right: 3px solid color-mix(in srgb, var(--accent) calc(var(--h, 0) * 100%), var(--line)); }}
.l em {{ font-style: normal; color: var(--sync); margin-left: 14px; }} .l[data-l] {{ cursor: pointer; }}
.on {{ background: color-mix(in srgb, var(--accent) 16%, transparent); }} .picked {{ background: color-mix(in srgb, var(--accent) 30%, transparent); }}
svg .on, svg .picked {{ stroke: var(--accent); stroke-width: 1.6; }} svg [data-l] {{ cursor: pointer; }}
#tip {{ position: fixed; z-index: 9; pointer-events: none; background: var(--text); color: var(--ground); font-size: 12px; padding: 5px 9px; border-radius: 6px; white-space: pre; display: none; max-width: 60vw; }}
pre.findings {{ font: 12px/1.5 var(--mono); background: var(--panel); border-radius: 8px; padding: 12px; overflow-x: auto; }}
{STYLE}
"""

SCRIPT = """
const all = [...document.querySelectorAll('[data-l]')], byKey = new Map();
for (const e of all) for (const k of e.dataset.l.split(' ')) { if (!byKey.has(k)) byKey.set(k, []); byKey.get(k).push(e); }
const mark = (e, name, on) => { for (const k of e.dataset.l.split(' ')) for (const o of byKey.get(k)) o.classList.toggle(name, on); };
const clear = () => document.querySelectorAll('.picked').forEach(e => e.classList.remove('picked'));
for (const e of all) {
  e.addEventListener('mouseenter', () => mark(e, 'on', true));
  e.addEventListener('mouseleave', () => mark(e, 'on', false));
  e.addEventListener('click', () => {
    clear(); mark(e, 'picked', true);
    const seen = new Set();
    for (const k of e.dataset.l.split(' ')) for (const o of byKey.get(k)) {
      const box = o.closest('.lines');
      if (box && !seen.has(box) && !box.contains(e)) { seen.add(box); box.scrollTop += o.getBoundingClientRect().top - box.getBoundingClientRect().top - 120; }
    }
    if (!e.closest('.lines') && seen.size) document.querySelector('.panes').scrollIntoView({behavior: 'smooth', block: 'nearest'});
  });
}
const tip = document.getElementById('tip');
for (const t of document.querySelectorAll('svg title')) { t.parentNode.dataset.tip = t.textContent; t.remove(); }
document.addEventListener('mousemove', event => {
  const e = event.target.closest('[data-tip]');
  tip.style.display = e ? 'block' : 'none';
  if (!e) return;
  tip.textContent = e.dataset.tip;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8) + 'px';
});
document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
});
for (const b of document.querySelectorAll('.tabs button')) b.addEventListener('click', () => {
  for (const o of b.parentNode.children) o.setAttribute('aria-selected', o === b);
  for (const p of b.parentNode.parentNode.querySelectorAll('[data-tab]')) p.hidden = p.dataset.tab !== b.dataset.show;
});
"""
