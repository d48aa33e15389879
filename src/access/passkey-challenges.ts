import { randomBytes } from 'node:crypto'
import { lt } from 'drizzle-orm'
import { constantTimeEqual, decodeBase64url, hmacSha256, sha256Hex } from '../core/crypto'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { ceremonyMs } from './passkey-rows'
import { spentChallenges } from './tables'

/** What a challenge is for; one of a kind is good for no other. */
export type ChallengeKind = 'register' | 'sign_in' | 'second_factor'

/** What WebAuthn level 3, section 13.4.3, asks of randomness. */
const randomLength = 16
const timeLength = 6
const macLength = 16

/**
 * A challenge that is good for five minutes. It carries its end, and a code of this installation over all it is for, so that nothing is
 * stored for strangers who ask; it is written down once it was used.
 * @param userId whose answer it wants; empty for that of anybody
 */
export function newChallenge(hub: Hub, kind: ChallengeKind, userId: string): Uint8Array<ArrayBuffer> {
  const body = Buffer.alloc(randomLength + timeLength)
  randomBytes(randomLength).copy(body)
  body.writeUIntBE(hub.clock.now() + ceremonyMs, randomLength, timeLength)
  return new Uint8Array(Buffer.concat([body, macOf(hub, kind, userId, body)]))
}

/** Whether a challenge, in base64url, was made for this and is not over. Whether it was used is told when it is spent. */
export function isChallenge(hub: Hub, kind: ChallengeKind, userId: string, challenge: string): boolean {
  const bytes = decodeBase64url(challenge)
  if (bytes?.length !== randomLength + timeLength + macLength) return false
  const body = Buffer.from(bytes.subarray(0, randomLength + timeLength))
  if (!constantTimeEqual(bytes.subarray(randomLength + timeLength), macOf(hub, kind, userId, body))) return false
  return endOf(body) > hub.clock.now()
}

/** Uses up a challenge that was found to be good. @returns whether it was new */
export async function spendChallenge(tx: Tx, challenge: string): Promise<boolean> {
  const spent = await tx
    .insert(spentChallenges)
    .values({ hash: sha256Hex(challenge), expiresAt: endOf(Buffer.from(decodeBase64url(challenge)!)) })
    .onConflictDoNothing()
    .returning({ hash: spentChallenges.hash })
  return spent.length > 0
}

/** Forgets challenges that are over, and good for nothing any more. */
export async function pruneChallenges(tx: Tx, now: number): Promise<void> {
  await tx.delete(spentChallenges).where(lt(spentChallenges.expiresAt, now))
}

const endOf = (bytes: Buffer): number => bytes.readUIntBE(randomLength, timeLength)

const macOf = (hub: Hub, kind: ChallengeKind, userId: string, body: Buffer): Uint8Array =>
  hmacSha256(hub.keys.derive('passkey-challenges'), `${kind} ${userId} ${body.toString('base64url')}`).subarray(0, macLength)
