/** Why a file of a bank is not used. The text reads on from "the file" and repeats nothing of it. @module */
export class RefusedFile extends Error {
  override readonly name = 'RefusedFile';
}
