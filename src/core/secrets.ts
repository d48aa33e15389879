import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { desc, eq } from 'drizzle-orm'
import type { Clock } from './clock'
import { dataKeys, instanceFacts } from './db/tables'
import type { Reader, Tx } from './db/transaction'
import { hmacSha256, sha256Hex } from './crypto'

/** Where a sealed value lives. It is bound to this place: moved to another row, column or workspace it no longer opens. */
export interface Place {
  table: string
  column: string
  row: string
  workspaceId: string
}

/** Thrown when a sealed value does not open: it was altered, moved, or sealed under a key that is not here. */
export class NotOpened extends Error {
  override name = 'NotOpened'
}

/** Thrown at start when the master key is not the one this database was made with. */
export class WrongMasterKey extends Error {
  override name = 'WrongMasterKey'
}

interface DataKey {
  id: string
  key: Uint8Array
}

/**
 * Seals and opens secrets with AES-256-GCM (NIST SP 800-38D) under a key per workspace, which is itself wrapped by the master key.
 * Sealed text is `bw1.<data key id>.<nonce>.<ciphertext and tag>`, the parts in base64url.
 */
export class KeyRing {
  readonly masterKeyId: string
  private readonly current = new Map<string, DataKey>()
  private readonly byId = new Map<string, DataKey>()
  private readonly tagKey: Uint8Array

  constructor(
    private readonly masterKey: Uint8Array,
    private readonly read: Reader,
    private readonly clock: Clock,
  ) {
    this.masterKeyId = keyFingerprint(masterKey)
    this.tagKey = this.derive('audit-tag')
  }

  /** A key for one purpose, derived from the master key (HKDF-SHA256, RFC 5869). */
  derive(purpose: string): Uint8Array {
    return deriveKey(this.masterKey, purpose)
  }

  /** A keyed tag of a secret: tells whether two are equal, and nothing else. */
  readonly tag = (secret: string): string => `hmac:${Buffer.from(hmacSha256(this.tagKey, secret)).toString('hex').slice(0, 16)}`

  /** Seals `secret` for its place, as a step of the change that stores it; makes the workspace's key when it has none. */
  async seal(tx: Tx, place: Place, secret: string): Promise<string> {
    const key = this.current.get(place.workspaceId) ?? (await this.currentKey(tx, place.workspaceId))
    const { nonce, sealed } = encrypt(key.key, Buffer.from(secret, 'utf8'), aad(place, key.id))
    return `bw1.${key.id}.${base64(nonce)}.${base64(sealed)}`
  }

  /**
   * Opens what `seal` made for the same place.
   * @param read the transaction's handle when called inside one, which must not wait for a second connection
   * @throws NotOpened
   */
  async open(place: Place, sealed: string, read: Reader = this.read): Promise<string> {
    const [version, keyId, nonce, ciphertext] = sealed.split('.')
    if (version !== 'bw1' || !keyId || !nonce || !ciphertext) throw new NotOpened('The sealed value has an unknown form.')
    const key = this.byId.get(keyId) ?? (await this.keyById(keyId, read))
    return decrypt(key.key, Buffer.from(nonce, 'base64url'), Buffer.from(ciphertext, 'base64url'), aad(place, keyId)).toString(
      'utf8',
    )
  }

  /**
   * Leaves a canary at the first start, and refuses a start with another master key afterwards.
   * @throws WrongMasterKey
   */
  async checkCanary(tx: Tx): Promise<void> {
    const [row] = await tx.select().from(instanceFacts).where(eq(instanceFacts.name, 'master_key_canary'))
    if (row) {
      const [keyId, nonce, sealed] = row.value.split('.')
      if (keyId === this.masterKeyId) {
        decrypt(this.derive('canary'), Buffer.from(nonce!, 'base64url'), Buffer.from(sealed!, 'base64url'), 'bw1|canary')
        return
      }
      throw new WrongMasterKey(
        `The master key is not the one this database was made with: it has fingerprint ${this.masterKeyId}, the database wants ${keyId}.`,
      )
    }
    const { nonce, sealed } = encrypt(this.derive('canary'), Buffer.from('canary'), 'bw1|canary')
    await tx
      .insert(instanceFacts)
      .values({ name: 'master_key_canary', value: `${this.masterKeyId}.${base64(nonce)}.${base64(sealed)}` })
      .onConflictDoNothing()
  }

  private async currentKey(tx: Tx, workspaceId: string): Promise<DataKey> {
    const [row] = await tx
      .select()
      .from(dataKeys)
      .where(eq(dataKeys.workspaceId, workspaceId))
      .orderBy(desc(dataKeys.createdAt))
      .limit(1)
    if (row) {
      const key = this.unwrap(row)
      this.current.set(workspaceId, key)
      return key
    }
    // Not remembered before the commit: a change that is undone takes its new key with it.
    const made = { id: `dek_${base64(randomBytes(9)).replaceAll(/[-_]/g, 'x')}`, key: new Uint8Array(randomBytes(32)) }
    const { nonce, sealed } = encrypt(this.masterKey, made.key, this.wrapAad(made.id, workspaceId))
    await tx.insert(dataKeys).values({
      id: made.id,
      workspaceId,
      masterKeyId: this.masterKeyId,
      wrapped: `${base64(nonce)}.${base64(sealed)}`,
      createdAt: this.clock.now(),
    })
    return made
  }

  private async keyById(id: string, read: Reader): Promise<DataKey> {
    const [row] = await read.select().from(dataKeys).where(eq(dataKeys.id, id))
    if (!row) throw new NotOpened('The sealed value names a key that is not in this database.')
    return this.unwrap(row)
  }

  private unwrap(row: { id: string; workspaceId: string; wrapped: string }): DataKey {
    const [nonce, sealed] = row.wrapped.split('.')
    const plain = decrypt(
      this.masterKey,
      Buffer.from(nonce!, 'base64url'),
      Buffer.from(sealed!, 'base64url'),
      this.wrapAad(row.id, row.workspaceId),
    )
    const key = { id: row.id, key: new Uint8Array(plain) }
    this.byId.set(row.id, key)
    return key
  }

  private wrapAad(id: string, workspaceId: string): string {
    return `bw1|dek|${id}|${workspaceId}|${this.masterKeyId}`
  }
}

/** 32 bytes for one purpose, derived from a master key (HKDF-SHA256, RFC 5869). */
export const deriveKey = (masterKey: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', masterKey, '', `bailiwick/${purpose}`, 32))

/** Short public name of a key, safe to print. */
export const keyFingerprint = (key: Uint8Array): string => sha256Hex(key).slice(0, 16)

const aad = (place: Place, keyId: string) => `bw1|${place.table}|${place.column}|${place.row}|${place.workspaceId}|${keyId}`
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

function encrypt(key: Uint8Array, plain: Uint8Array, aadText: string): { nonce: Buffer; sealed: Buffer } {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(aadText))
  return { nonce, sealed: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) }
}

function decrypt(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, aadText: string): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce)
      .setAAD(Buffer.from(aadText))
      .setAuthTag(sealed.subarray(sealed.length - 16))
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - 16)), decipher.final()])
  } catch {
    throw new NotOpened('The sealed value does not open: it was altered, moved, or sealed under another key.')
  }
}
