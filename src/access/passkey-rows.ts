import { asc, eq } from 'drizzle-orm'
import type { Reader } from '../core/db/transaction'
import { passkeys } from './tables'

export type PasskeyRow = typeof passkeys.$inferSelect

/** How long a browser may take with a passkey, in ms: as long as a challenge is good. */
export const ceremonyMs = 300_000

export const passkeysOf = (read: Reader, userId: string): Promise<PasskeyRow[]> =>
  read.select().from(passkeys).where(eq(passkeys.userId, userId)).orderBy(asc(passkeys.id))

/** What an authenticator knows a user by: it tells nothing of them (WebAuthn level 3, section 14.6.1). */
export const handleOf = (userId: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(userId)
