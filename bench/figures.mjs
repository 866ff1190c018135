// What rounds of measurements say: medians, how far they spread, ratios, a table, a picture. Pure.
//
// A figure is { what, system, unit, run, rounds: [{ round, value, ...more }] }: one row of the table. `run` names the run of
// bench/run that it comes from.

export const median = (values) => quantile(values, 0.5);

export function quantile(values, share) {
  const sorted = values.slice().sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** How far the middle half of the values lies apart, as a part of their median. One value says nothing: infinitely far. */
export const spread = (values) => (values.length < 2 ? Infinity : (quantile(values, 0.75) - quantile(values, 0.25)) / median(values));

export const wide = 0.15; // A spread over this is said.

const values = (figure) => figure.rounds.map(({ value }) => value);

/** How many times `theirs` `ours` is: the median over the rounds that both have. Both must come from one run: machines and their
 * load differ more than programs do. */
export function ratio(ours, theirs) {
  if (ours.run !== theirs.run) throw new Error(`${ours.what}: ${ours.system} and ${theirs.system} were measured in two different runs, so they have no ratio; measure them in one: bench/run ${ours.what.split('.')[0]}`);
  const other = new Map(theirs.rounds.map(({ round, value }) => [round, value]));
  const pairs = ours.rounds.filter(({ round }) => other.get(round) > 0).map(({ round, value }) => value / other.get(round));
  return pairs.length ? { value: median(pairs), spread: spread(pairs), rounds: pairs.length } : undefined;
}

/** Whether another round is needed for figures of one workload: the ratios are what is told, and where there is nobody to compare
 * with, the figure itself. */
export function is_settled(figures, least) {
  return figures.every((figure) => {
    if (figure.rounds.length < least) return false;
    const ours = figures.find(({ what, system }) => what === figure.what && system === 'errand');
    if (!ours || ours === figure) return figures.some(({ what, system }) => what === figure.what && system !== 'errand') || spread(values(figure)) <= wide;
    return ratio(ours, figure)?.spread <= wide;
  });
}

export function shown(value, unit) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === '/s' ? `${number}/s` : `${number} ${unit}`;
}

/** What was aimed at, and whether it is met. A target is { at_most } or { at_least } of the figure itself, or { times: { SYSTEM: N } }:
 * errand is at least N times that system. */
export function judged(target, ours, by_system) {
  const verdicts = [];
  const value = median(values(ours));
  if (target?.at_most !== undefined) verdicts.push([`at most ${shown(target.at_most, ours.unit)}`, value <= target.at_most]);
  if (target?.at_least !== undefined) verdicts.push([`at least ${shown(target.at_least, ours.unit)}`, value >= target.at_least]);
  for (const [system, least] of Object.entries(target?.times ?? {})) {
    const times = by_system.get(system) && ratio(ours, by_system.get(system));
    if (times) verdicts.push([`at least ${least} x ${system}`, times.value >= least]);
  }
  return verdicts.map(([text, met]) => `${text}: ${met ? 'met' : 'missed'}`).join('; ');
}

/** The table of one run, as Markdown. `catalogue`: workloads.mjs. */
export function table(result, catalogue) {
  const lines = [];
  const say = (...cells) => lines.push(`| ${cells.join(' | ')} |`);
  say('figure', 'system', 'durable before it is told', 'median', 'spread', 'errand is', 'target');
  say('---', '---', '---', '---:', '---:', '---:', '---');
  for (const { figures, stores } of Object.values(catalogue)) {
    for (const [what, { title, target }] of Object.entries(figures)) {
      const here = result.figures.filter((figure) => figure.what === what && figure.rounds.length);
      const by_system = new Map(here.map((figure) => [figure.system, figure]));
      const ours = by_system.get('errand');
      for (const figure of here) {
        const apart = spread(values(figure));
        const times = ours && figure !== ours ? ratio(ours, figure) : undefined;
        say(
          figure === here[0] ? title : '',
          [figure.system, result.systems[figure.system]?.version].filter(Boolean).join(' '),
          (figure.system === 'raw' ? stores : stores && result.systems[figure.system]?.durable) ?? '',
          shown(median(values(figure)), figure.unit),
          `${Number.isFinite(apart) ? `${(apart * 100).toFixed(0)} %` : '?'} of ${figure.rounds.length}`,
          times ? `${times.value.toFixed(2)} x${times.spread > wide ? ` (not settled: ${Number.isFinite(times.spread) ? `spread ${(times.spread * 100).toFixed(0)} %` : 'one round'})` : ''}` : '',
          figure === ours ? judged(target, ours, by_system) : '',
        );
      }
    }
  }
  return lines.join('\n');
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Bars: the median of each system, with the middle half of its rounds as a line. */
export function svg(result, catalogue) {
  const row = 18, left = 300, right = 620;
  const body = [];
  let y = 46;
  for (const { figures } of Object.values(catalogue)) {
    for (const [what, { title }] of Object.entries(figures)) {
      const here = result.figures.filter((figure) => figure.what === what && figure.rounds.length);
      // A single bar compares nothing.
      if (here.length < 2) continue;
      const most = Math.max(...here.flatMap(values));
      const x = (value) => left + (value / most) * (right - left);
      body.push(`<text x="10" y="${y}" font-weight="bold">${escaped(title)}</text>`);
      for (const figure of here) {
        y += row;
        const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values(figure), share));
        body.push(
          `<text x="${left - 8}" y="${y}" text-anchor="end">${escaped(figure.system)}</text>`,
          `<rect x="${left}" y="${y - 11}" width="${(x(middle) - left).toFixed(1)}" height="12" fill="${figure.system === 'errand' ? '#0b6e4f' : figure.system === 'raw' ? '#bbbbbb' : '#6b8fb3'}"/>`,
          `<line x1="${x(low).toFixed(1)}" x2="${x(high).toFixed(1)}" y1="${y - 5}" y2="${y - 5}" stroke="#222222"/>`,
          `<text x="${(x(Math.max(middle, high)) + 6).toFixed(1)}" y="${y}">${escaped(shown(middle, figure.unit))}</text>`,
        );
      }
      y += row * 1.6;
    }
  }
  const note = `errand ${result.commit}, ${result.at.slice(0, 10)}, ${result.machine.cores} cores, ${result.machine.file_system}: medians, and the middle half of the rounds`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="${Math.ceil(y)}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n<text x="10" y="20">${escaped(note)}</text>\n${body.join('\n')}\n</svg>\n`;
}
