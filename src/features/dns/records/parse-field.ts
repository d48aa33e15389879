import { catchFormatError, type DnsFormatError } from '../../../dns/format-error'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { invalidParameter } from '../../../core/query'
import { recordNameOf } from '../zones/names'
import { typeOf } from './values'

/** Turns a violated DNS rule into a problem with a field of a request. */
export function ruleProblem(error: DnsFormatError, pointer: string): FieldProblem {
  return { pointer, code: 'dns_rule', detail: `${error.message.replace(/\.$/, '')}.` }
}

/** Returns the result of `read`. @throws Problem 422 pointing to the field if `read` throws a DnsFormatError */
export const parseField = <T>(pointer: string, read: () => T): T =>
  catchFormatError(read, error => {
    throw invalid([ruleProblem(error, pointer)])
  })

/** Returns the result of `read`. @throws Problem 400 naming the query parameter if `read` throws a DnsFormatError */
export const parseParameter = <T>(name: string, read: () => T): T =>
  catchFormatError(read, error => {
    throw invalidParameter(name, `${error.rule}.`)
  })

/** The problems of a field of a request: none, or the rule that `read` says it violates. */
export const problemsOf = (pointer: string, read: () => unknown): FieldProblem[] =>
  catchFormatError(
    () => {
      read()
      return []
    },
    error => [ruleProblem(error, pointer)],
  )

/** Parses the name and type of a record set of a zone. @throws Problem 422 */
export const parseRrset = (of: { name: string; type: string }, pointer: string, zone: { name: string }) => ({
  type: parseField(`${pointer}/type`, () => typeOf(of.type)),
  name: parseField(`${pointer}/name`, () => recordNameOf(of.name, zone.name)),
})

const maxProblems = 20

/** Parses each item and reports the problems of all of them together. @throws Problem 422 */
export function parseEach<T, R>(list: readonly T[], read: (one: T, place: number) => R): R[] {
  const problems: FieldProblem[] = []
  const results: R[] = []
  for (const [place, one] of list.entries()) {
    try {
      results.push(read(one, place))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'validation_failed') throw error
      problems.push(...(error.extras.errors ?? []))
      if (problems.length >= maxProblems) break
    }
  }
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems))
  return results
}

/** Parses two parts of a request and reports the problems of both together. @throws Problem 422 */
export const parseBoth = <A, B>(first: () => A, second: () => B): [A, B] =>
  parseEach<() => A | B, A | B>([first, second], read => read()) as [A, B]
