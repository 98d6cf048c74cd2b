/** What other areas and domains need of intents; rules and messages are imported from their own files. @module */

export { intentsArea } from './intent.contract.ts';
export { IntentRow, IntentSchema } from './intent.entity.ts';
export { lockIntent, lockIntents } from './intent.lock.service.ts';
export { releaseFromPayment, tellOfOpenPayment } from './intent.payment.service.ts';
export { intentRecords } from './intent.record.service.ts';
export { reopenIntents } from './intent.reopen.service.ts';
export { applyToIntent } from './intent.service.ts';
export { stateOf } from './intent.state.service.ts';
export { intentEventData, windowEventData } from './intent.wire.ts';
export { intentOut } from './intent-shapes.contract.ts';
export { IntentWindowSchema } from './windows/window.entity.ts';
export { payWindowAgain, settleWindow } from './windows/window.service.ts';
