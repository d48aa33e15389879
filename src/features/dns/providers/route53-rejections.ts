import { serverMessage } from '../../../adapters/json-http'
import { catchFormatError } from '../../../dns/format-error'
import { withinZone } from '../zones/names'
import { resultOf, type Op, type OpResult } from './provider'
import { absoluteName } from './route53-records'

// “Tried to delete resource record set [name='www.example.com.', type='A'] but it was not found”
const changedSince =
  /name='([^']*)',\s*type='([^']*)'[^\]]*\] but (it already exists|it was not found|the values provided do not match)/g
// “RRSet of type CNAME with DNS name www.example.com. is not permitted as it conflicts with other records …”
const named = [/name='([^']*)',\s*type='([^']*)'/g, /DNS name (\S+?\.)(?=[\s,]|$)(?:, type (\w+))?/g]

/**
 * Finds the steps that the messages of an invalid batch are about.
 * @returns a result for each step; null if the messages don't name a step
 */
export function rejectedOps(ops: readonly Op[], reasons: readonly string[], zoneName: string): OpResult[] | null {
  const results = new Map<Op, OpResult>()
  const mark = (reason: string, pattern: RegExp, outcome: 'stale' | 'refused', detail: string) => {
    for (const [, text, type] of reason.matchAll(pattern)) {
      const name = recordNameIn(text!, zoneName)
      for (const op of ops)
        if (op.name === name && (type === undefined || op.type === type) && !results.has(op))
          results.set(op, resultOf(op, outcome, detail))
    }
  }
  for (const reason of reasons) {
    mark(reason, changedSince, 'stale', 'Changed at Route 53 since it was read.')
    for (const pattern of named) mark(reason, pattern, 'refused', `Route 53 rejected the change: ${serverMessage(reason, [])}`)
  }
  if (results.size === 0) return null
  return ops.map(
    op => results.get(op) ?? resultOf(op, 'skipped', 'Skipped because another change in the same request was rejected.'),
  )
}

const recordNameIn = (text: string, zoneName: string): string | null =>
  catchFormatError(
    () => withinZone(absoluteName(text), zoneName),
    () => null,
  )
