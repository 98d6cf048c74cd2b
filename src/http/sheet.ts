/** The frame of a page for people, and dates in words. Pages fill it; nothing is decided here. @module */
import { type Html, html } from './html.ts';

type Sheet = {
  readonly title: string;
  readonly content: Html;
  /** A file of src/browser. */
  readonly script: string;
  /** For whom the page is; null where that is not known. */
  readonly businessName?: string | null;
  /** A file of src/browser beside the common style. */
  readonly style?: string;
  /**
   * May be added to a home screen, which iPhones demand for notifications. It opens there under its own address, because
   * the manifest names none.
   */
  readonly isForHomeScreen?: boolean;
};

export const sheet = ({
  title,
  content,
  script,
  businessName = null,
  style,
  isForHomeScreen,
}: Sheet): Html => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Bursar</title>
    <link rel="icon" href="/docs/pages/icon.svg">
    ${isForHomeScreen === true ? homeScreen : undefined}
    <link rel="stylesheet" href="/docs/pages/page.css">
    ${style === undefined ? undefined : html`<link rel="stylesheet" href="/docs/pages/${style}">`}
    <script type="module" src="/docs/pages/${script}"></script>
  </head>
  <body>
    <main>
      <p class="brand">Bursar${businessName === null ? undefined : html` for <bdi>${businessName}</bdi>`}</p>
      ${content}
    </main>
  </body>
</html>
`;

const homeScreen = html`<link rel="manifest" href="/docs/pages/manifest.webmanifest">
    <link rel="apple-touch-icon" href="/docs/pages/icon-192.png">`;

const months = 'January February March April May June July August September October November December'.split(' ');

const dayOf = (at: Date): string => `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;

/** In UTC; the script of the page replaces it by the reader's local time. */
export const instantInWords = (iso: string): Html =>
  html`<time datetime="${iso}">${`${dayOf(new Date(iso))}, ${iso.slice(11, 16)} UTC`}</time>`;

/** A calendar day in UTC, which no local time zone moves. */
export const dayInWords = (date: string): string => dayOf(new Date(date));
