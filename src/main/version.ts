/** The published version of the interface. @module */
export const version = '0.5.0';
