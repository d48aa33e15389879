import { checkErrorKinds, type CheckError, type CheckErrorKind, type CheckResult } from '../../../checks/check'
import type { Beat } from '../../../core/db/series'

/** A result on its way into the series: a beat whose error is not a number yet. */
export interface Taken extends Omit<Beat, 'error'> {
  error: CheckError | null
}

/** What the series keep of a result. @param monitor the number of the monitor, as `location` that of where it was checked */
export const takenOf = (result: CheckResult, monitor: number, location: number): Taken => ({
  monitor,
  location,
  at: result.at,
  status: result.status,
  ms: result.phases.total,
  code: result.code,
  error: result.error,
  dns: result.phases.dns,
  connect: result.phases.connect,
  tls: result.phases.tls,
  firstByte: result.phases.first_byte,
})

const longestText = 300

/** An error as it is kept, once for all results that have it: its kind and its message, of characters that every database takes. */
export const textOf = (error: CheckError): string =>
  `${error.kind} ${error.message}`.replaceAll('\0', '').slice(0, longestText).toWellFormed()

/** The error that was kept as this text. */
export function errorOf(text: string): CheckError {
  const space = text.indexOf(' ')
  const kind = text.slice(0, space) as CheckErrorKind
  return checkErrorKinds.includes(kind) ? { kind, message: text.slice(space + 1) } : { kind: 'internal', message: text }
}
