/** The public face of evidence. @module */
export { evidenceArea } from './evidence.contract.ts';
export { EvidenceRow } from './evidence.entity.ts';
export { evidenceHandlers } from './evidence.routes.ts';
