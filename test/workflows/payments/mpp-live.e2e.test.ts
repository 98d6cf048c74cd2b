/**
 * Goal: in a live deployment an operator settles a machine payment by signal only where BURSAR_SIGNAL_APPROVALS says so;
 * elsewhere the run says why the signal was ignored. Method: a live deployment whole, with the simulated outside world.
 * @module
 */
import { expect, test } from '@jest/globals';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { unsettledMppPayment } from '../../api/payments/mpp-payments.samples.ts';
import { openTemporal } from '../../support/operator-view.ts';
import { fund } from '../../support/payments-world.ts';
import { Sampler } from '../../support/samples.ts';
import { eventually, type Owner, startWorld, type World } from '../../support/world.ts';

test.each([
  ['', 'accepted', []],
  ['off', 'accepted', []],
  ['on', 'not_paid', [{ actor: 'signal:anna' }]],
] as const)(
  'live with BURSAR_SIGNAL_APPROVALS=%j: after the signal `resolve` the payment is %s',
  async (approvals, status, resolutions) => {
    const world = await startWorld({
      worker: true,
      env: { BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true', BURSAR_SIGNAL_APPROVALS: approvals },
    });
    const temporal = await openTemporal();
    try {
      const owner = await world.owner();
      await funded(world, owner);
      const id = (await unsettledMppPayment(new Sampler(world, owner))) as 'mpay_x';
      const payment = () => owner.client(mppPaymentsArea).getMppPayment({ params: { id } });
      expect(await payment()).toMatchObject({ status: 'accepted' });
      await temporal.signal(`mpp-payment/${id}`, 'resolve', { outcome: 'not-paid', by: 'anna' });
      if (status === 'accepted') {
        const { details } = await eventually(
          () => temporal.viewOf(`mpp-payment/${id}`),
          (view) => view.details.includes('BURSAR_SIGNAL_APPROVALS'),
        );
        expect(details).toContain('settles no payments by signal');
      } else {
        await eventually(payment, (one) => one.status === status);
      }
      expect(await payment()).toMatchObject({ status });
      expect(await world.sql(`select actor from audit where action = 'mpp.payment.resolved'`)).toEqual(resolutions);
    } finally {
      await temporal.close();
      await world.close();
    }
  },
);

/** In live the money that is asked for comes by the bank. */
async function funded(world: World, owner: Owner): Promise<void> {
  await owner.client(fundArea).fundWallet({ body: { amountEuros: 5 } });
  const [wallet] = await world.sql('select id from wallets where owner_id = $1', [owner.ownerId]);
  await fund(world, owner.ownerId, `wallet:${wallet?.id}`, 1_000);
}
