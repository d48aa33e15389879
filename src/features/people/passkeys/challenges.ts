import { lt } from 'drizzle-orm'
import { randomBytes } from 'node:crypto'
import { constantTimeEqual, decodeBase64url, hmacSha256, sha256Hex } from '../../../core/crypto'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { spentChallenges } from './tables'

/** How long the browser dialog may take, in ms. Challenges are valid for the same time. */
export const ceremonyMs = 300_000

/** What a challenge is for. A challenge of one kind is not valid for another. */
export type ChallengeKind = 'register' | 'sign_in' | 'second_factor'

/** Random bytes, as WebAuthn level 3, section 13.4.3 requires. */
const randomLength = 16
const timeLength = 6
const macLength = 16

/**
 * Creates a challenge that is valid for five minutes. It contains its expiry and a MAC over its purpose, so that nothing is
 * stored for unauthenticated requests; it is stored only once it is used.
 * @param userId the user it is for; empty for any
 */
export function newChallenge(hub: Hub, kind: ChallengeKind, userId: string): Uint8Array<ArrayBuffer> {
  const body = Buffer.alloc(randomLength + timeLength)
  randomBytes(randomLength).copy(body)
  body.writeUIntBE(hub.clock.now() + ceremonyMs, randomLength, timeLength)
  return new Uint8Array(Buffer.concat([body, macOf(hub, kind, userId, body)]))
}

/** Whether a challenge (base64url) was created for this purpose and has not expired. Reuse is detected by `spendChallenge`. */
export function isChallenge(hub: Hub, kind: ChallengeKind, userId: string, challenge: string): boolean {
  const bytes = decodeBase64url(challenge)
  if (bytes?.length !== randomLength + timeLength + macLength) return false
  const body = Buffer.from(bytes.subarray(0, randomLength + timeLength))
  if (!constantTimeEqual(bytes.subarray(randomLength + timeLength), macOf(hub, kind, userId, body))) return false
  return endOf(body) > hub.clock.now()
}

/** Uses up a valid challenge. @returns whether it was unused */
export async function spendChallenge(tx: Tx, challenge: string): Promise<boolean> {
  const spent = await tx
    .insert(spentChallenges)
    .values({ hash: sha256Hex(challenge), expiresAt: endOf(Buffer.from(decodeBase64url(challenge)!)) })
    .onConflictDoNothing()
    .returning({ hash: spentChallenges.hash })
  return spent.length > 0
}

/** Deletes expired challenges. */
export async function pruneChallenges(tx: Tx, now: number): Promise<void> {
  await tx.delete(spentChallenges).where(lt(spentChallenges.expiresAt, now))
}

const endOf = (bytes: Buffer): number => bytes.readUIntBE(randomLength, timeLength)

const macOf = (hub: Hub, kind: ChallengeKind, userId: string, body: Buffer): Uint8Array =>
  hmacSha256(hub.keys.derive('passkey-challenges'), `${kind} ${userId} ${body.toString('base64url')}`).subarray(0, macLength)
