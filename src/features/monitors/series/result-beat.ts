import type { Beat } from './check-series'
import { checkErrorKinds, type CheckError, type CheckErrorKind, type CheckResult } from '../../../checks/check'

/** A result to be stored in series: a beat with its error in full instead of by number. */
export interface ResultBeat extends Omit<Beat, 'error'> {
  error: CheckError | null
}

/** The part of a result that series store. @param monitor number of the monitor @param location number of the location */
export const beatOf = (result: CheckResult, monitor: number, location: number): ResultBeat => ({
  series: monitor,
  part: location,
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

const maxTextLength = 300

/** An error as stored text, shared by all results with the same error. Contains only characters that every database accepts. */
export const textOf = (error: CheckError): string =>
  `${error.kind} ${error.message}`.replaceAll('\0', '').slice(0, maxTextLength).toWellFormed()

/** Parses a stored error text. */
export function errorOf(text: string): CheckError {
  const space = text.indexOf(' ')
  const kind = text.slice(0, space) as CheckErrorKind
  return checkErrorKinds.includes(kind) ? { kind, message: text.slice(space + 1) } : { kind: 'internal', message: text }
}
