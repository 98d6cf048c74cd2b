/** The bank's own interface: payments, recalls, incoming credits, and statements for people to look at. @module */
import { Router } from 'express';
import * as z from 'zod';
import { calendarDateOf } from '../../kernel/calendar-date.ts';
import { longestRemittance, longestSepaName } from '../../kernel/sepa-text.ts';
import { optionalKey, parsed, Refusal } from '../answer.ts';
import { positiveCents } from '../wire.ts';
import type { Bank, PaymentRow } from './bank.ts';
import { accountsPage, statementPage } from './statement-page.ts';

const iban = z.string().regex(/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/, 'must be an IBAN without spaces');
const bic = z.string().regex(/^[A-Z0-9]{8}(?:[A-Z0-9]{3})?$/, 'must be a BIC');
const sepaText = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[A-Za-z0-9/\-?:().,'+ ]*$/, 'must be in the character set of SEPA');
const identifier = z.string().regex(/^[A-Za-z0-9/\-?:().,'+ ]{1,35}$/, 'must have 1 to 35 characters of SEPA');
const day = z.string().refine((text) => calendarDateOf(text) !== undefined, 'must be a day, YYYY-MM-DD');
const reasonCode = z.string().regex(/^[A-Z0-9]{4}$/, 'must be a code of ISO 20022');

const Payment = z.strictObject({
  endToEndId: identifier,
  scheme: z.enum(['instant', 'batch']),
  amountCents: positiveCents,
  executionDate: day,
  payer: z.strictObject({ name: sepaText(longestSepaName), iban, bic: bic.nullable() }),
  payee: z.strictObject({ name: sepaText(longestSepaName), iban }),
  remittance: sepaText(longestRemittance).nullable(),
});
const Recall = z.strictObject({ reasonCode });
const Credit = z.strictObject({
  iban,
  amountCents: positiveCents,
  payerName: sepaText(longestSepaName).default('Erika Mustermann'),
  payerIban: iban.nullable().default(null),
  reference: sepaText(longestRemittance).nullable().default(null),
  endToEndId: identifier.nullable().default(null),
});
const filesListed = 100;

export function bankRoutes(bank: Bank): Router {
  const routes = Router();
  const pages = { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'" };

  routes.post('/payments', (request, response) => {
    const payment = bank.take(parsed(Payment, request.body));
    if (bank.isSilent(payment)) response.destroy();
    else response.json(paymentView(payment));
  });

  routes.get('/payments/:endToEndId', (request, response) => {
    const payment = bank.find(request.params.endToEndId);
    if (payment === undefined) throw new Refusal(404, 'the bank does not know this payment');
    if (bank.isSilent(payment)) response.destroy();
    else response.json(paymentView(payment));
  });

  routes.post('/payments/:endToEndId/recall', (request, response) => {
    const { reasonCode: code } = parsed(Recall, request.body);
    response.json(paymentView(bank.recall(request.params.endToEndId, code)));
  });

  routes.post('/credits', (request, response) => {
    const key = optionalKey(request.get('Idempotency-Key'));
    response.status(201).json({ reference: bank.credit(parsed(Credit, request.body), key) });
  });

  routes.get('/files', (_request, response) => {
    const files = bank.files(filesListed).map((file) => ({
      id: file.id,
      state: file.is_taken === 1 ? 'taken' : 'waiting',
      attempts: file.attempts,
      ...(file.last_status === null ? {} : { lastStatus: file.last_status }),
      ...(file.last_answer === null ? {} : { lastAnswer: file.last_answer }),
    }));
    response.json({ files });
  });

  routes.get('/', (_request, response) => {
    response.set(pages).type('html').send(accountsPage(bank.accounts()));
  });

  routes.get('/statements/:iban', (request, response) => {
    const account = parsed(iban, request.params.iban);
    const page = statementPage(account, bank.statement(account), bank.waitingPayments(account));
    response.set(pages).type('html').send(page);
  });
  return routes;
}

const paymentView = (payment: PaymentRow) => ({
  endToEndId: payment.end_to_end_id,
  status: payment.state,
  ...(payment.reason_code === null ? {} : { reasonCode: payment.reason_code }),
});
