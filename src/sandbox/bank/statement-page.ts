/** The pages of the simulated bank for people: its accounts, and the statement of one. On a phone each row is a card. @module */
import { type Html, html } from '../../http/html.ts';
import { inWords } from '../../kernel/money.ts';
import type { PaymentRow, StatementRow } from './bank.ts';

type Account = { readonly iban: string; readonly entries: number; readonly sum_cents: number };

export const accountsPage = (accounts: readonly Account[]): string =>
  page(
    'Sandbox bank',
    html`<p>Nothing here is real. An account appears when something is booked on it.</p>
${
  accounts.length === 0
    ? html`<p class="empty">No account has an entry yet.</p>`
    : html`<ul class="accounts">${accounts.map(
        ({ iban, entries, sum_cents: sum }) =>
          html`<li><a href="/bank/statements/${iban}"><span>${grouped(iban)}</span><b class="${sign(sum)}">${signed(sum)}</b>
<small>${entries} ${entries === 1 ? 'entry' : 'entries'}</small></a></li>`,
      )}</ul>`
}`,
  );

export const statementPage = (iban: string, entries: readonly StatementRow[], waiting: readonly PaymentRow[]): string =>
  page(
    `Statement of ${grouped(iban)}`,
    html`<p><a href="/bank">All accounts</a></p>
${waiting.length === 0 ? html`` : html`<h2>Not booked yet</h2>${waitingTable(waiting)}`}
<h2>Booked</h2>
${entries.length === 0 ? html`<p class="empty">Nothing is booked on this account.</p>` : bookedTable(entries)}`,
  );

const bookedTable = (entries: readonly StatementRow[]): Html => html`<table>
<thead><tr><th>Day</th><th>Who</th><th>Reference</th><th>File</th><th class="amount">EUR</th></tr></thead>
<tbody>${entries.map((entry) => {
  const cents = entry.direction === 'credit' ? entry.amount_cents : -entry.amount_cents;
  const { party_name: name, party_iban: iban, return_reason_code: code, remittance } = entry;
  return html`<tr><td data-name="Day" class="short">${entry.booked_on}</td>
<td data-name="Who">${name ?? 'not named'}${iban === null ? '' : html`<small>${grouped(iban)}</small>`}</td>
<td data-name="Reference">${remittance ?? ''}${code === null ? '' : html` <em>came back: ${code}</em>`}<small>${entry.reference}</small></td>
<td data-name="File" class="short">${entry.is_taken === 1 ? 'taken' : 'on its way'}</td>
<td data-name="EUR" class="amount ${sign(cents)}">${signed(cents)}</td></tr>`;
})}</tbody></table>`;

const waitingTable = (payments: readonly PaymentRow[]): Html => html`<table>
<thead><tr><th>Execution</th><th>To</th><th>Reference</th><th>State</th><th class="amount">EUR</th></tr></thead>
<tbody>${payments.map(
  (payment) => html`<tr><td data-name="Execution" class="short">${payment.execution_date}</td>
<td data-name="To">${payment.payee_name}<small>${grouped(payment.payee_iban)}</small></td>
<td data-name="Reference">${payment.remittance ?? ''}<small>${payment.end_to_end_id}</small></td>
<td data-name="State" class="short">${payment.state}, ${payment.scheme}</td>
<td data-name="EUR" class="amount">${signed(-payment.amount_cents)}</td></tr>`,
)}</tbody></table>`;

const grouped = (iban: string): string => iban.replace(/(.{4})(?=.)/g, '$1 ');
const sign = (cents: number): string => (cents > 0 ? 'in' : 'out');
const signed = (cents: number): string => `${cents < 0 ? '−' : cents > 0 ? '+' : ''}${inWords(Math.abs(cents))}`;

const page = (title: string, content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head>
<body><main><h1>${title}</h1>${content}</main></body>
</html>
`.text;

const style = html`
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; background: light-dark(#f4f5f7, #15181c); color: light-dark(#1b1f24, #e6e8eb); }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.4rem; line-height: 1.25; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin-top: 2rem; }
a { color: light-dark(#0b57d0, #8ab4f8); } a:focus-visible { outline: 2px solid; outline-offset: 2px; }
table, .accounts { width: 100%; background: light-dark(#fff, #1e2227); border-radius: .5rem; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .6rem .75rem; border-bottom: 1px solid light-dark(#e3e6ea, #30353c); }
tr:last-child td { border-bottom: 0; } th { font-size: .85rem; font-weight: 600; }
td { overflow-wrap: anywhere; } small { display: block; color: light-dark(#57606a, #9aa4af); font-size: .8rem; }
.amount { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.in { color: light-dark(#116329, #6fd08c); } .out { color: inherit; }
.accounts { list-style: none; padding: 0; } .accounts li + li { border-top: 1px solid light-dark(#e3e6ea, #30353c); }
.accounts a { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; padding: .75rem; text-decoration: none; color: inherit; }
.accounts span { overflow-wrap: anywhere; color: light-dark(#0b57d0, #8ab4f8); text-decoration: underline; }
.short { white-space: nowrap; }
@media (max-width: 40rem) {
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tr, td { display: block; } tr { padding: .5rem .75rem; border-bottom: 1px solid light-dark(#e3e6ea, #30353c); }
  td, tr:last-child td { border: 0; padding: .15rem 0; display: grid; grid-template-columns: 6.5rem 1fr; gap: .5rem; }
  td::before { content: attr(data-name); color: light-dark(#57606a, #9aa4af); font-size: .85rem; }
  td small, td em { grid-column: 2; } .short { white-space: normal; } .amount { text-align: left; }
}
`;
