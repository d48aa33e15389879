import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { desc, eq } from 'drizzle-orm'
import type { Clock } from './clock'
import { hmacSha256, sha256Hex } from './crypto'
import { keeping } from './db/dialect'
import { dataKeys, instanceFacts } from './db/tables'
import type { Reader, Tx } from './db/transaction'
import { keyBounds, KeyUse, type KeyBounds } from './key-use'
import type { MasterKeys } from './master-key'

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

/** A rotation of the master key that cannot go on; the message is for the operator and says what to do. */
export class RotationHalted extends Error {
  override name = 'RotationHalted'
}

/** A stored data key. */
export type DataKeyRow = typeof dataKeys.$inferSelect

interface DataKey {
  id: string
  key: Uint8Array
}

/** The data key that belongs to no workspace: what the installation derives its own keys from. */
export const instanceKeyId = 'dek_instance'
/** Name of the fact that tells by its first part which master key wraps new data keys. */
export const canaryFact = 'master_key_canary'

/**
 * Seals and opens secrets with AES-256-GCM (NIST SP 800-38D) under a key per workspace, which is itself wrapped by the master key.
 * Sealed text is `bw1.<data key id>.<nonce>.<ciphertext and tag>`, the parts in base64url. While the key file holds two master
 * keys, data keys open under either; the canary in the database tells which of them wraps new ones.
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
    private readonly bounds: KeyBounds = keyBounds,
  ) {
    this.use = new KeyUse(bounds)
    this.take(master instanceof Uint8Array ? { current: master, previous: null } : master)
  }

  /** Fingerprint of the first key of the key file. */
  get masterKeyId(): string {
    return this.currentId
  }

  /** Whether a master key with this fingerprint is here, as the current or the previous one. */
  knows(masterKeyId: string): boolean {
    return this.masters.has(masterKeyId)
  }

  /**
   * Goes on with the keys of a key file that was changed.
   * @throws WrongMasterKey when the key that the database wants is not among them; the ring then stays as it was
   */
  async adopt(master: MasterKeys): Promise<void> {
    const wanted = await wrappingKeyId(this.read)
    const offered = [master.current, master.previous].flatMap(key => (key ? [keyFingerprint(key)] : []))
    if (wanted !== null && !offered.includes(wanted)) throw wrongKey(offered, wanted)
    this.take(master)
  }

  /**
   * A key for one purpose (HKDF-SHA256, RFC 5869), the same in every hub of a database. It comes from a random key that is stored
   * wrapped like a data key, so that it outlives the master key.
   */
  derive(purpose: string): Uint8Array {
    if (!this.root) throw new Error('Keys are derived once the canary was checked.')
    let key = this.derived.get(purpose)
    if (!key) this.derived.set(purpose, (key = hkdf(this.root, purpose)))
    return key
  }

  /** A keyed tag of a secret: tells whether two are equal, and nothing else. */
  readonly tag = (secret: string): string =>
    `hmac:${Buffer.from(hmacSha256(this.derive('audit-tag'), secret))
      .toString('hex')
      .slice(0, 16)}`

  /** Seals `secret` for its place, as a step of the change that stores it; makes the workspace's key when it has none. */
  async seal(tx: Tx, place: Place, secret: string): Promise<string> {
    const key = await this.sealingKey(tx, place.workspaceId)
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
   * Leaves a canary and the installation's key at the first start, and refuses a start with another master key afterwards.
   * Until the transaction ends nobody can change which master key the database wants.
   * @throws WrongMasterKey
   */
  async checkCanary(tx: Tx): Promise<void> {
    const found = () => keeping(tx.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact)))
    let [row] = await found()
    if (!row) {
      await tx
        .insert(instanceFacts)
        .values({ name: canaryFact, value: this.canaryOf(this.currentId) })
        .onConflictDoNothing()
      // Who starts at the same moment may have been first.
      ;[row] = await found()
    }
    const [keyId, nonce, sealed] = row!.value.split('.')
    const master = this.masters.get(keyId!)
    if (!master) throw wrongKey([...this.masters.keys()], keyId!)
    decrypt(hkdf(master, 'canary'), Buffer.from(nonce!, 'base64url'), Buffer.from(sealed!, 'base64url'), 'bw1|canary')
    this.root ??= await this.instanceKey(tx, keyId!)
  }

  /** What the canary is when this master key wraps new data keys. */
  canaryOf(masterKeyId: string): string {
    const { nonce, sealed } = encrypt(hkdf(this.masters.get(masterKeyId)!, 'canary'), Buffer.from('canary'), 'bw1|canary')
    return `${masterKeyId}.${base64(nonce)}.${base64(sealed)}`
  }

  /** Makes a data key of a workspace that is newer than all it has, and than `since`; what is sealed from now on is sealed under it. */
  async addDataKey(tx: Tx, workspaceId: string, since = 0): Promise<DataKeyRow> {
    const [newest] = await newestKey(tx, workspaceId)
    // Two keys of one moment would leave open which of them is in use, here and in another hub.
    return await this.storeKey(
      tx,
      `dek_${base64(randomBytes(9)).replaceAll(/[-_]/g, 'x')}`,
      workspaceId,
      Math.max(this.clock.now(), since, (newest?.createdAt ?? 0) + 1),
    )
  }

  /**
   * A data key, wrapped by the current master key instead of the one it is wrapped by.
   * @throws NotOpened
   */
  rewrap(row: DataKeyRow): Pick<DataKeyRow, 'masterKeyId' | 'wrapped'> {
    return this.wrap(this.unwrap(row).key, row, this.currentId)
  }

  /**
   * Opens a data key and keeps nothing of it.
   * @throws NotOpened
   */
  check(row: DataKeyRow): void {
    this.unwrap(row)
  }

  private take({ current, previous }: MasterKeys): void {
    this.currentId = keyFingerprint(current)
    this.masters = new Map([current, ...(previous ? [previous] : [])].map(key => [keyFingerprint(key), key]))
  }

  /**
   * The key that seals: the newest of the workspace. It is asked for each time, since another process may have made a newer one,
   * and kept from being deleted until what it sealed is committed. One that is too old or was used too often seals nothing more;
   * what it sealed is sealed anew by `bailiwick keys rotate-data`.
   */
  private async sealingKey(tx: Tx, workspaceId: string): Promise<DataKey> {
    const [row] = await keeping(newestKey(tx, workspaceId))
    const isYoung = row && this.clock.now() - row.createdAt < this.bounds.ageMs
    if (isYoung && (await this.use.take(tx, row.id))) return this.byId.get(row.id) ?? this.remember(this.unwrap(row))
    const fresh = await this.addDataKey(tx, workspaceId)
    await this.use.take(tx, fresh.id)
    return this.byId.get(fresh.id) ?? this.remember(this.unwrap(fresh))
  }

  private async instanceKey(tx: Tx, masterKeyId: string): Promise<Uint8Array> {
    const found = () => tx.select().from(dataKeys).where(eq(dataKeys.id, instanceKeyId))
    let [row] = await found()
    if (!row) {
      await this.storeKey(tx, instanceKeyId, '', this.clock.now(), masterKeyId)
      ;[row] = await found()
    }
    return this.unwrap(row!).key
  }

  private async storeKey(tx: Tx, id: string, workspaceId: string, createdAt: number, masterKeyId?: string): Promise<DataKeyRow> {
    // The canary stays as it is until this is committed: no key is wrapped by a master key that is being left.
    const wanted = masterKeyId ?? (await keptWrappingKeyId(tx)) ?? this.currentId
    const row = { id, workspaceId, createdAt, ...this.wrap(new Uint8Array(randomBytes(32)), { id, workspaceId }, wanted) }
    await tx.insert(dataKeys).values(row).onConflictDoNothing()
    return row
  }

  private async keyById(id: string, read: Reader): Promise<DataKey> {
    const [row] = await read.select().from(dataKeys).where(eq(dataKeys.id, id))
    if (!row) throw new NotOpened('The sealed value names a key that is not in this database.')
    return this.remember(this.unwrap(row))
  }

  private remember(key: DataKey): DataKey {
    this.byId.set(key.id, key)
    return key
  }

  private wrap(key: Uint8Array, of: Pick<DataKeyRow, 'id' | 'workspaceId'>, masterKeyId: string) {
    const { nonce, sealed } = encrypt(this.master(masterKeyId), key, wrapAad(of, masterKeyId))
    return { masterKeyId, wrapped: `${base64(nonce)}.${base64(sealed)}` }
  }

  private unwrap(row: DataKeyRow): DataKey {
    return { id: row.id, key: unwrapped(row, this.master(row.masterKeyId)) }
  }

  private master(id: string): Uint8Array {
    const key = this.masters.get(id)
    if (!key) throw new NotOpened(`A key in the database is wrapped by the master key ${id}, which is not in the key file.`)
    return key
  }
}

