/** A stand-in; what it does follows from its file name. @module */
import './program.mjs';
