/** The public face of evidence. @module */
export { evidenceArea } from './evidence.contract.ts';
