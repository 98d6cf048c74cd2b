/** Payees for tests: accounts that no bank has, names that no list has, and files in the form of the EU list. @module */
import type { Arguments } from '../../../src/client/client.ts';
import { beneficiariesArea } from '../../../src/domains/treasury/beneficiaries/beneficiary.contract.ts';
import { germanIban } from '../../../src/domains/treasury/wallets/iban.rules.ts';
import type { Owner } from '../world.ts';

let accounts = 0;
/** Another one at each call. */
export function anIban(): string {
  accounts += 1;
  return germanIban('99999998', accounts);
}

type Body = NonNullable<Arguments<(typeof beneficiariesArea)['operations']['createBeneficiary']>['body']>;

export const aBeneficiary = (owner: Pick<Owner, 'client'>, more: Partial<Body> = {}) =>
  owner.client(beneficiariesArea).createBeneficiary({ body: { name: 'Müller & Söhne GmbH', iban: anIban(), ...more } });

export type ListedEntity = { reference: string; names: readonly string[] };

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** As the European Union publishes its list, with invented entries. */
export const euList = (
  entities: readonly ListedEntity[],
  { day = '2026-11-20' } = {},
): string => `<?xml version="1.0" encoding="UTF-8"?>
<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="${day}T11:23:45.678+01:00" globalFileId="1">
${entities
  .map(
    (
      { reference, names },
      i,
    ) => `  <sanctionEntity designationDetails="" euReferenceNumber="${reference}" logicalId="${i}">
    <regulation regulationType="amendment" numberTitle="1/2026" logicalId="1"><publicationUrl>https://eur-lex.europa.eu/</publicationUrl></regulation>
    <subjectType code="person" classificationCode="P"/>
${names.map((name) => `    <nameAlias firstName="" middleName="" lastName="" wholeName="${escaped(name)}" gender="" strong="true" logicalId="2"/>`).join('\n')}
  </sanctionEntity>`,
  )
  .join('\n')}
</export>
`;
