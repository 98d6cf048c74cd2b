/** What a worker of this version bundles. @module */
export { released as cardRequest } from '../card-request.versions.ts';
