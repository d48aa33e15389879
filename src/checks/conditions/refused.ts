/** A condition that is not taken. */
export class ConditionRefused extends Error {
  override name = 'ConditionRefused'
  constructor(
    /** Reads as a continuation of the member's name: `must end in …`. */
    readonly rule: string,
    /** The character of the text at which it is, from 0. */
    readonly position: number,
  ) {
    super(`${rule} (at character ${position + 1})`)
  }
}
