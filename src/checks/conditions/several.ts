/** Values of which each counts: a comparison holds when it holds for one of them. */
export class Several {
  constructor(readonly values: readonly unknown[]) {}

  toJSON(): readonly unknown[] {
    return this.values
  }
}
