/** The conditions of a run cost too much to evaluate. The message continues `A condition`: `takes longer than 200 ms`. */
export class TooExpensive extends Error {
  override name = 'TooExpensive'
}

/** How long all conditions of a run may take. They block the thread that runs all checks. */
const maxEvaluationMs = 100
// Reading the clock for each comparison would double its cost.
const stepsPerReading = 256

/** Limits the time for the conditions of a run. */
export class EvaluationBudget {
  readonly #until = performance.now() + maxEvaluationMs
  #steps = 0

  /** Counts a short step, such as a comparison of numbers. @throws TooExpensive */
  step(): void {
    if (++this.#steps % stepsPerReading === 0) this.check()
  }

  /** Called before a step that may be long, such as a comparison of objects, and during it. @throws TooExpensive */
  readonly check = (): void => {
    if (performance.now() > this.#until) throw new TooExpensive(`takes longer than ${maxEvaluationMs} ms`)
  }
}
