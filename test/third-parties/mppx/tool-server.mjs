/** An MCP server that sells its tools with mppx, without a connection: a JSON-RPC request in, its answer out. @module */
import { Errors, Method } from 'mppx';
import { Mppx, Transport } from 'mppx/server';
import { cardCharge } from './card-method.mjs';

export const toolSecret = 'tool-secret-0123456789abcdef-0123456789';

const receipt = { method: 'card', status: 'success', reference: 'auth_1' };
const verify = async ({ credential }) => {
  if (credential.payload.panLastFour === '0002') throw new Errors.VerificationFailedError({ reason: 'declined' });
  if (credential.payload.panLastFour === '0005') throw new Errors.InternalPaymentError();
  return { ...receipt, timestamp: new Date().toISOString(), challengeId: credential.challenge.id };
};

const card = { ...cardCharge, verify };
const crypto = { ...Method.from({ ...cardCharge, name: 'tempo' }), verify };
const payments = Mppx.create({
  methods: [card, crypto],
  realm: 'tools.example',
  secretKey: toolSecret,
  transport: Transport.mcp(),
});

const jwk = { kty: 'RSA', kid: 'k1', alg: 'RSA-OAEP-256', use: 'enc', n: 'AQAB', e: 'AQAB' };
const priced = (currency) => ({
  ...{ recipient: 'merchant_1', currency, amount: '499', meta: { order: '1' } },
  methodDetails: { merchantName: 'Café Übung', encryptionJwk: jwk, acceptedNetworks: ['visa'] },
});
const tools = {
  report: payments.card.charge(priced('eur')),
  several: payments.compose(
    ['tempo/charge', priced('eur')],
    ['card/charge', priced('usd')],
    ['card/charge', priced('eur')],
  ),
};

export async function callTool({ tool, credential }) {
  const params = {
    name: tool,
    ...(credential === undefined ? {} : { _meta: { 'org.paymentauth/credential': credential } }),
  };
  const result = await tools[tool]({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
  if (result.status === 402) return result.challenge;
  return result.withReceipt({ jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'the report' }] } });
}