/**
 * What `KeyRing.derive` gives, for a command that has the key file and the stored row and runs no hub.
 * @throws NotOpened
 */
export function derivedKey(masters: MasterKeys, row: Omit<DataKeyRow, 'createdAt'>, purpose: string): Uint8Array {
  const master = [masters.current, masters.previous].find(key => key && keyFingerprint(key) === row.masterKeyId)
  if (!master)
    throw new NotOpened(
      `The key of the installation is wrapped by the master key ${row.masterKeyId}, which is not in the key file.`,
    )
  return hkdf(unwrapped(row, master), purpose)
}

/** Short public name of a key, safe to print. */
export const keyFingerprint = (key: Uint8Array): string => sha256Hex(key).slice(0, 16)

/** Fingerprint of the master key that wraps new data keys; null in an empty database. */
export async function wrappingKeyId(read: Reader): Promise<string | null> {
  const [row] = await read.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact))
  return row?.value.split('.')[0] ?? null
}

async function keptWrappingKeyId(tx: Tx): Promise<string | null> {
  const [row] = await keeping(tx.select().from(instanceFacts).where(eq(instanceFacts.name, canaryFact)))
  return row?.value.split('.')[0] ?? null
}

const newestKey = (tx: Tx, workspaceId: string) =>
  tx.select().from(dataKeys).where(eq(dataKeys.workspaceId, workspaceId)).orderBy(desc(dataKeys.createdAt)).limit(1)

const wrongKey = (have: string[], wanted: string) =>
  new WrongMasterKey(
    `The master key is not the one this database was made with: it has fingerprint ${have.join(' or ')}, the database wants ${wanted}.`,
  )

const hkdf = (key: Uint8Array, purpose: string) => new Uint8Array(hkdfSync('sha256', key, '', `bailiwick/${purpose}`, 32))
const aad = (place: Place, keyId: string) => `bw1|${place.table}|${place.column}|${place.row}|${place.workspaceId}|${keyId}`
const wrapAad = (of: Pick<DataKeyRow, 'id' | 'workspaceId'>, masterKeyId: string) =>
  `bw1|dek|${of.id}|${of.workspaceId}|${masterKeyId}`
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
    throw new NotOpened('The sealed value does not open: it was altered, moved, or sealed under another key.')
  }
}
