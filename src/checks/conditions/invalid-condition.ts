/** A condition that cannot be parsed or makes no sense. */
export class InvalidCondition extends Error {
  override name = 'InvalidCondition'
  constructor(
    /** Continues the name of the field: `must have one operator`. */
    readonly rule: string,
    /** Offset of the error in the text, from 0. */
    readonly position: number,
  ) {
    super(`${rule} (at character ${position + 1})`)
  }
}
