import { invalid, Problem, type FieldProblem } from '../../../core/problem'

/** Collects the problems of several steps, to report all of them at once. */
export class ProblemCollector {
  readonly problems: FieldProblem[] = []

  /** Runs a step. Returns undefined if it failed; its problems are then collected. @throws errors other than field problems */
  run<T>(step: () => T, at: (pointer: string) => string = pointer => pointer): T | undefined {
    try {
      return step()
    } catch (error) {
      this.addFrom(error, at)
      return undefined
    }
  }

  /** Collects the field problems of an error, the first one per field. @throws other errors */
  addFrom(error: unknown, at: (pointer: string) => string = pointer => pointer): void {
    if (!(error instanceof Problem) || !error.extras.errors) throw error
    this.add(error.extras.errors.map(one => ({ ...one, pointer: at(one.pointer) })))
  }

  add(problems: readonly FieldProblem[]): void {
    const known = new Set(this.problems.map(one => one.pointer))
    this.problems.push(...problems.filter(one => !known.has(one.pointer)))
  }

  /** @throws Problem 422 if there are any */
  throwIfAny(max = Number.POSITIVE_INFINITY): void {
    if (this.problems.length > 0) throw invalid(this.problems.slice(0, max))
  }
}
