import { availableParallelism } from 'node:os'
import { invalid } from '../../core/problem'

// argon2id with the second parameter set recommended by OWASP: 46 MiB, one pass; about 34 ms on a small server.
const cost = { algorithm: 'argon2id', memoryCost: 46 * 1024, timeCost: 1 } as const

// Each hash needs its full memory while it runs, so concurrent sign-ins are queued. They leave a thread of the pool, which has one for
// each core, to other work: every change is flushed to disk there.
const maxConcurrent = Math.max(1, Math.min(3, availableParallelism() - 1))
let running = 0
const waiting: (() => void)[] = []

/**
 * Refuses the email address as password, which an attacker would try first.
 * @throws Problem 422 at `pointer`
 */
export function refuseEmailAsPassword(email: string, password: string, pointer = '#/password'): void {
  if (password.trim().toLowerCase() === email.trim().toLowerCase())
    throw invalid([{ pointer, code: 'same_as_email', detail: 'must not be the email address.' }])
}

/**
 * Refuses passwords that an attacker would try first: the email address and common passwords.
 * @throws Problem 422 at `pointer`
 */
export async function refuseWeakPassword(email: string, password: string, pointer = '#/password'): Promise<void> {
  refuseEmailAsPassword(email, password, pointer)
  // The list takes some megabytes, and most processes never need it.
  const { isCommonPassword } = await import('./common-passwords')
  if (isCommonPassword(password))
    throw invalid([
      { pointer, code: 'too_common', detail: 'is a common password, or a small change to one. Choose another one.' },
    ])
}

export const hashPassword = (password: string): Promise<string> => queued(() => Bun.password.hash(password, cost))

/** Whether the password is correct. Takes the same time if the user does not exist: pass null as hash. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  // Computed in every case, so that the first sign-in for an unknown user takes no longer than others.
  const dummy = await dummyHash()
  const isCorrect = await queued(() => Bun.password.verify(password, hash ?? dummy))
  return isCorrect && hash !== null
}

let dummyHashPromise: Promise<string> | null = null
const dummyHash = () => (dummyHashPromise ??= Bun.password.hash('no such login', cost))

async function queued<T>(fn: () => Promise<T>): Promise<T> {
  if (running >= maxConcurrent) await new Promise<void>(resolve => waiting.push(resolve))
  running++
  try {
    return await fn()
  } finally {
    running--
    waiting.shift()?.()
  }
}
