import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { desc, eq, sql, type Placeholder } from 'drizzle-orm'
import type { Clock } from './clock'
import { hmacSha256, sha256Hex } from './crypto'
import { forShare } from './db/dialect'
import { prepared } from './db/prepared'
import { dataKeys, instanceFacts } from './db/tables'
import type { Reader, Tx } from './db/transaction'
import { keyLimits, KeyUse, type KeyLimits } from './key-use'
import type { MasterKeys } from './master-key'

/** The location of an encrypted value. The value can only be decrypted for the same row, column and workspace. */
export interface Place {
  table: string
  column: string
  row: string
  workspaceId: string
}

/** Thrown if a value can't be decrypted: it was changed or moved, or its key is not available. */
export class DecryptionFailed extends Error {
  override name = 'DecryptionFailed'
}

/** Thrown at startup if the master key doesn't match the database. */
export class WrongMasterKey extends Error {
  override name = 'WrongMasterKey'
}

/** A master key rotation can't continue. The message tells the operator what to do. */
export class RotationHalted extends Error {
  override name = 'RotationHalted'
}

/** A stored data key. */
export type DataKeyRow = typeof dataKeys.$inferSelect

interface DataKey {
  id: string
  key: Uint8Array
}

/** The data key without a workspace: the installation key, from which other keys are derived. */
export const instanceKeyId = 'dek_instance'
/** Name of the fact whose first part is the fingerprint of the master key that encrypts new data keys. */
export const canaryFact = 'master_key_canary'

/**
 * Encrypts ("seals") and decrypts ("opens") secrets with AES-256-GCM (NIST SP 800-38D) under a data key per workspace, which is
 * encrypted ("wrapped") with the master key. Sealed values have the form `bw1.<data key id>.<nonce>.<ciphertext and tag>` with
 * parts in base64url. While the key file has two master keys, data keys can be unwrapped with either; the canary in the database
 * identifies the one that wraps new data keys.
 */
export class KeyRing {
  private masters = new Map<string, Uint8Array>()
  private currentId = ''
  private readonly byId = new Map<string, DataKey>()
  private readonly derived = new Map<string, Uint8Array>()
  private root: Uint8Array | null = null
  private readonly use: KeyUse

  constructor(
    master: MasterKeys | Uint8Array,
    private readonly read: Reader,
    private readonly clock: Clock,
    private readonly bounds: KeyLimits = keyLimits,
  ) {
    this.use = new KeyUse(bounds)
    this.setMasters(master instanceof Uint8Array ? { current: master, previous: null } : master)
  }

  /** Fingerprint of the first key of the key file. */
  get masterKeyId(): string {
    return this.currentId
  }

  /** Whether the key file contains the master key with this fingerprint. */
  has(masterKeyId: string): boolean {
    return this.masters.has(masterKeyId)
  }

  /**
   * Switches to the master keys of a changed key file.
   * @throws WrongMasterKey if the key required by the database is missing; the current keys then stay in use
   */
  async adopt(master: MasterKeys): Promise<void> {
    const required = await wrappingKeyId(this.read)
    const available = [master.current, master.previous].flatMap(key => (key ? [keyFingerprint(key)] : []))
    if (required !== null && !available.includes(required)) throw wrongKey(available, required)
    this.setMasters(master)
  }

  /**
   * Derives a key for a purpose (HKDF-SHA256, RFC 5869). It is the same in all hubs of a database, and does not change when the
   * master key is rotated, because it is derived from the installation key.
   */
  derive(purpose: string): Uint8Array {
    if (!this.root) throw new Error('checkCanary must run before keys are derived.')
    let key = this.derived.get(purpose)
    if (!key) this.derived.set(purpose, (key = hkdf(this.root, purpose)))
    return key
  }

  /** Keyed hash of a secret, to tell whether two secrets are equal. */
  readonly tag = (secret: string): string =>
    `hmac:${Buffer.from(hmacSha256(this.derive('audit-tag'), secret))
      .toString('hex')
      .slice(0, 16)}`

  /** Encrypts a secret for its place, in the transaction that stores it. Creates the data key of the workspace if necessary. */
  async seal(tx: Tx, place: Place, secret: string): Promise<string> {
    const key = await this.sealingKey(tx, place.workspaceId)
    const { nonce, sealed } = encrypt(key.key, Buffer.from(secret, 'utf8'), aad(place, key.id))
    return `bw1.${key.id}.${base64(nonce)}.${base64(sealed)}`
  }

  /**
   * Decrypts a value sealed for the same place.
   * @param read inside a transaction, its handle: waiting for a second connection could deadlock
   * @throws DecryptionFailed
   */
  async open(place: Place, sealed: string, read: Reader = this.read): Promise<string> {
    const [version, keyId, nonce, ciphertext] = sealed.split('.')
    if (version !== 'bw1' || !keyId || !nonce || !ciphertext)
      throw new DecryptionFailed('The encrypted value has an unknown format.')
    const key = this.byId.get(keyId) ?? (await this.keyById(keyId, read))
    return decrypt(key.key, Buffer.from(nonce, 'base64url'), Buffer.from(ciphertext, 'base64url'), aad(place, keyId)).toString(
      'utf8',
    )
  }

