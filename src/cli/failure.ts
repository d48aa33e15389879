import { InvalidSetting } from '../core/config'
import { isUnavailable } from '../core/db/errors'
import { MigrationRefused } from '../core/db/migrate'
import { Problem, problemSentence } from '../core/problem'
import { BackupFailed } from '../hub/backup/errors'
import { DecryptionFailed, RotationHalted, WrongMasterKey } from '../core/secrets'

/** Thrown by a command that fails for a known reason. The message is printed without a stack trace. */
export class Failure extends Error {
  override name = 'Failure'
}

/** Text to print for an error: only the message if the cause is known, otherwise the stack trace. */
export function failureText(error: unknown): string {
  if (error instanceof Problem) {
    const { errors = [] } = error.extras
    // The detail contains the first one.
    return [error.detail, ...errors.slice(1).map(problemSentence)].join('\n')
  }
  if (knownErrors.some(kind => error instanceof kind)) return (error as Error).message
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return `System error: ${message}`
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return `Database error: ${message} (${code}).`
  if (isUnavailable(error))
    return `The database is unavailable: ${message}. Check that PostgreSQL is running and that BAILIWICK_DATABASE_URL is correct.`
  if (typeof code === 'string' && code.startsWith('ERR_POSTGRES')) return `PostgreSQL error: ${message} (${code}).`
  return stack ?? String(error)
}

const knownErrors = [
  Failure,
  InvalidSetting,
  MigrationRefused,
  WrongMasterKey,
  DecryptionFailed,
  RotationHalted,
  BackupFailed,
] as const

/** Sets the exit code of a command that ran but doesn't end with 0. */
export type EndWith = (code: number) => void
