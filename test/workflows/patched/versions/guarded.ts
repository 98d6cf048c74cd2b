/** What a worker of this version bundles. @module */
export { guarded as cardRequest } from '../card-request.versions.ts';
