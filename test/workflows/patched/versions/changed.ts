/** What a worker of this version bundles. @module */
export { changed as cardRequest } from '../card-request.versions.ts';