  /**
   * Encrypts a value that is kept only for a short time, with a key that is derived from the installation key. Such values need not be
   * encrypted again when data keys are rotated.
   * @param place identifies where it is stored; it can only be decrypted for the same place
   */
  sealFor(purpose: string, place: string, plain: string): string {
    const { nonce, sealed } = encrypt(this.derive(purpose), Buffer.from(plain, 'utf8'), derivedAad(purpose, place))
    return `${base64(nonce)}.${base64(sealed)}`
  }

  /** Decrypts a value of `sealFor`. @throws DecryptionFailed */
  openFor(purpose: string, place: string, text: string): string {
    const [nonce, sealed] = text.split('.').map(part => Buffer.from(part, 'base64url'))
    return decrypt(this.derive(purpose), nonce!, sealed ?? Buffer.of(), derivedAad(purpose, place)).toString('utf8')
  }

  /**
   * Creates the canary and the installation key at the first start, and checks the master key at later starts. Locks the canary
   * until the transaction ends, so that the required master key can't change.
   * @throws WrongMasterKey
   */
  async checkCanary(tx: Tx): Promise<void> {
    const query = () => forShare(tx.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact)))
    let [row] = await query()
    if (!row) {
      await tx
        .insert(instanceFacts)
        .values({ name: canaryFact, value: this.canaryOf(this.currentId) })
        .onConflictDoNothing()
      // Another hub starting at the same time may have been first.
      ;[row] = await query()
    }
    const [keyId, nonce, sealed] = row!.value.split('.')
    const master = this.masters.get(keyId!)
    if (!master) throw wrongKey([...this.masters.keys()], keyId!)
    decrypt(hkdf(master, 'canary'), Buffer.from(nonce!, 'base64url'), Buffer.from(sealed!, 'base64url'), 'bw1|canary')
    this.root ??= await this.instanceKey(tx, keyId!)
  }

  /** The canary value for the master key that wraps new data keys. */
  canaryOf(masterKeyId: string): string {
    const { nonce, sealed } = encrypt(hkdf(this.masters.get(masterKeyId)!, 'canary'), Buffer.from('canary'), 'bw1|canary')
    return `${masterKeyId}.${base64(nonce)}.${base64(sealed)}`
  }

  /** Creates a data key newer than all others of the workspace and than `since`. It is used for encryption from now on. */
  async addDataKey(tx: Tx, workspaceId: string, since = 0): Promise<DataKeyRow> {
    const [newest] = await newestKey(tx, workspaceId)
    // Creation times must differ, or hubs could disagree on which key is the newest.
    return await this.storeKey(
      tx,
      `dek_${base64(randomBytes(9)).replaceAll(/[-_]/g, 'x')}`,
      workspaceId,
      Math.max(this.clock.now(), since, (newest?.createdAt ?? 0) + 1),
    )
  }

  /**
   * Wraps a data key with the current master key.
   * @throws DecryptionFailed
   */
  rewrap(row: DataKeyRow): Pick<DataKeyRow, 'masterKeyId' | 'wrapped'> {
    return this.wrap(this.unwrap(row).key, row, this.currentId)
  }

  /**
   * Checks that a data key can be unwrapped.
   * @throws DecryptionFailed
   */
  verify(row: DataKeyRow): void {
    this.unwrap(row)
  }

  private setMasters({ current, previous }: MasterKeys): void {
    this.currentId = keyFingerprint(current)
    this.masters = new Map([current, ...(previous ? [previous] : [])].map(key => [keyFingerprint(key), key]))
  }

  /**
   * Returns the newest data key of the workspace. Reads it every time, because another process may have created a newer one, and
   * locks it against deletion until the transaction ends. Creates a new key if the newest is too old or was used too often;
   * values encrypted with the old one are re-encrypted by `bailiwick keys rotate-data`.
   */
  private async sealingKey(tx: Tx, workspaceId: string): Promise<DataKey> {
    const [row] = await prepared<DataKeyRow[], Tx>(tx, 'newest-data-key', handle =>
      forShare(newestKey(handle, sql.placeholder('workspaceId'))),
    ).execute({ workspaceId })
    const isYoung = row && this.clock.now() - row.createdAt < this.bounds.ageMs
    if (isYoung && (await this.use.count(tx, row.id))) return this.byId.get(row.id) ?? this.remember(this.unwrap(row))
    const fresh = await this.addDataKey(tx, workspaceId)
    await this.use.count(tx, fresh.id)
    return this.byId.get(fresh.id) ?? this.remember(this.unwrap(fresh))
  }

  private async instanceKey(tx: Tx, masterKeyId: string): Promise<Uint8Array> {
    const query = () => tx.select().from(dataKeys).where(eq(dataKeys.id, instanceKeyId))
    let [row] = await query()
    if (!row) {
      await this.storeKey(tx, instanceKeyId, '', this.clock.now(), masterKeyId)
      ;[row] = await query()
    }
    return this.unwrap(row!).key
  }

  private async storeKey(tx: Tx, id: string, workspaceId: string, createdAt: number, masterKeyId?: string): Promise<DataKeyRow> {
    // Locks the canary until the commit, so that no key is wrapped with a master key that is being replaced.
    const wrappingId = masterKeyId ?? (await lockedWrappingKeyId(tx)) ?? this.currentId
    const row = { id, workspaceId, createdAt, ...this.wrap(new Uint8Array(randomBytes(32)), { id, workspaceId }, wrappingId) }
    await tx.insert(dataKeys).values(row).onConflictDoNothing()
    return row
  }

  private async keyById(id: string, read: Reader): Promise<DataKey> {
    const [row] = await read.select().from(dataKeys).where(eq(dataKeys.id, id))
    if (!row) throw new DecryptionFailed('The value is encrypted with a data key that is not in this database.')
    return this.remember(this.unwrap(row))
  }

  private remember(key: DataKey): DataKey {
    this.byId.set(key.id, key)
    return key
  }

  private wrap(key: Uint8Array, dataKey: Pick<DataKeyRow, 'id' | 'workspaceId'>, masterKeyId: string) {
    const { nonce, sealed } = encrypt(this.master(masterKeyId), key, wrapAad(dataKey, masterKeyId))
    return { masterKeyId, wrapped: `${base64(nonce)}.${base64(sealed)}` }
  }

  private unwrap(row: DataKeyRow): DataKey {
    return { id: row.id, key: unwrapped(row, this.master(row.masterKeyId)) }
  }

  private master(id: string): Uint8Array {
    const key = this.masters.get(id)
    if (!key) throw new DecryptionFailed(`A data key is encrypted with the master key ${id}, which is not in the key file.`)
    return key
  }
}

