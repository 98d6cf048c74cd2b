/** What a worker of this version bundles. @module */
export { unguarded as cardRequest } from '../card-request.versions.ts';
