import { DnsFormatError } from '../../core/dns/format-error'
import { invalid, type FieldProblem } from '../../core/problem'

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
