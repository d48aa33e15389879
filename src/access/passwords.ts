import { invalid } from '../core/problem'

/** Least characters of a password (NIST SP 800-63B section 5.1.1.1 asks for 8; ten costs nobody anything). */
export const shortestPassword = 10

// OWASP's second choice of parameters for argon2id: 46 MiB, one pass; about 34 ms on a small server.
const cost = { algorithm: 'argon2id', memoryCost: 46 * 1024, timeCost: 1 } as const

// Each hash holds its memory while it runs: a burst of logins waits its turn instead of taking the machine.
const mostAtOnce = 3
let running = 0
const waiting: (() => void)[] = []

/**
 * Refuses the one password that whoever knows the login tries first.
 * @throws Problem 422 at `pointer`
 */
export function refuseLoginAsPassword(email: string, password: string, pointer = '#/password'): void {
  if (password.trim().toLowerCase() === email.trim().toLowerCase())
    throw invalid([{ pointer, code: 'same_as_login', detail: 'must be something else than the e-mail.' }])
}

export const hashPassword = (password: string): Promise<string> => inTurn(() => Bun.password.hash(password, cost))

/** Whether the password is right. A login that does not exist takes as long as one that does: pass null for it. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  // Made before it is known whether it is needed, so that the first login that does not exist takes no longer than the others.
  const spare = await nobody()
  const right = await inTurn(() => Bun.password.verify(password, hash ?? spare))
  return right && hash !== null
}

let nobodyHash: Promise<string> | null = null
const nobody = () => (nobodyHash ??= Bun.password.hash('no such login', cost))

async function inTurn<T>(fn: () => Promise<T>): Promise<T> {
  if (running >= mostAtOnce) await new Promise<void>(resolve => waiting.push(resolve))
  running++
  try {
    return await fn()
  } finally {
    running--
    waiting.shift()?.()
  }
}
