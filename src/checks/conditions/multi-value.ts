/** Several values at once: a comparison holds if it holds for one of them. */
export class MultiValue {
  constructor(readonly values: readonly unknown[]) {}

  toJSON(): readonly unknown[] {
    return this.values
  }
}
