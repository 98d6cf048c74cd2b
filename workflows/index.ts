/** Every workflow: the bundle's only entry. @module */
export { intentLifecycle } from './spending/intent-lifecycle.workflow.ts';
