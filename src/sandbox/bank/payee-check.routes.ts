/**
 * The payee check of the simulated bank. The end of the name selects the answer, in either case: `NOMATCH`, `CLOSE` (the
 * bank has the name without that word), `NOCHECK` (it cannot say), `SILENT` (it hangs up); any other name matches.
 * @module
 */
import { Router } from 'express';
import * as z from 'zod';
import { parsed } from '../answer.ts';

const PayeeCheck = z.strictObject({
  name: z.string().trim().min(1).max(140),
  iban: z.string().regex(/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/, 'must be an IBAN without spaces'),
  bic: z
    .string()
    .regex(/^[A-Z0-9]{8}(?:[A-Z0-9]{3})?$/, 'must be a BIC')
    .optional(),
});

export function payeeCheckRoutes(): Router {
  const routes = Router();
  routes.post('/payee-checks', (request, response) => {
    const { name } = parsed(PayeeCheck, request.body);
    const [, known = '', ending] = /^(.*?)\s*(NOMATCH|CLOSE|NOCHECK|SILENT)$/i.exec(name) ?? [];
    const wanted = ending?.toUpperCase();
    if (wanted === 'SILENT') response.destroy();
    else if (wanted === 'CLOSE') response.json({ result: 'close_match', name: known === '' ? 'Erika Muster' : known });
    else response.json({ result: wanted === undefined ? 'match' : resultOf[wanted] });
  });
  return routes;
}

const resultOf: Readonly<Record<string, string>> = { NOMATCH: 'no_match', NOCHECK: 'not_possible' };
