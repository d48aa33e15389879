import { DnsFormatError } from '../../core/dns/format-error'
import { invalid, Problem, type FieldProblem } from '../../core/problem'

/** A broken rule of a name or a value as a problem with a member of a request. */
export function ruleProblem(error: DnsFormatError, pointer: string): FieldProblem {
  return { pointer, code: 'dns_rule', detail: `${error.message.replace(/\.$/, '')}.` }
}

/** What `read` gives. @throws Problem 422 that points to the member, for a DnsFormatError */
export function ruleKept<T>(pointer: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof DnsFormatError) throw invalid([ruleProblem(error, pointer)])
    throw error
  }
}

const mostProblems = 20

/** What `read` gives of each, or what is wrong with all of them at once. @throws Problem 422 */
export function allKept<T, R>(list: readonly T[], read: (one: T, place: number) => R): R[] {
  const problems: FieldProblem[] = []
  const made: R[] = []
  for (const [place, one] of list.entries()) {
    try {
      made.push(read(one, place))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'validation_failed') throw error
      problems.push(...(error.extras.errors ?? []))
      if (problems.length >= mostProblems) break
    }
  }
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems))
  return made
}
