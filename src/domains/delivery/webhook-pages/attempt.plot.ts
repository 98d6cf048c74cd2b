/**
 * The attempts of a period as two plots above one axis: how many, with the failed ones, and how long answers took. Pure.
 * Shapes are stretched to the width of the page and texts are not, so they stand outside the SVG; a table has the same
 * figures.
 * @module
 */
import { type Html, html } from '../../../http/html.ts';
import type { WebhookPageWire } from './webhook-page.contract.ts';
import { inThousands, shortInstant, tookInWords } from './webhook-page.words.ts';

type Parts = WebhookPageWire['parts'];
type Plotted = Pick<WebhookPageWire, 'parts' | 'period' | 'whole'>;

const [width, height] = [1_000, 200];

export const plotOf = (page: Plotted): Html => html`
<figure>
  <figcaption>Attempts
    <span class="legend"><span class="key answered"></span> answered with 2xx <span class="key failed"></span> failed</span>
  </figcaption>
  ${attemptsOf(page)}
  <figcaption>Time to answer
    <span class="legend"><span class="key mean"></span> mean <span class="key slowest"></span> slowest</span>
  </figcaption>
  ${answersOf(page)}
  ${axisOf(page)}
</figure>
<details id="as-table" class="table"><summary>The same as a table</summary>${tableOf(page)}</details>`;

function attemptsOf({ parts, whole }: Plotted): Html {
  const top = niceTop(Math.max(1, ...parts.map(({ attempts }) => attempts)));
  const bars = parts.map(({ attempts, failures }, place) => {
    const [made, failed] = [scaled(attempts, top), scaled(failures, top)];
    return html`${bar('answered', parts, place, { from: failed, to: made })}${bar('failed', parts, place, { from: 0, to: failed })}`;
  });
  return framed(`${inThousands(top)}`, {
    title: `${inThousands(whole.attempts)} attempts, of which ${inThousands(whole.failures)} failed`,
    content: html`${bars}${hints(parts)}`,
  });
}

function answersOf({ parts, whole: { meanMs, slowestMs } }: Plotted): Html {
  const top = niceTop(Math.max(10, ...parts.map((part) => part.slowestMs ?? 0)));
  const title =
    meanMs === null || slowestMs === null
      ? 'No answers'
      : `Answers took ${tookInWords(meanMs)} in the mean, ${tookInWords(slowestMs)} at most`;
  const marks = parts.map((part, place) =>
    part.meanMs === null || part.slowestMs === null
      ? undefined
      : html`${mark('slowest', parts, place, scaled(part.slowestMs, top))}${mark('mean', parts, place, scaled(part.meanMs, top))}`,
  );
  const span = parts.map((part, place) =>
    part.meanMs === null || part.slowestMs === null
      ? undefined
      : bar('range', parts, place, { from: scaled(part.meanMs, top), to: scaled(part.slowestMs, top) }),
  );
  const drawn = [...span, ...marks].filter((one) => one !== undefined);
  return framed(tookInWords(top), { title, content: html`${drawn}${hints(parts)}` });
}

const framed = (top: string, { title, content }: { readonly title: string; readonly content: Html }): Html => html`
  <div class="plot">
    <span class="top" aria-hidden="true">${top}</span>
    <svg role="img" aria-label="${title}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
      <path class="grid" d="M0 0.5H${width}M0 ${height / 2}H${width}"/>
      ${content}
      <path class="floor" d="M0 ${height - 0.5}H${width}"/>
    </svg>
  </div>`;

const left = (parts: Parts, place: number): number => (place * width) / parts.length;

/** Between two heights; something that is more than nothing is always seen. */
function bar(kind: string, parts: Parts, place: number, { from, to }: { readonly from: number; readonly to: number }) {
  if (to <= from) return html``;
  const gap = width / parts.length / 6;
  const tall = Math.max(to - from, 4);
  const box = { x: left(parts, place) + gap, y: height - from - tall, width: width / parts.length - 2 * gap };
  return html`<rect class="${kind}" x="${round(box.x)}" y="${round(box.y)}" width="${round(box.width)}" height="${round(tall)}"/>`;
}

function mark(kind: string, parts: Parts, place: number, at: number): Html {
  const gap = width / parts.length / 6;
  const y = round(height - at);
  return html`<path class="${kind}" d="M${round(left(parts, place) + gap)} ${y}H${round(left(parts, place + 1) - gap)}"/>`;
}

/** What a pointer over a part reads. */
const hints = (parts: Parts): readonly Html[] =>
  parts.map(
    (part, place) =>
      html`<rect class="hint" x="${round(left(parts, place))}" y="0" width="${round(width / parts.length)}" height="${height}"><title>${inWords(part)}</title></rect>`,
  );

const inWords = ({ from, attempts, failures, meanMs, slowestMs }: Parts[number]): string => {
  const took =
    meanMs === null || slowestMs === null
      ? ''
      : `; ${tookInWords(meanMs)} in the mean, ${tookInWords(slowestMs)} at most`;
  return `from ${from.slice(5, 16).replace('T', ' ')} UTC: ${inThousands(attempts)} attempts, ${inThousands(failures)} failed${took}`;
};

/** Four instants and the present: more do not fit on a phone. */
const axisOf = ({ parts, period }: Plotted): Html => html`
  <div class="axis">${parts
    .filter((_, place) => place % (parts.length / 4) === 0)
    .map(({ from }) => shortInstant(from, period === '24h' ? 'hour' : 'day'))}<span>now</span></div>`;

const tableOf = ({ parts, period }: Plotted): Html => html`
  <table>
    <thead><tr><th scope="col">From</th><th scope="col">Attempts</th><th scope="col">Failed</th><th scope="col">Mean</th><th scope="col">Slowest</th></tr></thead>
    <tbody>${parts.toReversed().map(
      ({ from, attempts, failures, meanMs, slowestMs }) => html`
      <tr><th scope="row">${shortInstant(from, period === '24h' ? 'hour' : 'day')}</th><td>${inThousands(attempts)}</td><td>${inThousands(failures)}</td><td>${meanMs === null ? '–' : tookInWords(meanMs)}</td><td>${slowestMs === null ? '–' : tookInWords(slowestMs)}</td></tr>`,
    )}</tbody>
  </table>`;

const scaled = (value: number, top: number): number => (value / top) * height;
const round = (value: number): string => value.toFixed(2).replace(/\.?0+$/, '');

/** 1, 2 or 5 of a power of ten, and no less than the value. */
export function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}
