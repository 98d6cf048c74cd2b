/**
 * mppx, asked by a test: each message names a function and its argument, and its answer has the same number. Knows no
 * code of Bursar.
 * @module
 */
import { BodyDigest, Challenge, Credential, Receipt } from 'mppx';
import { Transport } from 'mppx/client';
import { validate } from 'mppx/discovery';
import { makeChallenges } from './challenges.mjs';
import { pay, payByService } from './payer.mjs';
import { callTool } from './tool-server.mjs';

const functions = {
  makeChallenges,
  /** Of header values of credentials: whether the challenge in each is the one that was issued with that secret. */
  verify: ({ secretKey, credentials }) =>
    credentials.map((value) => Challenge.verify(Credential.deserialize(value).challenge, { secretKey })),
  digest: ({ body }) => BodyDigest.compute(body),
  receipt: ({ value }) => Receipt.deserialize(value),
  /** What is wrong with the `x-payment-info` of an OpenAPI document. */
  discovery: ({ document }) => validate(document),
  callTool,
  /** Whether the client takes that MCP answer for a demand for payment. */
  isMcpDemand: ({ answer }) => Transport.mcp().isPaymentRequired(answer),
  /** What an agent puts into `_meta` for a credential that it has as a header value. */
  mcpCredential: ({ value }) => Credential.deserialize(value),
  pay,
  payByService,
};

process.on('message', async ({ number, name, argument }) => {
  try {
    process.send({ number, value: await functions[name](argument) });
  } catch (error) {
    process.send({ number, error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ number: 0 });
