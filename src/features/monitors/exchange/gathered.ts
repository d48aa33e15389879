import { invalid, Problem, type FieldProblem } from '../../../core/problem'

/** The problems of several steps, so that all of them are told and not the first alone. */
export class Gathered {
  readonly problems: FieldProblem[] = []

  /** What a step gives; undefined where its problems were taken. Of one member the first is kept. @throws what is no Problem of members */
  of<T>(step: () => T, at: (pointer: string) => string = pointer => pointer): T | undefined {
    try {
      return step()
    } catch (error) {
      this.take(error, at)
      return undefined
    }
  }

  /** @throws what is no Problem of members */
  take(error: unknown, at: (pointer: string) => string = pointer => pointer): void {
    if (!(error instanceof Problem) || !error.extras.errors) throw error
    this.add(error.extras.errors.map(one => ({ ...one, pointer: at(one.pointer) })))
  }

  add(problems: readonly FieldProblem[]): void {
    const known = new Set(this.problems.map(one => one.pointer))
    this.problems.push(...problems.filter(one => !known.has(one.pointer)))
  }

  /** @throws Problem 422 where there are any */
  refuse(most = Number.POSITIVE_INFINITY): void {
    if (this.problems.length > 0) throw invalid(this.problems.slice(0, most))
  }
}