/**
 * Like `KeyRing.derive`, for a command that has the key file and the stored row but no running hub.
 * @throws DecryptionFailed
 */
export function derivedKey(masters: MasterKeys, row: Omit<DataKeyRow, 'createdAt'>, purpose: string): Uint8Array {
  const master = [masters.current, masters.previous].find(key => key && keyFingerprint(key) === row.masterKeyId)
  if (!master)
    throw new DecryptionFailed(
      `The installation key is encrypted with the master key ${row.masterKeyId}, which is not in the key file.`,
    )
  return hkdf(unwrapped(row, master), purpose)
}

/** Public fingerprint of a key. */
export const keyFingerprint = (key: Uint8Array): string => sha256Hex(key).slice(0, 16)

/** Fingerprint of the master key that wraps new data keys; null for an empty database. */
export async function wrappingKeyId(read: Reader): Promise<string | null> {
  const [row] = await read.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact))
  return row?.value.split('.')[0] ?? null
}

async function lockedWrappingKeyId(tx: Tx): Promise<string | null> {
  const [row] = await forShare(tx.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact)))
  return row?.value.split('.')[0] ?? null
}

const newestKey = (tx: Tx, workspaceId: string | Placeholder) =>
  tx.select().from(dataKeys).where(eq(dataKeys.workspaceId, workspaceId)).orderBy(desc(dataKeys.createdAt)).limit(1)

const wrongKey = (available: string[], required: string) =>
  new WrongMasterKey(
    `The master key does not match the database: its fingerprint is ${available.join(' or ')}, but the database requires ${required}.`,
  )

const hkdf = (key: Uint8Array, purpose: string) => new Uint8Array(hkdfSync('sha256', key, '', `bailiwick/${purpose}`, 32))
const aad = (place: Place, keyId: string) => `bw1|${place.table}|${place.column}|${place.row}|${place.workspaceId}|${keyId}`
const derivedAad = (purpose: string, place: string) => `bw1|${purpose}|${place}`
const wrapAad = (dataKey: Pick<DataKeyRow, 'id' | 'workspaceId'>, masterKeyId: string) =>
  `bw1|dek|${dataKey.id}|${dataKey.workspaceId}|${masterKeyId}`
function unwrapped(row: Omit<DataKeyRow, 'createdAt'>, master: Uint8Array): Uint8Array {
  const [nonce, sealed] = row.wrapped.split('.')
  const aadText = wrapAad(row, row.masterKeyId)
  return new Uint8Array(decrypt(master, Buffer.from(nonce!, 'base64url'), Buffer.from(sealed ?? '', 'base64url'), aadText))
}

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
    throw new DecryptionFailed('The encrypted value cannot be decrypted: it was changed, moved, or encrypted with another key.')
  }
}
