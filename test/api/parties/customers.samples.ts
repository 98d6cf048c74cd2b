/** Sample calls of customers, for the suites that cover all operations. @module */
import { customersArea } from '../../../src/domains/parties/customers/customer.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

/** An owner becomes a customer with the first agent. */
export async function theCustomer(one: Sampler): Promise<string> {
  await one.the(theRecords);
  return (await one.client(customersArea).getOwnCustomer()).id;
}

export const samples = samplesOf(customersArea, {
  ids: { id: theCustomer },
  calls: (one) => {
    const path = async () => ({ id: await one.the(theCustomer) });
    return {
      createCustomer: async () => ({ by: await one.world.owner() }),
      getOwnCustomer: async () => {
        await one.the(theCustomer);
        return {};
      },
      getCustomer: async () => ({ path: await path() }),
      updateCustomer: async () => ({ path: await path(), body: { companyName: 'Bursar tests' } }),
    };
  },
});
