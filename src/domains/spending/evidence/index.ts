/** The public interface of evidence. @module */
export { evidenceArea } from './evidence.contract.ts';
