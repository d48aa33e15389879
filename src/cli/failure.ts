import { BadSetting } from '../core/config'
import { MigrationRefused } from '../core/db/migrate'
import { Problem } from '../core/problem'
import { NotOpened, RotationHalted, WrongMasterKey } from '../core/secrets'

/** A command that cannot do what was asked; the message is the plain sentence that is printed. */
export class Failure extends Error {
  override name = 'Failure'
}

/** What to print for an error: the sentence alone where the cause is known, the stack where only it can tell. */
export function failureText(error: unknown): string {
  if (error instanceof Problem)
    return [error.detail, ...(error.extras.errors ?? []).map(one => `  ${one.pointer.slice(1)} ${one.detail}`)].join('\n')
  if (known.some(kind => error instanceof kind)) return (error as Error).message
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return `The system refused: ${message}`
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return `The database cannot be used: ${message} (${code}).`
  if (typeof code === 'string' && code.startsWith('ERR_POSTGRES')) return `PostgreSQL cannot be used: ${message} (${code}).`
  return stack ?? String(error)
}

const known = [Failure, BadSetting, MigrationRefused, WrongMasterKey, NotOpened, RotationHalted] as const
